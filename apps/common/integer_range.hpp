// Apps: which integers a part of an expression may give, and the type that holds them all.
// Invariant: ranges may be wider than what occurs, never narrower.
#pragma once

#include "common/program.hpp"

namespace lookback::apps {

/// All values that an integer may have. `open`: they may exceed 128 bits.
struct integer_range {
    int128 low = 0;
    int128 high = 0;
    bool open = false;

    bool holds(int128 value) const { return low <= value && value <= high; }
};

/// Of both.
integer_range both(const integer_range& a, const integer_range& b);

/// The narrowest of i64, u64, i128.
value_type holding(const integer_range& range);

/// Of the results of an operation on two integers.
integer_range range_of(opcode op, const integer_range& a, const integer_range& b);

/// The result itself; sets `fault` where there is none.
int128 compute_whole(opcode op, int128 a, int128 b, bool& fault);

}  // namespace lookback::apps
