// Level L5 (device): conditions that come to range tests (core/row_terms.hpp), 32 rows a lane. Each
// column is read once, by loads of four neighbouring rows a lane; a test's answers are the bits of
// a word, so that the table costs a few operations on words for 32 rows.
// Invariant: what the rows hold decides nothing but bits: no branch, no address.
#pragma once

#include <lookback/kernels/arch/memory.cuh>
#include <lookback/kernels/core/key_order.hpp>
#include <lookback/kernels/core/row_terms.hpp>
#include <lookback/kernels/device/compact_marks.cuh>

#include <type_traits>

namespace lookback::device {

using core::row_column;
using core::row_range;
using core::row_term_group;
using core::row_terms;

/// Rows [first, first + rows) of a column, up to 1024 of them: a lane has rows 4 * lane to
/// 4 * lane + 3 of every 128, which are a group.
template <int Bytes>
struct term_rows {
    using item = core::key_bits<Bytes>;
    using word = std::conditional_t<Bytes == 8, std::uint64_t, std::uint32_t>;
    static constexpr int group_rows = 128;

    const item* own;  ///< of the lane, in the first group
    int rows;

    __device__ __forceinline__ term_rows(const row_column& column, index_t first, int rows_there)
        : own(arch::in_global(static_cast<const item*>(column.data) + first + 4 * arch::lane())),
          rows(rows_there) {}

    /// The words of Groups groups from number `begin` on.
    template <int Groups>
    __device__ __forceinline__ void load(int begin, word (&out)[4 * Groups]) const {
        // Branches stand outside, so that all loads are on their way at once.
        const item* const from = own + group_rows * begin;
        const bool aligned =
            reinterpret_cast<std::uintptr_t>(own) % (4 * Bytes < 16 ? 4 * Bytes : 16) == 0;
        if (aligned && rows >= group_rows * (begin + Groups)) {
#pragma unroll
            for (int g = 0; g < Groups; ++g) load_four(from + group_rows * g, out + 4 * g);
            return;
        }
#pragma unroll
        for (int g = 0; g < Groups; ++g) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const bool there = group_rows * (begin + g) < rows;
                out[4 * g + i] = there ? word_of(from[group_rows * g + i]) : word{0};
            }
        }
    }

private:
    __device__ __forceinline__ static word word_of(item value) {
        return static_cast<word>(value) << core::term_shift(Bytes);
    }
    __device__ __forceinline__ static void load_four(const item* from, word* out) {
        if constexpr (Bytes == 8) {
            const auto* const pairs = reinterpret_cast<const ulonglong2*>(from);
            const ulonglong2 low = pairs[0];
            const ulonglong2 high = pairs[1];
            out[0] = low.x;
            out[1] = low.y;
            out[2] = high.x;
            out[3] = high.y;
        } else if constexpr (Bytes == 4) {
            const uint4 four = *reinterpret_cast<const uint4*>(from);
            out[0] = four.x;
            out[1] = four.y;
            out[2] = four.z;
            out[3] = four.w;
        } else if constexpr (Bytes == 2) {
            const uint2 four = *reinterpret_cast<const uint2*>(from);
            out[0] = four.x << 16;
            out[1] = four.x & 0xffff0000U;
            out[2] = four.y << 16;
            out[3] = four.y & 0xffff0000U;
        } else {
            const std::uint32_t four = *reinterpret_cast<const std::uint32_t*>(from);
#pragma unroll
            for (int i = 0; i < 4; ++i) out[i] = four << (24 - 8 * i) & 0xff000000U;
        }
    }
};

/// The answers of all tests, one word each: bit 4 * g + i is row i of the lane's in group g.
class term_answers {
public:
    __device__ __forceinline__ term_answers(const row_terms* terms) : terms_(terms) {
#pragma unroll
        for (std::uint32_t& word : words_) word = 0;
    }

    /// Asks all tests of a group of them about the rows of their column.
    template <int Bytes>
    __device__ __forceinline__ void ask(const row_term_group& tests, const row_column& column,
                                        index_t first, int rows) {
        using rows_of = term_rows<Bytes>;
        using word = typename rows_of::word;
        constexpr int groups = Bytes == 8 ? 4 : 8;  // at a time: 128 bytes of registers
        const rows_of from(column, first, rows);
        const bool real = core::is_real_type(column.type);
#pragma unroll 1
        for (int begin = 0; begin < 8; begin += groups) {
            word keys[4 * groups];
            from.template load<groups>(begin, keys);
            if (Bytes > 1 && real) {
#pragma unroll
                for (word& key : keys) key = core::term_key(key, true);
            }
#pragma unroll 1
            for (std::uint32_t t = tests.first; t < tests.first + tests.count; ++t) {
                const uint4 range = arch::load_uniform(terms_->ranges + t);
                add(t, inside<word>(keys, range) << 4 * begin);
            }
        }
    }

