// Level L5 (device): the operands of an expression's steps: columns, constants, row numbers, and
// what earlier steps made. Invariant: a thread touches its own rows alone, so there are no
// barriers; what all lanes have alike is read so that the compiler knows it.
#pragma once

#include <lookback/kernels/arch/lane.cuh>
#include <lookback/kernels/core/row_steps.hpp>
#include <lookback/kernels/core/row_values.hpp>

namespace lookback::device {

using core::index_t;
using core::row_column;
using core::row_operand;
using core::row_program;
using core::row_step;

/// The values that a step hands to later ones: a few slots in shared memory, the others, which
/// hardly any expression needs, in the thread's own.
template <int Threads, int Rows, int Slots>
class row_slots {
public:
    static constexpr int near = core::few_value_slots;
    using shared = std::uint64_t[near * Rows][Threads];

    __device__ __forceinline__ explicit row_slots(shared& memory) : near_(memory) {}

    __device__ __forceinline__ std::uint64_t word(int slot, int row) const {
        if (Slots == near || slot < near) return near_[slot * Rows + row][threadIdx.x];
        return far_[(slot - near) * Rows + row];
    }
    __device__ __forceinline__ void set_word(int slot, int row, std::uint64_t word) {
        if (Slots == near || slot < near) {
            near_[slot * Rows + row][threadIdx.x] = word;
        } else {
            far_[(slot - near) * Rows + row] = word;
        }
    }
    template <class T>
    __device__ __forceinline__ T get(int slot, int row) const {
        T value;
        if constexpr (sizeof(T) == 16) {
            const std::uint64_t words[2] = {word(slot, row), word(slot + 1, row)};
            memcpy(&value, words, sizeof(T));
        } else {
            const std::uint64_t bits = word(slot, row);
            memcpy(&value, &bits, sizeof(T));
        }
        return value;
    }
    template <class T>
    __device__ __forceinline__ void set(int slot, int row, T value) {
        std::uint64_t words[2] = {};
        memcpy(words, &value, sizeof(T));
        set_word(slot, row, words[0]);
        if constexpr (sizeof(T) == 16) set_word(slot + 1, row, words[1]);
    }

private:
    shared& near_;
    std::uint64_t far_[Slots == near ? 1 : (Slots - near) * Rows];
};

/// The operands of one lane: every 32nd row of a warp's `Rows` * 32.
template <int Threads, int Rows, int Slots>
class row_operands {
public:
    using slots = row_slots<Threads, Rows, Slots>;

protected:
    using kind = row_operand::kind;
    static constexpr std::uint32_t all = Rows == 32 ? ~0U : (1U << Rows % 32) - 1;
    static_assert(Rows * core::mark_slots / 2 <= 64);

    __device__ __forceinline__ row_operands(const row_program& program,
                                            typename slots::shared& memory)
        : program_(program), values_(memory) {}

    __device__ __forceinline__ index_t row_of(int i) const {
        return first_ + 32 * i + arch::lane();
    }

    // Conditions.

    __device__ __forceinline__ std::uint32_t marks(int number) const {
        const std::uint64_t word = number < core::mark_slots / 2 ? low_marks_ : high_marks_;
        return static_cast<std::uint32_t>(word >> number % (core::mark_slots / 2) * Rows) & all;
    }
    __device__ __forceinline__ void set_marks(int number, std::uint32_t bits) {
        const int shift = number % (core::mark_slots / 2) * Rows;
        std::uint64_t& word = number < core::mark_slots / 2 ? low_marks_ : high_marks_;
        word = (word & ~(std::uint64_t{all} << shift)) | std::uint64_t{bits & all} << shift;
    }
    __device__ __forceinline__ std::uint32_t marks_of(row_operand operand) const {
        if (operand.is == kind::marks) return marks(operand.at);
        if (operand.is == kind::constant) {
            return program_.constants[operand.at].words[0] != 0 ? all : 0;
        }
        const auto* bytes = static_cast<const std::uint8_t*>(column(operand).data) + row_of(0);
        std::uint32_t bits = 0;
#pragma unroll
        for (int i = 0; i < Rows; ++i) bits |= (bytes[32 * i] != 0 ? 1U : 0U) << i;
        return bits;
    }

