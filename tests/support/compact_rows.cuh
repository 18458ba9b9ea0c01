// Test support: rows to compact, their marks in every form, and what must come of them.
#pragma once

#include "support/scan_operators.cuh"
#include "support/zoned_array.cuh"

#include <lookback/kernels/device/compact.cuh>
#include <lookback/kernels/device/compact_staged.cuh>
#include <lookback/kernels/device/compact_words.cuh>

namespace lookback::test {

using core::index_t;
using device::marks_alone;
using device::moved_items;
using device::row_numbers;

/// Which rows pass: a share of 0 to 100, each by itself or in runs of about 100.
struct share {
    int percent;
    bool clustered;
    bool passes(std::size_t i) const {
        const std::uint64_t bits = scramble(clustered ? i / 97 * 2 + 1 : 2 * i);
        return static_cast<int>(bits % 100) < percent;
    }
};

inline constexpr share shares[] = {{0, false},   {1, false}, {10, false}, {50, false}, {90, false},
                                   {100, false}, {1, true},  {10, true},  {50, true},  {90, true}};

/// Two warps of one row: tiles as small as they can be.
template <class Policy>
struct narrow : Policy {
    static constexpr int threads = 64;
    static constexpr int warps = 2;
    static constexpr int rows = 1;
};
template <std::size_t RowBytes>
using narrow_window = narrow<tuning::large_compact<RowBytes>>;

template <class T>
T item_from(std::uint64_t bits) {
    T item;
    const std::uint64_t words[2] = {bits, ~bits};
    std::memcpy(&item, words, sizeof(T));
    return item;
}

/// A clean workspace.
struct compact_memory {
    explicit compact_memory(std::size_t items)
        : memory(device::scan_workspace_bytes<std::uint64_t>(static_cast<index_t>(items), 64)) {
        memory.fill_bytes(0);
    }
    device::scan_workspace get() const { return {memory.data(), memory.size(), nullptr}; }
    device_array<unsigned char> memory;
};

/// Rows of T, their flags in three forms, and what must come of them.
template <class T>
struct rows_and_flags {
    rows_and_flags(std::size_t size, share kind) : items(size), bytes(size), words(size / 32 + 1) {
        for (std::size_t i = 0; i < size; ++i) {
            items[i] = item_from<T>(scramble(i));
            const bool pass = kind.passes(i);
            bytes[i] = pass ? static_cast<std::uint8_t>(scramble(i) % 255 + 1) : 0;
            words[i / 32] |= static_cast<std::uint32_t>(pass) << i % 32;
            (pass ? kept : rest).push_back(items[i]);
            if (pass) numbers.push_back(static_cast<index_t>(i));
        }
        words.back() |= ~std::uint32_t{0} << size % 32;  // to be ignored
    }
    std::vector<T> items;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint32_t> words;
    std::vector<T> kept;
    std::vector<T> rest;
    std::vector<index_t> numbers;
};

template <class P, class T>
constexpr std::size_t tile_items = device::compact_geometry<P, moved_items<T>::items>::tile_items;

struct divides_by_three {
    template <class T>
    LOOKBACK_HD bool operator()(T item) const {
        return item % 3 == 0;
    }
};

}  // namespace lookback::test
