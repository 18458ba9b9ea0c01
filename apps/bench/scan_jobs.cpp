#include "data.hpp"
#include "harness.hpp"

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>
#include <lookback/scan.hpp>

#include <memory>
#include <numeric>

#include <tbb/parallel_scan.h>

namespace lookback::bench {
namespace {

using item = std::uint32_t;

class arena {
public:
    explicit arena(std::size_t items)
        : input_(one_, items), output_(one_, items), expected_(one_, items) {
        fill(input_.span(),
             [](std::size_t, std::uint64_t word) { return static_cast<item>(word); });
        item sum = 0;
        for (std::size_t i = 0; i < items; ++i) expected_[i] = sum += input_[i];
    }

    template <class Scan>
    double round(const Scan& scan) {
        const double seconds = seconds_of([&] { scan(input_.span(), output_.span()); });
        const finding found = inspect(
            output_.size(), [](std::size_t) { return std::uint64_t{0}; },
            [&](std::size_t, std::size_t i) { return output_[i] == expected_[i]; });
        require(found.sorted && output_[0] == expected_[0], "sums differ from the plain loop's");
        std::memset(output_.data(), 0xff, output_.size() * sizeof(item));
        return seconds;
    }
    double lookback_round(int threads) {
        const context& context = threads == 1 ? one_ : two_;
        return round([&](std::span<const item> in, std::span<item> out) {
            inclusive_scan<item>(context, in, out);
        });
    }
    double copy_round(int threads) {
        return seconds_of([&] {
            copy_bytes(output_.data(), input_.data(), input_.size() * sizeof(item), threads);
        });
    }

private:
    context one_{{.backend = backend::cpu, .threads = 1}};
    context two_{{.backend = backend::cpu, .threads = 2}};
    buffer<item> input_;
    buffer<item> output_;
    buffer<item> expected_;
};

void tbb_scan(std::span<const item> in, std::span<item> out) {
    tbb::parallel_scan(
        tbb::blocked_range<std::size_t>(0, in.size()), item{0},
        [&](const tbb::blocked_range<std::size_t>& range, item sum, bool last) {
            for (std::size_t i = range.begin(); i != range.end(); ++i) {
                sum += in[i];
                if (last) out[i] = sum;
            }
            return sum;
        },
        [](item left, item right) { return left + right; });
}

constexpr std::size_t scan_full = std::size_t{1} << 27;

std::vector<contestant> contestants(const settings& settings) {
    const auto shared = std::make_shared<arena>(settings.items(scan_full));
    return {{.name = "lookback:2", .round = [=] { return shared->lookback_round(2); }},
            {.name = "lookback:1", .round = [=] { return shared->lookback_round(1); }},
            {.name = "tbb", .round = [=] { return shared->round(tbb_scan); }},
            {.name = "std",
             .round =
                 [=] {
                     return shared->round([](std::span<const item> in, std::span<item> out) {
                         std::inclusive_scan(in.begin(), in.end(), out.begin());
                     });
                 }},
            {.name = "copy:1", .round = [=] { return shared->copy_round(1); }},
            {.name = "copy:2", .round = [=] { return shared->copy_round(2); }}};
}

}  // namespace

std::vector<job> scan_jobs() {
    return {{.name = "scan/u32",
             .description = "inclusive sum of 2^27 u32",
             .items = scan_full,
             .item_bytes = sizeof(item),
             .prepare = contestants}};
}

}  // namespace lookback::bench
