// Test support: an array on the device between poisoned red zones.
#pragma once

#include "support/device_array.cuh"

#include <algorithm>
#include <cstring>

namespace lookback::test {

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Items, `shift` of them from a 256-byte boundary, between zones that nothing may write.
template <class T>
class zoned_array {
public:
    static constexpr unsigned char poison = 0xC3;
    static constexpr std::size_t zone = 64;  ///< items before and after

    zoned_array(std::size_t size, std::size_t shift)
        : begin_(zone + shift), size_(size), all_(size + 2 * zone + shift) {
        all_.fill_bytes(poison);
    }
    zoned_array(const std::vector<T>& items, std::size_t shift) : zoned_array(items.size(), shift) {
        if (items.empty()) return;
        require(cudaMemcpy(data(), items.data(), size_ * sizeof(T), cudaMemcpyDefault), "upload");
    }
    T* data() const { return all_.data() + begin_; }

    /// Whether `expected` stands at the beginning, `behind` after it, and nothing else was written.
    bool holds(const std::vector<T>& expected, const std::vector<T>& behind = {}) const {
        std::vector<T> whole(all_.size());
        std::memset(static_cast<void*>(whole.data()), poison, whole.size() * sizeof(T));
        std::copy(behind.begin(), behind.end(), at(whole, 0));
        std::copy(expected.begin(), expected.end(), at(whole, 0));
        return same_bytes(whole, all_.host());
    }

    /// The items, once both zones are found whole.
    std::vector<T> checked(const std::string& what) const {
        std::vector<T> all = all_.host();
        const std::vector<T> items(at(all, 0), at(all, size_));
        EXPECT_TRUE(holds(items)) << what << ": red zone";
        return items;
    }

private:
    typename std::vector<T>::iterator at(std::vector<T>& whole, std::size_t item) const {
        return whole.begin() + static_cast<std::ptrdiff_t>(begin_ + item);
    }

    std::size_t begin_;
    std::size_t size_;
    device_array<T> all_;
};

}  // namespace lookback::test