    /// What the table says, by lane and group as the answers.
    __device__ __forceinline__ std::uint32_t looked_up() const {
        std::uint32_t found = 0;
        const int blocks = terms_->count <= 3 ? 1 : 1 << (terms_->count - 3);
#pragma unroll 1
        for (int block = 0; block < blocks; ++block) {
            const uint4 low = __ldg(reinterpret_cast<const uint4*>(terms_->table) + 2 * block);
            const uint4 high = __ldg(reinterpret_cast<const uint4*>(terms_->table) + 2 * block + 1);
            const std::uint32_t fours[2] = {
                chosen(1, chosen(0, low.x, low.y), chosen(0, low.z, low.w)),
                chosen(1, chosen(0, high.x, high.y), chosen(0, high.z, high.w))};
            std::uint32_t bits = chosen(2, fours[0], fours[1]);
#pragma unroll
            for (int t = 3; t < row_terms::most; ++t) {
                bits &= words_[t] ^ ((block >> (t - 3) & 1) != 0 ? 0U : ~0U);
            }
            found |= bits;
        }
        return found;
    }

private:
    /// Bit i: keys[i] lies in the range.
    template <class Word, int Count>
    __device__ __forceinline__ static std::uint32_t inside(const Word (&keys)[Count],
                                                           const uint4& range) {
        Word low = range.x;
        Word span = range.z;
        if constexpr (sizeof(Word) == 8) {
            low |= Word{range.y} << 32;
            span |= Word{range.w} << 32;
        }
        std::uint32_t bits = 0;
#pragma unroll
        for (int i = 0; i < Count; ++i) bits |= (keys[i] - low <= span ? 1U : 0U) << i;
        return bits;
    }
    __device__ __forceinline__ void add(std::uint32_t test, std::uint32_t bits) {
#pragma unroll
        for (std::uint32_t t = 0; t < row_terms::most; ++t) {
            if (t == test) words_[t] |= bits;
        }
    }
    /// Bit by bit: `yes` where the test's answer is yes.
    __device__ __forceinline__ std::uint32_t chosen(int test, std::uint32_t no,
                                                    std::uint32_t yes) const {
        return (words_[test] & yes) | (~words_[test] & no);
    }

    const row_terms* terms_;
    std::uint32_t words_[row_terms::most];
};

/// Words of answers by lane and group as words of 32 neighbouring rows a lane.
__device__ __forceinline__ std::uint32_t in_row_order(std::uint32_t word) {
    const int lane = arch::lane();
    // Eight lanes hold eight groups: four bits of each lane and group change places.
    const auto exchange = [&](int lanes, std::uint32_t low) {
        const std::uint32_t other = arch::shuffle_xor(word, lanes);
        const int bits = 4 * lanes;
        word = (lane & lanes) == 0 ? (word & low) | (other & low) << bits
                                   : (word & ~low) | (other >> bits & low);
    };
    exchange(4, 0x0000ffff);
    exchange(2, 0x00ff00ff);
    exchange(1, 0x0f0f0f0f);
    // Lane 8 * a + b has rows 32 * a on of group b, which are word 4 * b + a.
    return arch::shuffle(word, lane % 4 * 8 + lane / 4);
}

/// The results of up to 1024 rows from `first` on, 32 of them a lane.
LOOKBACK_NOINLINE __device__ std::uint32_t run_terms(const row_terms* terms,
                                                     const row_column* columns, index_t first,
                                                     int rows) {
    term_answers answers(terms);
    const auto load_group = [&](std::uint32_t at) {
        row_term_group group{};
        const uint4 words = arch::load_uniform(terms->groups + at);
        memcpy(static_cast<void*>(&group), &words, sizeof(group));
        return group;
    };
    const auto load_column = [&](std::uint32_t at) {
        row_column column{};
        const uint4 words = arch::load_uniform(columns + at);
        memcpy(static_cast<void*>(&column), &words, sizeof(column));
        return column;
    };
    const std::uint32_t count = terms->group_count;
#pragma unroll 1
    for (std::uint32_t g = 0; g < count; ++g) {
        const row_term_group tests = load_group(g);
        const row_column column = load_column(tests.column);
        switch (core::bytes_of(column.type)) {
            case 1:
                answers.ask<1>(tests, column, first, rows);
                break;
            case 2:
                answers.ask<2>(tests, column, first, rows);
                break;
            case 4:
                answers.ask<4>(tests, column, first, rows);
                break;
            default:
                answers.ask<8>(tests, column, first, rows);
        }
    }
    return in_row_order(answers.looked_up());
}

/// A mark source: the rows in which a condition of range tests is true. All in device memory;
/// columns as core::row_program has them, and as many rows as fill up 128 can be read behind the
/// last one.
struct term_marks {
    const row_terms* terms;
    const row_column* columns;

    __device__ __forceinline__ std::uint32_t marks(lane_place place) const {
        const int own = place.left < 0 ? 0 : place.left > 32 ? 32 : place.left;
        const auto rows = static_cast<int>(arch::sum(static_cast<std::uint32_t>(own)));
        if (rows == 0) return 0;
        return run_terms(terms, columns, place.first - 32 * arch::lane(), rows);
    }
};

}  // namespace lookback::device
