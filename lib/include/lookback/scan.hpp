// Public API: inclusive and exclusive scan (prefix sums and their kin) over one array.
// Source: Blelloch, "Prefix sums and their applications" (1990); single pass: Merrill, Garland
// (2016).
#pragma once

#include <lookback/context.hpp>
#include <lookback/scan_strategy.hpp>
#include <lookback/types.hpp>

#include <optional>
#include <span>

namespace lookback {

/// op(earlier, later). min and max: the first of equal values; the first NaN wins over numbers.
/// Integer sums and products wrap modulo 2^bits. Bit operators are for integers only.
enum class scan_operator { plus, multiplies, minimum, maximum, bit_and, bit_or, bit_xor };

template <class T>
struct scan_options {
    scan_operator op = scan_operator::plus;
    /// Combined before the first item. Without it an exclusive scan starts with 0 for plus, 1 for
    /// multiplies, and the operator's identity otherwise (for real min and max +-infinity).
    std::optional<T> init = std::nullopt;
    /// Floating-point sums and products by one fixed tree: the same bits from every run, thread
    /// count and backend (of a NaN only that it is one). Integers, min, max and bit operators are
    /// always the same. Without it neighbours combine first, inside vectors (CPU) or threads and
    /// warps (CUDA), then these left to right, then tiles in an order that may differ from run to
    /// run; with one CPU thread it is the same from run to run.
    bool reproducible = false;
    /// For a CUDA context; the CPU has one way of its own.
    scan_strategy strategy = scan_strategy::automatic;
};

/// out[i] = init op in[0] op ... op in[i]. Returns the strategy that does it, never automatic.
///
/// Shapes: in and out have the same size n (any, 0 included). Aliasing: out may be in itself;
/// any other overlap throws. Traffic: each item read once, written once. Stream: the context's;
/// on the CPU the result is there on return. Extra memory on the CPU: none with one thread, else 64
/// bytes for 256 KiB of items (reproducible: up to 192). Throws error{invalid_argument} for unequal
/// sizes, partial overlap, a bit operator on floats.
template <arithmetic_item T>
scan_strategy inclusive_scan(const context& context, std::span<const T> in, std::span<T> out,
                             const scan_options<T>& options = {});

/// out[i] = init op in[0] op ... op in[i - 1]; all else as inclusive_scan.
template <arithmetic_item T>
scan_strategy exclusive_scan(const context& context, std::span<const T> in, std::span<T> out,
                             const scan_options<T>& options = {});

}  // namespace lookback
