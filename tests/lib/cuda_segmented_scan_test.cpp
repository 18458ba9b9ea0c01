// Segmented scans and reductions through the public API, on each backend: every type and operator
// against a plain loop, the same bits from both in reproducible mode, and refusals.
#include "support/backend_context.hpp"
#include "support/scan_reference.hpp"
#include "support/segment_kinds.hpp"
#include "support/sizes.hpp"

#include <lookback/segmented_scan.hpp>

#include <cstring>

namespace lookback {
namespace {

using test::download;
using test::offset_list;
using test::upload;

class SegmentsOn : public testing::TestWithParam<backend> {
protected:
    void SetUp() override { test::open_context(GetParam(), context_); }

    enum class form { inclusive, exclusive, reduced };
    static constexpr form forms[] = {form::inclusive, form::exclusive, form::reduced};

    template <class T>
    static std::vector<T> results(const context& on, form wanted, const std::vector<T>& in,
                                  const offset_list& offsets, const scan_options<T>& options) {
        const auto items = upload<T>(on, in);
        const auto list = upload<std::int64_t>(on, offsets);
        const buffer<T> out(on, wanted == form::reduced ? offsets.size() - 1 : in.size());
        const std::span<const T> source = items.span();
        if (wanted == form::inclusive) {
            segmented_inclusive_scan<T>(on, source, list.span(), out.span(), options);
        } else if (wanted == form::exclusive) {
            segmented_exclusive_scan<T>(on, source, list.span(), out.span(), options);
        } else {
            segmented_reduce<T>(on, source, list.span(), out.span(), options);
        }
        return download<T>(on, out.span());
    }

    template <class T>
    static std::vector<T> plain_loop(form wanted, const std::vector<T>& in,
                                     const offset_list& offsets, const scan_options<T>& options) {
        std::vector<T> all;
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
            const auto begin = static_cast<std::size_t>(offsets[s]);
            const auto segment = std::span<const T>(in).subspan(
                begin, static_cast<std::size_t>(offsets[s + 1]) - begin);
            const auto part = test::reference_scan<T>(segment, wanted == form::exclusive, options);
            if (wanted != form::reduced) {
                all.insert(all.end(), part.begin(), part.end());
            } else if (part.empty()) {
                all.push_back(options.init.value_or(test::start_of_exclusive<T>(options.op)));
            } else {
                all.push_back(part.back());
            }
        }
        return all;
    }

    template <class T>
    void expect_operators(std::size_t size) {
        std::size_t turn = size;
        for (const scan_operator op : test::all_scan_operators) {
            if (std::is_floating_point_v<T> && test::is_of_bits(op)) continue;
            const auto in = test::scan_items<T>(op, size, size);
            for (const offset_list& offsets : test::kinds_of_offsets(size)) {
                scan_options<T> options{.op = op};
                if (++turn % 2 == 0) options.init = T(3);
                const form wanted = forms[turn % 3];
                const auto found = results(*context_, wanted, in, offsets, options);
                const auto expected = plain_loop(wanted, in, offsets, options);
                ASSERT_EQ(found.size(), expected.size());
                EXPECT_TRUE(found.empty() || std::memcmp(found.data(), expected.data(),
                                                         found.size() * sizeof(T)) == 0)
                    << name_of(type_of<T>()) << ", operator " << static_cast<int>(op) << ", "
                    << offsets.size() - 1 << " segments, form " << turn % 3;
            }
        }
    }

    void expect_refusal(const offset_list& offsets, const std::string& part) {
        const std::vector<std::int32_t> in(100, 1);
        try {
            results(*context_, form::inclusive, in, offsets, {});
            FAIL() << "accepted: " << part;
        } catch (const error& failure) {
            EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
            EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
        }
    }

    std::optional<context> context_;
};

TEST_P(SegmentsOn, EveryTypeAgreesWithALoop) {
    const std::size_t size = test::sanitized ? 3001 : 50021;
    expect_operators<std::int8_t>(size);
    expect_operators<std::int16_t>(size);
    expect_operators<std::int32_t>(size);
    expect_operators<std::int64_t>(size);
    expect_operators<std::uint8_t>(size);
    expect_operators<std::uint16_t>(size);
    expect_operators<std::uint32_t>(size);
    expect_operators<std::uint64_t>(size);
    expect_operators<float>(size);
    expect_operators<double>(size);
}

TEST_P(SegmentsOn, SmallSizes) {
    for (std::size_t size = 0; size < 40; ++size) expect_operators<std::int32_t>(size);
}

TEST_P(SegmentsOn, ReproducibleSumsHaveTheBitsOfTheCpu) {
    const context cpu({.backend = backend::cpu, .threads = 1});
    const std::size_t size = test::sanitized ? 30001 : 4000001;
    test::random_bits random(3);
    std::vector<float> in(size);
    for (auto& item : in) item = static_cast<float>(random() % 2000003) / 1777.0F - 500.0F;
    for (const offset_list& offsets : test::kinds_of_offsets(size)) {
        for (const form wanted : forms) {
            const scan_options<float> options{.init = 0.1F, .reproducible = true};
            EXPECT_EQ(results(*context_, wanted, in, offsets, options),
                      results(cpu, wanted, in, offsets, options));
        }
    }
}

TEST_P(SegmentsOn, OffsetsThatBreakTheRuleAreNamed) {
    expect_refusal({1, 100}, "offset 0 is 1");
    expect_refusal({0, 50, 40, 30, 100}, "offset 2 is 40, less than the one before it, 50");
    expect_refusal({0, 50, 99}, "the last offset, 2, is 99");
    expect_refusal({0, 50, 101}, "the last offset, 2, is 101");
}

TEST_P(SegmentsOn, MemoryOfTheWrongKindIsRefused) {
    if (GetParam() == backend::cpu) GTEST_SKIP() << "all memory is right for the CPU";
    std::vector<std::int32_t> items(100);
    const offset_list offsets = {0, 100};
    const auto list = upload<std::int64_t>(*context_, offsets);
    for (const bool offsets_too : {false, true}) {
        const std::span<const std::int64_t> given =
            offsets_too ? std::span<const std::int64_t>(offsets) : list.span();
        try {
            segmented_inclusive_scan<std::int32_t>(*context_, items, given, items);
            FAIL() << "accepted";
        } catch (const error& failure) {
            EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
            EXPECT_NE(std::string(failure.what()).find("host memory"), std::string::npos);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, SegmentsOn, testing::Values(backend::cpu, backend::cuda),
                         [](const auto& parameter) {
                             return parameter.param == backend::cpu ? "cpu" : "cuda";
                         });

}  // namespace
}  // namespace lookback
