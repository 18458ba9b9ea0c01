#include "vqsort_peer.hpp"

#include "data.hpp"

#include <chrono>
#include <vector>

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/highway.h>

namespace lookback::bench {
namespace {

constexpr std::int64_t all_targets = 0;
constexpr std::int64_t avx2_alone = HWY_AVX2 | HWY_STATIC_TARGET;

void use_targets(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();
}

double probe(std::int64_t targets) {
    std::vector<std::uint32_t> keys(std::size_t{1} << 20);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(mix(i));
    use_targets(targets);
    hwy::Sorter sorter;
    const auto start = std::chrono::steady_clock::now();
    sorter(keys.data(), keys.size(), hwy::SortAscending{});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    use_targets(all_targets);
    return seconds.count();
}

std::int64_t fastest_targets() {
#if HWY_ARCH_X86
    static const std::int64_t fastest = [] {
        if ((hwy::SupportedTargets() & HWY_AVX2) == 0) return all_targets;
        const double first = probe(all_targets);
        return 1.2 * probe(avx2_alone) < first ? avx2_alone : all_targets;
    }();
    return fastest;
#else
    return all_targets;
#endif
}

template <class Key>
void sort_with(std::span<Key> keys) {
    static hwy::Sorter sorter;
    const std::int64_t targets = fastest_targets();
    if (targets != all_targets) use_targets(targets);
    sorter(keys.data(), keys.size(), hwy::SortAscending{});
    if (targets != all_targets) use_targets(all_targets);
}

}  // namespace

const char* vqsort_target() {
    return fastest_targets() == all_targets ? "the best instruction set" : "AVX2";
}

void vqsort(std::span<std::uint32_t> keys) {
    sort_with(keys);
}
void vqsort(std::span<std::int32_t> keys) {
    sort_with(keys);
}
void vqsort(std::span<float> keys) {
    sort_with(keys);
}
void vqsort(std::span<std::uint64_t> keys) {
    sort_with(keys);
}
void vqsort(std::span<double> keys) {
    sort_with(keys);
}

}  // namespace lookback::bench