    // Values.

    __device__ __forceinline__ row_column column(row_operand operand) const {
        row_column found{};
        const uint4 words = arch::load_uniform(program_.columns + operand.at);
        memcpy(&found, &words, sizeof(words));
        return found;
    }
    template <class T>
    __device__ __forceinline__ T constant(row_operand operand) const {
        T value;
        memcpy(&value, program_.constants[operand.at].words, sizeof(T));
        return value;
    }

    /// body.template operator()<Stored>() for what a column of this type can be stored as.
    template <class T, class Body>
    __device__ __forceinline__ static void with_stored(core::stored_type type, const Body& body) {
        using core::stored_type;
        if constexpr (std::is_same_v<T, std::uint64_t>) {
            body.template operator()<std::uint64_t>();
        } else if constexpr (std::is_same_v<T, double>) {
            body.template operator()<double>();
        } else if constexpr (std::is_same_v<T, float>) {
            if (type == stored_type::f16) return body.template operator()<half_bits>();
            body.template operator()<float>();
        } else {
            switch (type) {
                case stored_type::i8:
                    return body.template operator()<std::int8_t>();
                case stored_type::i16:
                    return body.template operator()<std::int16_t>();
                case stored_type::i32:
                    return body.template operator()<std::int32_t>();
                case stored_type::u8:
                    return body.template operator()<std::uint8_t>();
                case stored_type::u16:
                    return body.template operator()<std::uint16_t>();
                case stored_type::u32:
                    return body.template operator()<std::uint32_t>();
                default:
                    return body.template operator()<std::int64_t>();
            }
        }
    }
    struct half_bits {
        std::uint16_t bits;
        __device__ __forceinline__ explicit operator float() const {
            return core::widen_half(bits);
        }
    };

    /// The values of all rows of the lane.
    template <class T>
    __device__ __forceinline__ void fetch(row_operand operand, T (&out)[Rows]) {
        if (operand.is == kind::values) {
#pragma unroll
            for (int i = 0; i < Rows; ++i) out[i] = values_.template get<T>(operand.at, i);
        } else if (operand.is == kind::constant) {
            const T value = constant<T>(operand);
#pragma unroll
            for (int i = 0; i < Rows; ++i) out[i] = value;
        } else if (operand.is == kind::row) {
#pragma unroll
            for (int i = 0; i < Rows; ++i) out[i] = static_cast<T>(program_.first_row + row_of(i));
        } else {
            const row_column from = column(operand);
            with_stored<T>(from.type, [&]<class Stored>() {
                const auto* data = static_cast<const Stored*>(from.data) + row_of(0);
#pragma unroll
                for (int i = 0; i < Rows; ++i) out[i] = static_cast<T>(data[32 * i]);
            });
        }
    }
    /// The value of one row, wherever it is: for steps that cost more than finding it.
    template <class T>
    __device__ __forceinline__ T fetch_one(row_operand operand, int i) {
        if (operand.is == kind::constant) return constant<T>(operand);
        if (operand.is == kind::values) return values_.template get<T>(operand.at, i);
        if (operand.is == kind::row) {
            return static_cast<T>(program_.first_row + row_of(i));
        }
        const row_column from = column(operand);
        T value{};
        with_stored<T>(from.type, [&]<class Stored>() {
            value = static_cast<T>(static_cast<const Stored*>(from.data)[row_of(i)]);
        });
        return value;
    }

    const row_program& program_;
    slots values_;
    index_t first_ = 0;  // of the warp
    int rows_ = 0;
    std::uint64_t low_marks_ = 0;  // Rows bits each
    std::uint64_t high_marks_ = 0;
};

}  // namespace lookback::device
