// Tests: the types that typed suites run for.
#pragma once

#include <lookback/types.hpp>

#include <cstdint>

#include <gtest/gtest.h>

namespace lookback::test {

// Sanitizers get types of each width, signed, unsigned and real: the others run the same code, at
// twenty times the cost, and compile for long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
using item_types = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float>;
using key_types = testing::Types<std::uint8_t, float16, std::int32_t, std::uint64_t, double>;
#else
/// Of every item of a scan or a compaction.
using item_types =
    testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
/// Of every sort key.
using key_types =
    testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, float16, float, double>;
#endif

}  // namespace lookback::test
