// The closed list of item types, for explicit instantiation.
#pragma once

#include <cstdint>

// A macro, because a function cannot instantiate templates explicitly. M(T) for each arithmetic T.
#define LOOKBACK_FOR_ARITHMETIC_ITEMS(M) \
    M(std::int8_t);                      \
    M(std::int16_t);                     \
    M(std::int32_t);                     \
    M(std::int64_t);                     \
    M(std::uint8_t);                     \
    M(std::uint16_t);                    \
    M(std::uint32_t);                    \
    M(std::uint64_t);                    \
    M(float);                            \
    M(double)
