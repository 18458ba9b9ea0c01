// Level L0 (core), host only: sets of the keys of one column, as the keys at which membership
// changes. Invariant: `flips` ascends; before the first flip nothing is in the set.
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace lookback::core {

class key_set {
public:
    /// Keys in [first, last] of 0 to `end`.
    static key_set of_range(std::uint64_t first, std::uint64_t last, std::uint64_t end) {
        key_set made;
        if (first > last) return made;
        made.flips_.push_back(first);
        if (last < end) made.flips_.push_back(last + 1);
        return made;
    }

    bool empty() const { return flips_.empty(); }
    bool full() const { return flips_.size() == 1 && flips_.front() == 0; }
    bool has(std::uint64_t key) const {
        return (std::upper_bound(flips_.begin(), flips_.end(), key) - flips_.begin()) % 2 != 0;
    }
    const std::vector<std::uint64_t>& flips() const { return flips_; }
    std::size_t range_count() const { return (flips_.size() + 1) / 2; }

    /// Its ranges, first and last key of each.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges(std::uint64_t end) const {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
        for (std::size_t i = 0; i < flips_.size(); i += 2) {
            found.emplace_back(flips_[i], i + 1 < flips_.size() ? flips_[i + 1] - 1 : end);
        }
        return found;
    }

    key_set inverse() const {
        key_set made = *this;
        if (!made.flips_.empty() && made.flips_.front() == 0) {
            made.flips_.erase(made.flips_.begin());
        } else {
            made.flips_.insert(made.flips_.begin(), 0);
        }
        return made;
    }

    /// The keys for which join(in a, in b) is true; join(false, false) is false.
    template <class Join>
    static key_set joined(const key_set& a, const key_set& b, Join join) {
        key_set made;
        std::size_t i = 0;
        std::size_t j = 0;
        while (i < a.flips_.size() || j < b.flips_.size()) {
            const bool from_a =
                j == b.flips_.size() || (i < a.flips_.size() && a.flips_[i] <= b.flips_[j]);
            const std::uint64_t at = from_a ? a.flips_[i] : b.flips_[j];
            while (i < a.flips_.size() && a.flips_[i] == at) ++i;
            while (j < b.flips_.size() && b.flips_[j] == at) ++j;
            const bool inside = join(i % 2 != 0, j % 2 != 0);
            if (inside != (made.flips_.size() % 2 != 0)) made.flips_.push_back(at);
        }
        return made;
    }

private:
    std::vector<std::uint64_t> flips_;
};

}  // namespace lookback::core
