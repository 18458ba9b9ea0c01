#include "data.hpp"
#include "harness.hpp"
#include "python_peer.hpp"

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>
#include <lookback/radix_sort.hpp>

#include <algorithm>
#include <execution>
#include <memory>
#include <numeric>

namespace lookback::bench {
namespace {

constexpr std::size_t pairs_full = std::size_t{1} << 25;

// Pairs: the value is the position, so that equal keys with rising values prove stability. A pair
// of the standard library's contestant is one struct, as it must be there.
template <class Key>
class pair_arena {
public:
    using value = std::uint32_t;
    struct pair {
        Key key;
        value payload;
    };

    explicit pair_arena(std::size_t items)
        : input_(context_, items),
          keys_(context_, items),
          values_(context_, items),
          pairs_(context_, items) {
        // Uniform u32 keys meet in some hundred thousand ties, enough to see instability.
        fill(input_.span(), [](std::size_t, std::uint64_t word) { return static_cast<Key>(word); });
        digest_ = inspect(
                      items, [&](std::size_t i) { return mix(bits_of(input_[i])) + i; },
                      [](std::size_t, std::size_t) { return true; })
                      .digest;
    }

    double lookback_round() {
        copy_bytes(keys_.data(), input_.data(), input_.size() * sizeof(Key), 2);
        fill(values_.span(), [](std::size_t i, std::uint64_t) { return static_cast<value>(i); });
        const double seconds = seconds_of(
            [&] { sort_pairs<Key>(context_, keys_.span(), values_.data(), sizeof(value)); });
        verify([&](std::size_t i) { return pair{keys_[i], values_[i]}; });
        return seconds;
    }
    double std_round() {
        fill(pairs_.span(), [&](std::size_t i, std::uint64_t) {
            return pair{input_[i], static_cast<value>(i)};
        });
        const double seconds = seconds_of([&] {
            std::stable_sort(std::execution::par, pairs_.begin(), pairs_.end(),
                             [](const pair& a, const pair& b) { return a.key < b.key; });
        });
        verify([&](std::size_t i) { return pairs_[i]; });
        return seconds;
    }
    double copy_round() {
        return seconds_of([&] {
            copy_bytes(keys_.data(), input_.data(), input_.size() * sizeof(Key), 2);
            copy_bytes(values_.data(), pairs_.data(), input_.size() * sizeof(value), 2);
        });
    }

private:
    template <class PairAt>
    void verify(const PairAt& at) const {
        const finding found = inspect(
            input_.size(), [&](std::size_t i) { return mix(bits_of(at(i).key)) + at(i).payload; },
            [&](std::size_t i, std::size_t next) {
                const pair a = at(i);
                const pair b = at(next);
                return a.key < b.key || (a.key == b.key && a.payload < b.payload);
            });
        require(found.sorted, "pairs are not in order, or equal keys not in input order");
        require(found.digest == digest_, "pairs are not those of the input");
    }

    context context_{{.backend = backend::cpu, .threads = 2}};
    buffer<Key> input_;
    buffer<Key> keys_;
    buffer<value> values_;
    buffer<pair> pairs_;
    std::uint64_t digest_ = 0;
};

class index_arena {
public:
    using index = std::int64_t;

    explicit index_arena(const settings& settings)
        : keys_(context_, settings.items(pairs_full)),
          index_(context_, keys_.size()),
          numpy_(settings.python, settings.peers_script, keys_.size() * sizeof(index)) {
        fill(keys_.span(), [](std::size_t, std::uint64_t word) { return word; });
    }

    double lookback_round() {
        const double seconds = seconds_of(
            [&] { argsort<std::uint64_t, index>(context_, keys_.span(), index_.span()); });
        verify(index_.data());
        return seconds;
    }
    double std_round() {
        std::iota(index_.begin(), index_.end(), index{0});
        const std::uint64_t* keys = keys_.data();
        const double seconds = seconds_of([&] {
            std::stable_sort(std::execution::par, index_.begin(), index_.end(),
                             [=](index a, index b) { return keys[a] < keys[b]; });
        });
        verify(index_.data());
        return seconds;
    }
    double numpy_round() {
        copy_bytes(numpy_.memory(), keys_.data(), keys_.size() * sizeof(index), 2);
        const double seconds = numpy_.request("argsort uint64 " + std::to_string(keys_.size()));
        verify(static_cast<const index*>(numpy_.memory()));
        return seconds;
    }
    double copy_round() {
        return seconds_of(
            [&] { copy_bytes(index_.data(), keys_.data(), keys_.size() * sizeof(index), 2); });
    }
    const std::string& numpy_absent() const { return numpy_.absent(); }

private:
    // In strict order and in range, n indices are a permutation.
    void verify(const index* order) const {
        const auto n = static_cast<index>(keys_.size());
        const finding found = inspect(
            keys_.size(), [](std::size_t) { return std::uint64_t{0}; },
            [&](std::size_t i, std::size_t next) {
                const index a = order[i];
                const index b = order[next];
                if (a < 0 || a >= n || b < 0 || b >= n) return false;
                return keys_[a] < keys_[b] || (keys_[a] == keys_[b] && a < b);
            });
        require(found.sorted, "the index is not the stable order of the keys");
    }

    context context_{{.backend = backend::cpu, .threads = 2}};
    buffer<std::uint64_t> keys_;
    buffer<index> index_;
    python_peer numpy_;
};

template <class Key>
job pair_job(const std::string& name) {
    const auto prepare = [](const settings& settings) {
        const auto shared = std::make_shared<pair_arena<Key>>(settings.items(pairs_full));
        return std::vector<contestant>{
            {.name = "lookback:2", .round = [=] { return shared->lookback_round(); }},
            {.name = "std-par", .round = [=] { return shared->std_round(); }, .many_seconds = true},
            {.name = "copy:2", .round = [=] { return shared->copy_round(); }}};
    };
    return {.name = "pairs/" + name,
            .description = "2^25 pairs " + name + ", uniform keys, stable",
            .items = pairs_full,
            .item_bytes = sizeof(Key) + sizeof(std::uint32_t),
            .prepare = prepare};
}

job argsort_job() {
    const auto prepare = [](const settings& settings) {
        const auto shared = std::make_shared<index_arena>(settings);
        return std::vector<contestant>{
            {.name = "lookback:2", .round = [=] { return shared->lookback_round(); }},
            {.name = "std-par", .round = [=] { return shared->std_round(); }, .many_seconds = true},
            {.name = "numpy",
             .round = [=] { return shared->numpy_round(); },
             .many_seconds = true,
             .absent = shared->numpy_absent()},
            {.name = "copy:2", .round = [=] { return shared->copy_round(); }}};
    };
    return {.name = "argsort/u64",
            .description = "2^25 u64 keys, uniform, stable, int64 index",
            .items = pairs_full,
            .item_bytes = sizeof(std::uint64_t) + sizeof(std::int64_t),
            .prepare = prepare};
}

}  // namespace

std::vector<job> pair_jobs() {
    return {pair_job<std::uint32_t>("u32-u32"), pair_job<std::uint64_t>("u64-u32"), argsort_job()};
}

}  // namespace lookback::bench
