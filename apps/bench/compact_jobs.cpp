#include "data.hpp"
#include "harness.hpp"
#include "python_peer.hpp"

#include <lookback/buffer.hpp>
#include <lookback/compact.hpp>
#include <lookback/context.hpp>

#include <algorithm>
#include <execution>
#include <memory>

namespace lookback::bench {
namespace {

using item = std::uint32_t;

class arena {
public:
    arena(const settings& settings, std::size_t full_items, unsigned percent)
        : input_(one_, settings.items(full_items)),
          output_(one_, input_.size()),
          expected_(one_, input_.size()),
          limit_(static_cast<item>(0x1p32 * percent / 100)),
          numpy_(settings.python, settings.peers_script, input_.size() * sizeof(item)) {
        fill(input_.span(),
             [](std::size_t, std::uint64_t word) { return static_cast<item>(word); });
        kept_ =
            static_cast<std::size_t>(std::copy_if(input_.begin(), input_.end(), expected_.begin(),
                                                  [&](item x) { return x < limit_; }) -
                                     expected_.begin());
    }

    template <class Filter>
    double round(const Filter& filter) {
        std::memset(output_.data(), 0xff, output_.size() * sizeof(item));
        std::size_t kept = 0;
        const double seconds = seconds_of([&] { kept = filter(input_.span(), output_.span()); });
        verify(output_.data(), kept);
        return seconds;
    }
    double lookback_round(int threads) {
        const context& context = threads == 1 ? one_ : two_;
        return round([&](std::span<const item> in, std::span<item> out) {
            return compact_if<item>(context, in, comparison::less, limit_, out);
        });
    }
    template <class... Policy>
    double std_round(const Policy&... policy) {
        return round([&](std::span<const item> in, std::span<item> out) {
            return static_cast<std::size_t>(
                std::copy_if(policy..., in.begin(), in.end(), out.begin(),
                             [limit = limit_](item x) { return x < limit; }) -
                out.begin());
        });
    }
    double numpy_round() {
        copy_bytes(numpy_.memory(), input_.data(), input_.size() * sizeof(item), 2);
        const double seconds = numpy_.request("filter uint32 " + std::to_string(input_.size()) +
                                              " " + std::to_string(limit_));
        verify(static_cast<const item*>(numpy_.memory()), kept_);
        return seconds;
    }
    // As many bytes as a filter moves at least: all items read, those that pass written.
    double copy_round() {
        return seconds_of([&] {
            copy_bytes(output_.data(), input_.data(), (input_.size() + kept_) / 2 * sizeof(item),
                       2);
        });
    }
    const std::string& numpy_absent() const { return numpy_.absent(); }

private:
    void verify(const item* items, std::size_t kept) const {
        require(kept == kept_ && std::memcmp(items, expected_.data(), kept * sizeof(item)) == 0,
                "what was kept differs from std::copy_if's");
    }

    context one_{{.backend = backend::cpu, .threads = 1}};
    context two_{{.backend = backend::cpu, .threads = 2}};
    buffer<item> input_;
    buffer<item> output_;
    buffer<item> expected_;
    item limit_;
    std::size_t kept_ = 0;
    python_peer numpy_;
};

constexpr std::size_t compact_full = std::size_t{1} << 27;

job compact_job(unsigned percent) {
    const auto prepare = [=](const settings& settings) {
        const auto shared = std::make_shared<arena>(settings, compact_full, percent);
        return std::vector<contestant>{
            {.name = "lookback:2", .round = [=] { return shared->lookback_round(2); }},
            {.name = "lookback:1", .round = [=] { return shared->lookback_round(1); }},
            {.name = "copy-if", .round = [=] { return shared->std_round(); }},
            {.name = "copy-if-par",
             .round = [=] { return shared->std_round(std::execution::par); }},
            {.name = "numpy",
             .round = [=] { return shared->numpy_round(); },
             .absent = shared->numpy_absent()},
            {.name = "copy:2", .round = [=] { return shared->copy_round(); }}};
    };
    return {.name = "compact/" + std::to_string(percent),
            .description = "2^27 u32 below a limit, " + std::to_string(percent) + " % of them",
            .items = compact_full,
            .item_bytes = sizeof(item),
            .prepare = prepare};
}

}  // namespace

std::vector<job> compact_jobs() {
    return {compact_job(10), compact_job(50), compact_job(90)};
}

}  // namespace lookback::bench
