// Scans on a CUDA context through the public API: every type and operator against the standard
// library, the same bits as the CPU backend in reproducible sums, and refusals.
#include "support/backend_context.hpp"
#include "support/item_types.hpp"

#include <lookback/buffer.hpp>
#include <lookback/error.hpp>
#include <lookback/scan.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lookback {
namespace {

using test::item_types;

class CudaScan : public testing::Test {
protected:
    void SetUp() override { test::open_context(backend::cuda, gpu_); }

    template <class T>
    std::vector<T> on_gpu(const std::vector<T>& in, bool exclusive,
                          const scan_options<T>& options) {
        const buffer<T> items(*gpu_, in.size());
        gpu_->copy(items.data(), in.data(), in.size() * sizeof(T));
        const std::span<const T> source = items.span();
        exclusive ? exclusive_scan(*gpu_, source, items.span(), options)
                  : inclusive_scan(*gpu_, source, items.span(), options);
        std::vector<T> out(in.size());
        gpu_->copy(out.data(), items.data(), out.size() * sizeof(T));
        return out;
    }

    std::optional<context> gpu_;
};

template <class T>
std::vector<T> random_items(std::size_t size) {
    std::mt19937_64 random(size);
    std::vector<T> items(size);
    for (auto& item : items) {
        if constexpr (std::is_floating_point_v<T>) {
            item = static_cast<T>(random() % 64) - T(31);  // sums are exact in any order
        } else {
            item = static_cast<T>(random());
        }
    }
    return items;
}

template <class T>
T apply(scan_operator op, T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        using wide = std::uint64_t;
        switch (op) {
            case scan_operator::plus:
                return static_cast<T>(wide(a) + wide(b));
            case scan_operator::multiplies:
                return static_cast<T>(wide(a) * wide(b));
            case scan_operator::bit_and:
                return static_cast<T>(a & b);
            case scan_operator::bit_or:
                return static_cast<T>(a | b);
            case scan_operator::bit_xor:
                return static_cast<T>(a ^ b);
            case scan_operator::minimum:
                return std::min(a, b);
            case scan_operator::maximum:
                return std::max(a, b);
        }
    }
    return op == scan_operator::plus      ? a + b
           : op == scan_operator::minimum ? std::min(a, b)
                                          : std::max(a, b);
}

template <class T>
class CudaScanOf : public CudaScan {};
TYPED_TEST_SUITE(CudaScanOf, item_types);

TYPED_TEST(CudaScanOf, AgreesWithTheStandardLibrary) {
    using T = TypeParam;
    constexpr scan_operator floating[] = {scan_operator::plus, scan_operator::minimum,
                                          scan_operator::maximum};
    constexpr scan_operator all[] = {scan_operator::plus,    scan_operator::multiplies,
                                     scan_operator::minimum, scan_operator::maximum,
                                     scan_operator::bit_and, scan_operator::bit_or,
                                     scan_operator::bit_xor};
    const std::span<const scan_operator> operators =
        std::is_integral_v<T> ? std::span<const scan_operator>(all) : floating;
    for (const std::size_t size : {1UL, 1000UL, 3000001UL}) {
        const auto in = random_items<T>(size);
        for (const scan_operator op : operators) {
            const auto combine = [op](T a, T b) { return apply(op, a, b); };
            const T init = T(5);
            std::vector<T> expected(size);
            std::inclusive_scan(in.begin(), in.end(), expected.begin(), combine);
            EXPECT_EQ(this->on_gpu(in, false, scan_options<T>{.op = op}), expected)
                << static_cast<int>(op) << ", " << size;
            std::exclusive_scan(in.begin(), in.end(), expected.begin(), init, combine);
            EXPECT_EQ(this->on_gpu(in, true, scan_options<T>{.op = op, .init = init}), expected)
                << static_cast<int>(op) << ", exclusive, " << size;
        }
        for (std::size_t i = 1; i < scan_strategies.size(); ++i) {
            std::vector<T> expected(size);
            std::inclusive_scan(in.begin(), in.end(), expected.begin(),
                                [](T a, T b) { return apply(scan_operator::plus, a, b); });
            EXPECT_EQ(
                this->on_gpu(in, false, scan_options<T>{.strategy = static_cast<scan_strategy>(i)}),
                expected)
                << scan_strategies[i] << ", " << size;
        }
    }
}

template <class T>
class CudaReproducible : public CudaScan {};
using float_types = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaReproducible, float_types);

TYPED_TEST(CudaReproducible, SameBitsAsTheCpu) {
    using T = TypeParam;
    const context cpu({.backend = backend::cpu});
    for (const std::size_t size : {1UL, 31UL, 1000UL, 8193UL, 1000003UL, 6000001UL}) {
        std::mt19937_64 random(size);
        std::vector<T> in(size);
        for (auto& item : in) item = static_cast<T>(random() % 2000003) / T(1777) - T(500);
        for (const bool exclusive : {false, true}) {
            for (const bool has_init : {false, true}) {
                scan_options<T> options{.reproducible = true};
                if (has_init) options.init = T(0.1);
                std::vector<T> expected(size);
                const std::span<const T> source(in);
                exclusive ? exclusive_scan(cpu, source, std::span(expected), options)
                          : inclusive_scan(cpu, source, std::span(expected), options);
                const auto out = this->on_gpu(in, exclusive, options);
                EXPECT_EQ(std::memcmp(out.data(), expected.data(), size * sizeof(T)), 0)
                    << size << (exclusive ? " exclusive" : "") << (has_init ? " init" : "");
                EXPECT_EQ(this->on_gpu(in, exclusive, options), out);
            }
        }
    }
}

TEST_F(CudaScan, HostMemoryIsRefused) {
    std::vector<std::uint32_t> host(100);
    try {
        inclusive_scan(*gpu_, std::span<const std::uint32_t>(host), std::span(host));
        FAIL() << "accepted";
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
        EXPECT_NE(std::string(failure.what()).find("host memory"), std::string::npos);
    }
}

TEST_F(CudaScan, ImpossibleBuffersThrowOutOfMemory) {
    try {
        const buffer<std::uint8_t> block(*gpu_, std::size_t{1} << 50);
        FAIL() << "accepted";
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::out_of_memory);
    }
}

}  // namespace
}  // namespace lookback
