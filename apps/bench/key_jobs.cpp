#include "data.hpp"
#include "harness.hpp"
#include "python_peer.hpp"
#include "vqsort_peer.hpp"

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>
#include <lookback/radix_sort.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace lookback::bench {
namespace {

template <class Key>
constexpr const char* numpy_name() {
    if constexpr (std::is_same_v<Key, std::uint32_t>) return "uint32";
    if constexpr (std::is_same_v<Key, std::int32_t>) return "int32";
    if constexpr (std::is_same_v<Key, float>) return "float32";
    if constexpr (std::is_same_v<Key, std::uint64_t>) return "uint64";
    if constexpr (std::is_same_v<Key, double>) return "float64";
}

// The input, the one huge-page buffer that every contestant sorts in, and what a right result is.
template <class Key>
class arena {
public:
    template <class Make>
    arena(const settings& settings, std::size_t full_items, const Make& make)
        : input_(one_, settings.items(full_items)),
          work_(one_, input_.size()),
          numpy_(settings.python, settings.peers_script, input_.size() * sizeof(Key)) {
        make(input_.span());
        const Key* data = input_.data();
        digest_ = inspect(
                      input_.size(), [=](std::size_t i) { return bits_of(data[i]); },
                      [](std::size_t, std::size_t) { return true; })
                      .digest;
    }

    template <class Sort>
    double round(const Sort& sort) {
        copy_bytes(work_.data(), input_.data(), bytes(), 2);
        const double seconds = seconds_of([&] { sort(work_.span()); });
        verify(work_.data());
        return seconds;
    }
    double lookback_round(int threads) {
        const context& context = threads == 1 ? one_ : two_;
        return round([&](std::span<Key> keys) { sort(context, keys); });
    }
    double numpy_round() {
        copy_bytes(numpy_.memory(), input_.data(), bytes(), 2);
        const double seconds = numpy_.request(std::string("sort ") + numpy_name<Key>() + " " +
                                              std::to_string(input_.size()));
        verify(static_cast<const Key*>(numpy_.memory()));
        return seconds;
    }
    double copy_round(int threads) {
        return seconds_of([&] { copy_bytes(work_.data(), input_.data(), bytes(), threads); });
    }
    const std::string& numpy_absent() const { return numpy_.absent(); }

private:
    std::size_t bytes() const { return input_.size() * sizeof(Key); }
    void verify(const Key* keys) const {
        const finding found = inspect(
            input_.size(), [=](std::size_t i) { return bits_of(keys[i]); },
            [=](std::size_t a, std::size_t b) { return keys[a] <= keys[b]; });
        require(found.sorted, "keys are not in order");
        require(found.digest == digest_, "keys are not those of the input");
    }

    context one_{{.backend = backend::cpu, .threads = 1}};
    context two_{{.backend = backend::cpu, .threads = 2}};
    buffer<Key> input_;
    buffer<Key> work_;
    python_peer numpy_;
    std::uint64_t digest_ = 0;
};

constexpr std::size_t keys_full = std::size_t{1} << 26;

// make(span) fills the input. std::sort takes part in the plain 32-bit rows only: it is seconds
// slow.
template <class Key, class Make>
job key_job(const std::string& name, const std::string& what, bool with_std_sort, Make make) {
    const auto prepare = [=](const settings& settings) {
        const auto shared = std::make_shared<arena<Key>>(settings, keys_full, make);
        std::vector<contestant> all{
            {.name = "lookback:2", .round = [=] { return shared->lookback_round(2); }},
            {.name = "lookback:1", .round = [=] { return shared->lookback_round(1); }},
            {.name = "numpy",
             .round = [=] { return shared->numpy_round(); },
             .absent = shared->numpy_absent()},
            {.name = "vqsort",
             .round = [=] { return shared->round([](std::span<Key> keys) { vqsort(keys); }); }},
            {.name = "copy:1", .round = [=] { return shared->copy_round(1); }},
            {.name = "copy:2", .round = [=] { return shared->copy_round(2); }}};
        if (with_std_sort) {
            all.push_back({.name = "std-sort",
                           .round =
                               [=] {
                                   return shared->round([](std::span<Key> keys) {
                                       std::sort(keys.begin(), keys.end());
                                   });
                               },
                           .many_seconds = true});
        }
        return all;
    };
    return {.name = "sort/" + name,
            .description = "2^26 " + what,
            .items = keys_full,
            .item_bytes = sizeof(Key),
            .prepare = prepare};
}

// As key_job with each key made from its position and that position's random word.
template <class Key, class Item>
job each_key_job(const std::string& name, const std::string& what, bool with_std_sort, Item item) {
    return key_job<Key>(name, what, with_std_sort, [=](std::span<Key> keys) { fill(keys, item); });
}

// Zipf with exponent 1 over [1, 2^26): the inverse of its continuous distribution function.
std::uint32_t zipf(std::uint64_t word) {
    return static_cast<std::uint32_t>(std::exp(unit(word) * std::log(0x1p26)));
}

// 7 of 8 keys within [1, 1 + 2^-7), so in one exponent and one value of the first mantissa bits;
// the rest log-uniform over 2^-60 .. 2^60, both signs.
float skewed(std::uint64_t word) {
    const double fraction = unit(mix(word));
    if (word % 8 != 0) return static_cast<float>(1.0 + fraction * 0x1p-7);
    const double wide = std::exp2(fraction * 120.0 - 60.0);
    return static_cast<float>((word & 8) != 0 ? wide : -wide);
}

}  // namespace

std::vector<job> key_jobs() {
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    return {
        each_key_job<u32>("u32", "u32 keys, uniform", true,
                          [](u64, u64 word) { return static_cast<u32>(word); }),
        each_key_job<std::int32_t>("i32", "i32 keys, uniform", true,
                                   [](u64, u64 word) { return static_cast<std::int32_t>(word); }),
        each_key_job<float>("f32", "f32 keys, standard normal", true,
                            [](u64, u64 word) { return static_cast<float>(normal(word)); }),
        each_key_job<u64>("u64", "u64 keys, uniform", false, [](u64, u64 word) { return word; }),
        each_key_job<double>("f64", "f64 keys, standard normal", false,
                             [](u64, u64 word) { return normal(word); }),
        each_key_job<u32>("20-bits", "u32 keys, uniform in [0, 2^20)", false,
                          [](u64, u64 word) { return static_cast<u32>(word >> 44); }),
        each_key_job<u32>("equal", "u32 keys, all equal", false, [](u64, u64) { return u32{7}; }),
        each_key_job<u32>("sorted", "u32 keys, sorted already", false,
                          [](u64 i, u64) { return static_cast<u32>(i * 61); }),
        each_key_job<u32>("reversed", "u32 keys, in reverse order", false,
                          [](u64 i, u64) { return static_cast<u32>((keys_full - i) * 61); }),
        each_key_job<u32>("two-values", "u32 keys, two values", false,
                          [](u64, u64 word) { return word % 2 != 0 ? 7U : 0x80000000U; }),
        each_key_job<u32>("zipf", "u32 keys, Zipf with exponent 1 over 2^26 values", false,
                          [](u64, u64 word) { return zipf(word); }),
        each_key_job<float>("skewed", "f32 keys, 7 of 8 in [1, 1 + 2^-7)", false,
                            [](u64, u64 word) { return skewed(word); }),
    };
}

}  // namespace lookback::bench
