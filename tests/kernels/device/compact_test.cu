// The kernels of stable compaction against std::copy_if, std::unique and std::stable_partition:
// every source of marks, sizes around every boundary, shares from none to all, random and in runs,
// misaligned pointers, red zones, in place, too little room, replays of a graph.
#include "support/device_array.cuh"
#include "support/scan_operators.cuh"

#include <lookback/kernels/device/compact.cuh>

#include <algorithm>
#include <cstring>

namespace lookback::test {
namespace {

using core::index_t;
using device::marks_alone;
using device::moved_items;
using device::row_numbers;

constexpr std::size_t zone = 64;  // items before and after what a kernel may write
constexpr unsigned char poison = 0xC3;

/// Which rows pass: a share of 0 to 100, each by itself or in runs of about 100.
struct share {
    int percent;
    bool clustered;
    bool passes(std::size_t i) const {
        const std::uint64_t bits = scramble(clustered ? i / 97 * 2 + 1 : 2 * i);
        return static_cast<int>(bits % 100) < percent;
    }
};

constexpr share shares[] = {{0, false},   {1, false}, {10, false}, {50, false}, {90, false},
                            {100, false}, {1, true},  {10, true},  {50, true},  {90, true}};

/// Two warps of one row: tiles as small as they can be.
template <class Policy>
struct narrow : Policy {
    static constexpr int threads = 64;
    static constexpr int warps = 2;
    static constexpr int rows = 1;
};
template <std::size_t RowBytes>
using narrow_window = narrow<tuning::large_compact<RowBytes>>;

template <class T>
T item_from(std::uint64_t bits) {
    T item;
    const std::uint64_t words[2] = {bits, ~bits};
    std::memcpy(&item, words, sizeof(T));
    return item;
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Device memory with poisoned red zones, `shift` items from a 256-byte boundary.
template <class T>
class zoned {
public:
    zoned(std::size_t size, std::size_t shift)
        : begin_(zone + shift), size_(size), all_(size + 2 * zone + shift) {
        all_.fill_bytes(poison);
    }
    zoned(const std::vector<T>& items, std::size_t shift) : zoned(items.size(), shift) {
        if (items.empty()) return;
        require(cudaMemcpy(data(), items.data(), size_ * sizeof(T), cudaMemcpyDefault), "upload");
    }
    T* data() const { return all_.data() + begin_; }

    /// Whether `expected` stands at the beginning, `behind` after it, and nothing else was written.
    bool holds(const std::vector<T>& expected, const std::vector<T>& behind = {}) const {
        std::vector<T> whole(all_.size());
        std::memset(static_cast<void*>(whole.data()), poison, whole.size() * sizeof(T));
        std::copy(behind.begin(), behind.end(), whole.begin() + static_cast<index_t>(begin_));
        std::copy(expected.begin(), expected.end(), whole.begin() + static_cast<index_t>(begin_));
        return same(whole, all_.host());
    }

private:
    std::size_t begin_;
    std::size_t size_;
    device_array<T> all_;
};

struct workspace {
    explicit workspace(std::size_t items)
        : memory(device::scan_workspace_bytes<device::row_count>(static_cast<index_t>(items), 64)) {
        memory.fill_bytes(0);
    }
    device::scan_workspace get() const { return {memory.data(), memory.size(), nullptr}; }
    device_array<unsigned char> memory;
};

/// Rows of T, their flags in three forms, and what must come of them.
template <class T>
struct rows_and_flags {
    rows_and_flags(std::size_t size, share kind) : items(size), bytes(size), words(size / 32 + 1) {
        for (std::size_t i = 0; i < size; ++i) {
            items[i] = item_from<T>(scramble(i));
            const bool pass = kind.passes(i);
            bytes[i] = pass ? static_cast<std::uint8_t>(scramble(i) % 255 + 1) : 0;
            words[i / 32] |= static_cast<std::uint32_t>(pass) << i % 32;
            (pass ? kept : rest).push_back(items[i]);
            if (pass) numbers.push_back(static_cast<index_t>(i));
        }
        words.back() |= ~std::uint32_t{0} << size % 32;  // to be ignored
    }
    std::vector<T> items;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint32_t> words;
    std::vector<T> kept;
    std::vector<T> rest;
    std::vector<index_t> numbers;
};

struct how {
    bool bits = false;
    bool in_place = false;
    bool rest = false;
    bool inverted = false;
    std::size_t shift = 0;
};

template <class P, class T>
void expect_compacts(std::size_t size, share kind, how way) {
    rows_and_flags<T> rows(size, kind);
    if (way.inverted) std::swap(rows.kept, rows.rest);
    const zoned<T> in(rows.items, way.shift);
    const zoned<T> out(way.in_place ? 0 : rows.kept.size(), way.shift + 3);
    const zoned<T> rest(way.rest ? rows.rest.size() : 0, way.shift + 1);
    const zoned<std::uint8_t> bytes(rows.bytes, way.shift);
    const device_array<std::uint32_t> words(rows.words);
    const workspace memory(size);
    device_array<index_t> count(1);
    const T* const from = in.data();
    T* const to = way.in_place ? in.data() : out.data();
    const device::compact_request<moved_items<T>> request{
        .rows = {from, to, way.rest ? rest.data() : nullptr},
        .items = static_cast<index_t>(size),
        .count = count.data(),
        .inverted = way.inverted,
        .in_place = way.in_place};
    const void* flags = bytes.data();
    if (way.bits) flags = words.data();
    require(device::compact_under<P>(memory.get(), request, device::memory_flags{flags, way.bits},
                                     nullptr),
            "launch");
    require(cudaDeviceSynchronize(), "run");
    EXPECT_EQ(count.host()[0], static_cast<index_t>(rows.kept.size()));
    if (way.in_place) {
        EXPECT_TRUE(in.holds(rows.kept, rows.items));
    } else {
        EXPECT_TRUE(out.holds(rows.kept));
        EXPECT_TRUE(in.holds(rows.items));
    }
    if (way.rest) {
        EXPECT_TRUE(rest.holds(rows.rest));
    }
}

class Compact : public CudaTest {};

template <class P, class T>
constexpr std::size_t tile_items = device::compact_geometry<P, moved_items<T>::items>::tile_items;

template <class P, class T>
void expect_all_sizes() {
    constexpr std::size_t tile = tile_items<P, T>;
    std::vector<std::size_t> sizes = boundary_sizes(tile, 40);
    const auto more = one_tile_to_two(tile, by_device(1, 5, 37));
    sizes.insert(sizes.end(), more.begin(), more.end());
    int turn = 0;
    for (const std::size_t size : sizes) {
        const share kind = shares[turn++ % std::size(shares)];
        SCOPED_TRACE(testing::Message() << size << " rows of " << sizeof(T) << " bytes, "
                                        << kind.percent << (kind.clustered ? " % in runs" : " %"));
        const how way{.bits = turn % 2 == 0,
                      .in_place = turn % 3 == 0,
                      .rest = turn % 5 < 2,
                      .inverted = turn % 7 == 0,
                      .shift = static_cast<std::size_t>(turn % 4 == 0 ? turn % 16 : 0)};
        expect_compacts<P, T>(size, kind, way);
        if (testing::Test::HasFailure()) return;
    }
}

TEST_F(Compact, EverySizeOfBytes) {
    expect_all_sizes<narrow_window<1>, std::uint8_t>();
}
TEST_F(Compact, EverySizeOfShorts) {
    expect_all_sizes<narrow_window<2>, std::uint16_t>();
}
TEST_F(Compact, EverySizeOfWords) {
    expect_all_sizes<narrow_window<4>, std::uint32_t>();
    expect_all_sizes<narrow<tuning::small_compact<4>>, std::uint32_t>();
}
TEST_F(Compact, EverySizeOfDoubleWords) {
    expect_all_sizes<narrow_window<8>, std::uint64_t>();
}
TEST_F(Compact, EverySizeOfVectors) {
    expect_all_sizes<narrow_window<16>, uint4>();
}

}  // namespace
}  // namespace lookback::test
