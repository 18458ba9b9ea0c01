// Level L4 (tile): the consecutive items that one lane holds of a row: 16 bytes where the item size
// allows, else one item. Kept as 32-bit words, so that small items stay packed in registers.
// Invariant: what is stored is what was set; nothing beyond the lane's items is touched.
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstddef>
#include <cstring>

namespace lookback::tile {

template <class T>
struct lane_vector {
    static constexpr bool packs = 16 % sizeof(T) == 0;
    static constexpr int items = packs ? 16 / static_cast<int>(sizeof(T)) : 1;
    static constexpr bool vectorises = packs || sizeof(T) % 16 == 0;
    static constexpr int words = (items * static_cast<int>(sizeof(T)) + 3) / 4;

    std::uint32_t slice[words];

    __device__ __forceinline__ T get(int item) const {
        T value;
        if constexpr (sizeof(T) < 4) {
            constexpr int per_word = 4 / static_cast<int>(sizeof(T));
            const std::uint32_t part =
                slice[item / per_word] >> (item % per_word * 8 * static_cast<int>(sizeof(T)));
            memcpy(&value, &part, sizeof(T));
        } else {
            memcpy(&value, slice + item * static_cast<int>(sizeof(T) / 4), sizeof(T));
        }
        return value;
    }
    __device__ __forceinline__ void set(int item, T value) {
        if constexpr (sizeof(T) < 4) {
            constexpr int bits = 8 * static_cast<int>(sizeof(T));
            constexpr int per_word = 4 / static_cast<int>(sizeof(T));
            constexpr std::uint32_t ones = (1U << bits) - 1;
            const int shift = item % per_word * bits;
            std::uint32_t part = 0;
            memcpy(&part, &value, sizeof(T));
            std::uint32_t& word = slice[item / per_word];
            word = (word & ~(ones << shift)) | (part << shift);
        } else {
            memcpy(slice + item * static_cast<int>(sizeof(T) / 4), &value, sizeof(T));
        }
    }

    /// Whole and aligned: 16-byte accesses.
    __device__ __forceinline__ void load(const T* from) {
        static_assert(vectorises);
#pragma unroll
        for (int word = 0; word < words; word += 4) {
            const uint4 part = reinterpret_cast<const uint4*>(from)[word / 4];
            memcpy(slice + word, &part, sizeof(part));
        }
    }
    __device__ __forceinline__ void store(T* to) const {
        static_assert(vectorises);
#pragma unroll
        for (int word = 0; word < words; word += 4) {
            uint4 part;
            memcpy(&part, slice + word, sizeof(part));
            reinterpret_cast<uint4*>(to)[word / 4] = part;
        }
    }
};

/// The items of a lane at `from`, one by one; those from `left` on (left >= 1 - items) repeat the
/// array's last item, `from[left - 1]`, so that op only ever sees items of the array.
template <class T>
__device__ __forceinline__ lane_vector<T> load_items(const T* from, int left) {
    lane_vector<T> vector{};
    if constexpr (sizeof(T) < 4) {
        constexpr int per_word = 4 / static_cast<int>(sizeof(T));
#pragma unroll
        for (int word = 0; word < lane_vector<T>::words; ++word) {
            std::uint32_t packed = 0;
#pragma unroll
            for (int item = per_word - 1; item >= 0; --item) {
                const int place = word * per_word + item;
                const T value = from[place < left ? place : left - 1];
                std::uint32_t part = 0;
                memcpy(&part, &value, sizeof(T));
                packed = packed << (8 * sizeof(T)) | part;
            }
            vector.slice[word] = packed;
        }
    } else {
#pragma unroll
        for (int item = 0; item < lane_vector<T>::items; ++item) {
            const T value = from[item < left ? item : left - 1];
            vector.set(item, value);
        }
    }
    return vector;
}

/// Writes the first `left` items of a lane, one by one.
template <class T>
__device__ __forceinline__ void store_items(T* to, int left, const lane_vector<T>& vector) {
    if constexpr (sizeof(T) < 4) {
        constexpr int per_word = 4 / static_cast<int>(sizeof(T));
#pragma unroll
        for (int word = 0; word < lane_vector<T>::words; ++word) {
            std::uint32_t packed = vector.slice[word];
#pragma unroll
            for (int item = 0; item < per_word; ++item) {
                T value;
                memcpy(&value, &packed, sizeof(T));
                if (word * per_word + item < left) to[word * per_word + item] = value;
                packed >>= 8 * sizeof(T);
            }
        }
    } else {
#pragma unroll
        for (int item = 0; item < lane_vector<T>::items; ++item) {
            if (item < left) to[item] = vector.get(item);
        }
    }
}

}  // namespace lookback::tile
