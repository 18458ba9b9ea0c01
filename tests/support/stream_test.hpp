// Input and output of a sorted stream, and how often each key was asked for and given.
#pragma once

#include "support/counting_memory.hpp"
#include "support/reference.hpp"

#include <lookback/sort_stream.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::test {

struct stream_case {
    int threads = 2;
    std::size_t block = 1;
    sort_order order;
};

template <class Key>
class stream_test {
public:
    stream_test(std::vector<Key> keys, const stream_case& how)
        : keys_(std::move(keys)), sorted_(keys_.size()), read_(keys_.size()), how_(how) {
        stream.type = type_of<Key>();
        stream.order = how.order;
        stream.size = keys_.size();
        stream.block = how.block;
        stream.peek = [this](std::size_t first, std::size_t count, void* into) {
            ASSERT_LE(first + count, keys_.size());
            std::memcpy(into, keys_.data() + first, count * sizeof(Key));
        };
        stream.read = [this](std::size_t first, std::size_t count, void* into) {
            ASSERT_LE(first + count, keys_.size());
            for (std::size_t i = first; i < first + count; ++i) ++read_[i];
            std::memcpy(into, keys_.data() + first, count * sizeof(Key));
        };
        stream.write = [this](std::size_t first, std::size_t count, const void* from) {
            ASSERT_LE(first + count, keys_.size());
            std::memcpy(sorted_.data() + first, from, count * sizeof(Key));
            written_ += count;
        };
    }

    /// On the CPU, within the promised memory.
    bool sort() {
        counting_memory memory;
        const context cpu({.backend = backend::cpu, .threads = how_.threads, .memory = &memory});
        const bool done = sort_stream(cpu, stream);
        EXPECT_EQ(memory.live(), 0U);
        EXPECT_LE(memory.peak(), sort_stream_memory(cpu, keys_.size(), sizeof(Key), how_.block));
        return done;
    }

    void check(const std::string& what) const {
        for (const auto& times : read_) ASSERT_EQ(times, 1) << what;
        ASSERT_EQ(written_, keys_.size()) << what;
        std::vector<Key> expected(keys_);
        std::stable_sort(expected.begin(), expected.end(),
                         [&](Key a, Key b) { return stands_before(a, b, how_.order); });
        for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_EQ(std::memcmp(&expected[i], &sorted_[i], sizeof(Key)), 0)
                << what << ": key " << i << " of " << expected.size();
        }
    }
    std::size_t written() const { return written_; }

    key_stream stream;

private:
    std::vector<Key> keys_;
    std::vector<Key> sorted_;
    std::vector<std::uint8_t> read_;
    std::atomic<std::size_t> written_{0};
    stream_case how_;
};

}  // namespace lookback::test
