// The kernels of stable compaction against std::copy_if, std::unique and std::stable_partition:
// every source of marks, sizes around every boundary, shares from none to all, random and in runs,
// misaligned pointers, red zones, in place, too little room, replays of a graph.
#include "support/device_array.cuh"
#include "support/scan_operators.cuh"

#include <lookback/kernels/device/compact.cuh>
#include <lookback/kernels/device/compact_staged.cuh>
#include <lookback/kernels/device/compact_words.cuh>
#include <lookback/kernels/device/scan.cuh>

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
        : memory(device::scan_workspace_bytes<std::uint64_t>(static_cast<index_t>(items), 64)) {
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
    expect_all_sizes<narrow<tuning::small_compact>, std::uint32_t>();
}
TEST_F(Compact, EverySizeOfDoubleWords) {
    expect_all_sizes<narrow_window<8>, std::uint64_t>();
}
TEST_F(Compact, EverySizeOfVectors) {
    expect_all_sizes<narrow_window<16>, uint4>();
}

/// As it is called: every policy as it is cut, every share.
template <class T>
void expect_real_tiles() {
    using policies = device::policies_for<moved_items<T>, device::memory_flags>;
    constexpr std::size_t large = tile_items<typename policies::large, T>;
    constexpr std::size_t middle = tile_items<typename policies::middle, T>;
    constexpr std::size_t small = tile_items<typename policies::small, T>;
    int turn = 0;
    for (const share kind : shares) {
        SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, " << kind.percent
                                        << (kind.clustered ? " % in runs" : " %"));
        const how way{.bits = turn % 2 == 0, .in_place = turn % 3 == 1, .rest = turn % 5 == 0};
        if (emulated_device && turn++ % 3 != 0) continue;
        expect_compacts<typename policies::large, T>(
            by_device<std::size_t>(1000003, 3 * large - 5, large + 5), kind, way);
        expect_compacts<typename policies::middle, T>(
            by_device<std::size_t>(200 * middle - 77, 2 * middle - 77, middle + 3), kind, way);
        expect_compacts<typename policies::small, T>(
            by_device<std::size_t>(100 * small + 33, 5 * small + 33, small + 33), kind, way);
    }
}

TEST_F(Compact, TilesAsTheyAreCut) {
    expect_real_tiles<std::uint8_t>();
    expect_real_tiles<std::uint16_t>();
    expect_real_tiles<std::uint32_t>();
    expect_real_tiles<std::uint64_t>();
    expect_real_tiles<uint4>();
}

/// The rows that a source of the rows themselves lets pass.
template <class P, class T, class Source>
void expect_kept(const std::vector<T>& items, const std::vector<T>& kept, bool in_place,
                 bool inverted, Source source_of) {
    const zoned<T> in(items, 0);
    const zoned<T> out(in_place ? 0 : kept.size(), 0);
    const workspace memory(items.size());
    device_array<index_t> count(1);
    const device::compact_request<moved_items<T>> request{
        .rows = {in.data(), in_place ? in.data() : out.data(), nullptr},
        .items = static_cast<index_t>(items.size()),
        .count = count.data(),
        .inverted = inverted,
        .in_place = in_place};
    require(device::compact_under<P>(memory.get(), request, source_of(in.data()), nullptr),
            "launch");
    require(cudaDeviceSynchronize(), "run");
    EXPECT_EQ(count.host()[0], static_cast<index_t>(kept.size())) << items.size() << " rows";
    const bool right = in_place ? in.holds(kept, items) : out.holds(kept);
    EXPECT_TRUE(right) << items.size() << " rows" << (in_place ? " in place" : "");
}

struct divides_by_three {
    template <class T>
    LOOKBACK_HD bool operator()(T item) const {
        return item % 3 == 0;
    }
};

TEST_F(Compact, APredicate) {
    using policy = narrow_window<4>;
    for (const std::size_t size : boundary_sizes(tile_items<policy, std::uint32_t>, 40)) {
        std::vector<std::uint32_t> items(size);
        for (std::size_t i = 0; i < size; ++i) items[i] = test_item<std::uint32_t>(i);
        std::vector<std::uint32_t> kept;
        std::copy_if(items.begin(), items.end(), std::back_inserter(kept), divides_by_three{});
        for (const bool in_place : {false, true}) {
            expect_kept<policy>(items, kept, in_place, false, [](const std::uint32_t*) {
                return device::rows_that<divides_by_three>{};
            });
        }
    }
}

TEST_F(Compact, ARangeOfNumbers) {
    using policy = narrow_window<2>;
    const auto order =
        core::make_key_order<std::uint16_t>(core::key_kind::signed_integer, false, false);
    for (const std::size_t size : boundary_sizes(tile_items<policy, std::uint16_t>, 9)) {
        std::vector<std::uint16_t> items(size);
        std::vector<std::uint16_t> kept;
        for (std::size_t i = 0; i < size; ++i) items[i] = test_item<std::uint16_t>(i);
        const auto outside = [](std::uint16_t bits) {
            const auto item = static_cast<std::int16_t>(bits);
            return item < -1000 || item > 9000;
        };
        std::copy_if(items.begin(), items.end(), std::back_inserter(kept), outside);
        expect_kept<policy>(items, kept, false, true, [&](const std::uint16_t*) {
            return device::rows_in_range<std::uint16_t>{
                order, order(static_cast<std::uint16_t>(-1000)), 10000};
        });
    }
}

template <class P, class T>
void expect_unique(std::size_t size, std::uint64_t run) {
    std::vector<T> items(size);
    for (std::size_t i = 0; i < size; ++i) {
        items[i] = static_cast<T>(scramble(i / run) % 3 + scramble(i) % 16 / 15);
    }
    std::vector<T> kept;
    std::unique_copy(items.begin(), items.end(), std::back_inserter(kept));
    const auto order =
        core::make_key_order<T>(core::key_kind::unsigned_integer, size % 2 == 0, false);
    for (const bool in_place : {false, true}) {
        expect_kept<P>(items, kept, in_place, false, [&](const T* in) {
            return device::rows_that_differ<T>{order, in};
        });
    }
}

TEST_F(Compact, Unique) {
    for (const std::size_t size : boundary_sizes(tile_items<narrow_window<4>, std::uint32_t>, 40)) {
        expect_unique<narrow_window<4>, std::uint32_t>(size, 1);
        expect_unique<narrow_window<4>, std::uint32_t>(size, 400);
    }
    for (const std::size_t size : boundary_sizes(tile_items<narrow_window<1>, std::uint8_t>, 3)) {
        expect_unique<narrow_window<1>, std::uint8_t>(size, 5);
    }
    using large = tuning::large_compact<8>;
    expect_unique<large, std::uint64_t>(
        by_device<std::size_t>(1000003, 2 * tile_items<large, std::uint64_t> + 9, 9000), 3);
}

/// Marks alone, then columns of every width by them, and the numbers of the rows.
void expect_columns(std::size_t size, share kind, std::size_t room) {
    const rows_and_flags<std::uint32_t> rows(size, kind);
    const std::size_t chunks = size / tuning::offset_rows + 1;
    const device_array<std::uint8_t> flags(rows.bytes);
    const zoned<std::uint32_t> words((size + 31) / 32, 0);
    const zoned<index_t> offsets((size + tuning::offset_rows - 1) / tuning::offset_rows, 0);
    const workspace memory(size);
    device_array<index_t> count(1);
    const auto n = static_cast<index_t>(size);
    require(device::compact(
                memory.get(),
                device::compact_request<marks_alone>{
                    .rows = {words.data(), offsets.data()}, .items = n, .count = count.data()},
                device::byte_flags{flags.data()}, nullptr),
            "marks");
    std::vector<std::uint32_t> clean(rows.words.begin(),
                                     rows.words.begin() + static_cast<index_t>((size + 31) / 32));
    if (size % 32 != 0) clean.back() &= (1U << size % 32) - 1;
    std::vector<index_t> before(chunks, 0);
    index_t running = 0;
    for (std::size_t i = 0; i < size; ++i) {
        if (i % tuning::offset_rows == 0) before[i / tuning::offset_rows] = running;
        running += rows.bytes[i] != 0 ? 1 : 0;
    }
    before.resize((size + tuning::offset_rows - 1) / tuning::offset_rows);
    require(cudaDeviceSynchronize(), "run");
    EXPECT_EQ(count.host()[0], running);
    EXPECT_TRUE(words.holds(clean));
    EXPECT_TRUE(offsets.holds(before));

    auto kept = rows.kept;
    auto rest = rows.rest;
    kept.resize(std::min(kept.size(), room));
    rest.resize(std::min(rest.size(), room));
    const zoned<std::uint32_t> in(rows.items, 0);
    const zoned<std::uint32_t> out(kept.size(), 5);
    const zoned<std::uint32_t> other(rest.size(), 1);
    device::compact_request<moved_items<std::uint32_t>> request{
        .rows = {in.data(), out.data(), other.data()},
        .items = n,
        .kept_room = static_cast<index_t>(room),
        .rest_room = static_cast<index_t>(room)};
    require(device::move_by_marks(request, words.data(), offsets.data(), nullptr), "move");
    require(cudaDeviceSynchronize(), "run");
    EXPECT_TRUE(out.holds(kept));
    EXPECT_TRUE(other.holds(rest));

    std::vector<index_t> numbers = rows.numbers;
    numbers.resize(std::min(numbers.size(), room));
    const zoned<index_t> number(numbers.size(), 1);
    require(device::compact(
                memory.get(),
                device::compact_request<row_numbers<index_t>>{
                    .rows = {number.data()}, .items = n, .kept_room = static_cast<index_t>(room)},
                device::memory_flags{words.data(), true}, nullptr),
            "numbers");
    require(cudaDeviceSynchronize(), "run");
    EXPECT_TRUE(number.holds(numbers));
}

TEST_F(Compact, ColumnsAndNumbers) {
    constexpr std::size_t tile = 2048 * 8;
    int turn = 0;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{2047}, std::size_t{2048},
          std::size_t{2049}, tile, tile + 1, 3 * tile + 77,
          by_device<std::size_t>(1000003, 5 * tile, tile)}) {
        SCOPED_TRACE(size);
        expect_columns(size, shares[turn % std::size(shares)], size);
        expect_columns(size, {50, turn % 2 == 0}, size / 3);
        ++turn;
    }
}

template <class Word>
void expect_wide(std::size_t size, std::size_t width, share kind, std::size_t room) {
    const rows_and_flags<std::uint32_t> rows(size, kind);
    std::vector<Word> items(size * width);
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = item_from<Word>(scramble(i));
    std::vector<Word> kept;
    std::vector<Word> rest;
    for (std::size_t i = 0; i < size; ++i) {
        auto& side = rows.bytes[i] != 0 ? kept : rest;
        const auto row = items.begin() + static_cast<index_t>(i * width);
        if (side.size() < room * width)
            side.insert(side.end(), row, row + static_cast<index_t>(width));
    }
    const workspace memory(size);
    const device_array<std::uint8_t> flags(rows.bytes);
    device_array<std::uint32_t> words(size / 32 + 1);
    device_array<index_t> offsets(size / tuning::offset_rows + 1);
    require(
        device::compact(memory.get(),
                        device::compact_request<marks_alone>{.rows = {words.data(), offsets.data()},
                                                             .items = static_cast<index_t>(size)},
                        device::byte_flags{flags.data()}, nullptr),
        "marks");
    const zoned<Word> in(items, 1);
    const zoned<Word> out(kept.size(), 3);
    const zoned<Word> other(rest.size(), 2);
    require(device::move_wide(
                device::wide_rows<Word>{in.data(), out.data(), other.data(),
                                        static_cast<index_t>(width), static_cast<index_t>(size),
                                        static_cast<index_t>(room), static_cast<index_t>(room)},
                words.data(), offsets.data(), nullptr),
            "move");
    require(cudaDeviceSynchronize(), "run");
    EXPECT_TRUE(out.holds(kept)) << size << " rows of " << width << " words";
    EXPECT_TRUE(other.holds(rest)) << size << " rows of " << width << " words";
}

TEST_F(Compact, RowsOfOtherSizes) {
    for (const std::size_t size : {1, 31, 2047, 2048, 2049, 5000}) {
        expect_wide<std::uint8_t>(size, 3, {50, false}, size);
        expect_wide<std::uint16_t>(size, 5, {10, false}, size);
        expect_wide<std::uint32_t>(size, 3, {90, true}, size / 4);
        expect_wide<std::uint64_t>(size, 9, {50, true}, size);
    }
}

// The stages: each array as the plain loops give it.
TEST_F(Compact, Stages) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{127}, std::size_t{128},
                                   std::size_t{1023}, std::size_t{5000}}) {
        std::vector<std::uint32_t> items(size);
        for (std::size_t i = 0; i < size; ++i) items[i] = test_item<std::uint32_t>(i);
        std::vector<std::uint8_t> expected(size);
        std::vector<std::uint32_t> kept;
        std::vector<index_t> expected_offsets(size);
        for (std::size_t i = 0; i < size; ++i) {
            expected[i] = items[i] >= 1U << 30 ? 1 : 0;
            expected_offsets[i] = static_cast<index_t>(kept.size());
            if (expected[i] != 0) kept.push_back(items[i]);
        }
        const auto order =
            core::make_key_order<std::uint32_t>(core::key_kind::unsigned_integer, false, false);
        const zoned<std::uint32_t> in(items, 1);
        const zoned<std::uint8_t> flags(size, 3);
        const zoned<index_t> offsets(size, 0);
        const zoned<std::uint32_t> out(kept.size(), 1);
        const auto n = static_cast<index_t>(size);
        require(device::mark_rows_as_bytes(
                    in.data(), n, device::rows_in_range<std::uint32_t>{order, 0, (1U << 30) - 1},
                    true, false, flags.data(), nullptr),
                "mark");
        require(arch::launch(device::widen_flags<index_t>, device::gather_grid(n), nullptr,
                             flags.data(), offsets.data(), n),
                "widen");
        const workspace memory(size);
        require(device::scan(memory.get(),
                             device::scan_request<index_t>{offsets.data(), offsets.data(), n, true},
                             core::plus{}, nullptr),
                "scan");
        require(arch::launch(device::scatter_rows<std::uint32_t>, device::gather_grid(n), nullptr,
                             flags.data(), offsets.data(), in.data(), out.data(), n, index_t{1}),
                "scatter");
        require(cudaDeviceSynchronize(), "run");
        EXPECT_TRUE(flags.holds(expected));
        EXPECT_TRUE(offsets.holds(expected_offsets));
        EXPECT_TRUE(out.holds(kept));
    }
}

// Blocks of silent tiles do nothing in a first launch, and run in a second.
template <class P, class Rows, class Source>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    partial_compaction(const device::compact_arguments<Rows> args, const device::scan_words words,
                       const Source source, int every, int phase, bool run_silent) {
    __shared__ device::compact_shared<P> shared;
    const index_t tile = blockIdx.x;
    if ((tile % every == phase) != run_silent) return;
    device::compact_tile<P, Rows> own;
    own.load(args, tile, source);
    if (threadIdx.x == 0) shared.arrival = {7, 0};
    device::compact_loaded_tile(args, words.channel(args.tiles), tile, own, source, shared);
}

template <class P, class Source>
void expect_helped(std::size_t size, int every, int phase, std::vector<std::uint32_t> items,
                   const std::vector<std::uint32_t>& kept, Source source_of) {
    using rows = moved_items<std::uint32_t>;
    const zoned<std::uint32_t> in(items, 0);
    const zoned<std::uint32_t> out(kept.size(), 0);
    device_array<index_t> count(1);
    device_array<unsigned char> memory(
        device::scan_workspace_bytes<std::uint64_t>(static_cast<index_t>(size), 64));
    memory.fill_bytes(0);
    device_array<device::scan_counters> counters(1);
    counters.fill_bytes(0);
    const device::scan_workspace shared{memory.data(), memory.size(), counters.data()};
    const auto args = device::arguments_of<P>(
        device::compact_request<rows>{.rows = {in.data(), out.data(), nullptr},
                                      .items = static_cast<index_t>(size),
                                      .count = count.data()});
    const auto source = source_of(in.data());
    for (const bool run_silent : {false, true}) {
        require(arch::launch(partial_compaction<P, rows, std::decay_t<decltype(source)>>,
                             {static_cast<unsigned>(args.tiles), P::threads,
                              device::compact_shared_bytes<P, rows>},
                             nullptr, args, device::words_of<device::row_count<P>>(shared), source,
                             every, phase, run_silent),
                "launch");
        require(cudaDeviceSynchronize(), "run");
    }
    EXPECT_TRUE(out.holds(kept)) << "1 in " << every << ", phase " << phase;
    EXPECT_EQ(count.host()[0], static_cast<index_t>(kept.size()));
    index_t waited_for = 0;
    for (index_t tile = 0; tile + 1 < args.tiles; ++tile) waited_for += tile % every == phase;
    EXPECT_GE(counters.host()[0].insertions, static_cast<std::uint64_t>(waited_for));
}

TEST_F(Compact, SilentTilesAreHelped) {
    using window = narrow_window<4>;
    using group = narrow<tuning::small_compact>;
    const auto run = [](auto policy, std::size_t tiles, int every, int phase) {
        using P = decltype(policy);
        const std::size_t size = tiles * tile_items<P, std::uint32_t> + 5;
        std::vector<std::uint32_t> items(size);
        for (std::size_t i = 0; i < size; ++i) {
            items[i] = static_cast<std::uint32_t>(scramble(i) % 4);
        }
        std::vector<std::uint32_t> kept;
        std::copy_if(items.begin(), items.end(), std::back_inserter(kept),
                     [](std::uint32_t item) { return item % 3 == 0; });
        expect_helped<P>(size, every, phase, items, kept, [](const std::uint32_t*) {
            return device::rows_that<divides_by_three>{};
        });
        kept.clear();
        std::unique_copy(items.begin(), items.end(), std::back_inserter(kept));
        const auto order =
            core::make_key_order<std::uint32_t>(core::key_kind::unsigned_integer, false, false);
        expect_helped<P>(size, every, phase, items, kept, [&](const std::uint32_t* in) {
            return device::rows_that_differ<std::uint32_t>{order, in};
        });
    };
    for (const auto& [every, phase] : {std::pair{64, 0}, {32, 5}, {8, 7}, {2, 0}, {2, 1}}) {
        run(window{}, by_device(3000, 100, 40), every, phase);
        run(group{}, by_device(250, 100, 40), every, phase);
    }
}

TEST_F(Compact, TooSmallAWorkspaceIsRefused) {
    const device_array<unsigned char> memory(1024);
    const device::compact_request<moved_items<std::uint32_t>> request{.rows = {}, .items = 1 << 20};
    EXPECT_EQ(device::compact({memory.data(), memory.size(), nullptr}, request,
                              device::memory_flags{}, nullptr),
              cudaErrorInvalidValue);
}

#if !defined(LOOKBACK_EMULATED_DEVICE)
/// items[i] = low half of i: those below a value pass.
__global__ void fill_with_numbers(std::uint8_t* items, index_t n) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        items[i] = static_cast<std::uint8_t>(i % 251);
    }
}
__global__ void check_numbers(const std::uint8_t* kept, index_t n, unsigned long long* wrong) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        if (kept[i] != i % 250) atomicAdd(wrong, 1);
    }
}

// Of each 251 items the last does not pass; sizes that do not fit in 31 and 32 bits.
TEST_F(Compact, TwoToThe31AndMore) {
    for (const index_t n : {(index_t{1} << 31) + 1, (index_t{1} << 32) + 1}) {
        for (const bool in_place : {false, true}) {
            const auto size = static_cast<std::size_t>(n);
            const device_array<std::uint8_t> in(size);
            const device_array<std::uint8_t> out(in_place ? 0 : size);
            device_array<index_t> count(1);
            device_array<unsigned long long> wrong(1);
            wrong.fill_bytes(0);
            device_array<unsigned char> memory(device::compact_workspace_bytes(n));
            memory.fill_bytes(0);
            require(arch::launch(fill_with_numbers, {4096, 256}, nullptr, in.data(), n), "fill");
            std::uint8_t* const to = in_place ? in.data() : out.data();
            const auto order =
                core::make_key_order<std::uint8_t>(core::key_kind::unsigned_integer, false, false);
            require(device::compact({memory.data(), memory.size(), nullptr},
                                    device::compact_request<moved_items<std::uint8_t>>{
                                        .rows = {in.data(), to, nullptr},
                                        .items = n,
                                        .count = count.data(),
                                        .in_place = in_place},
                                    device::rows_in_range<std::uint8_t>{order, 0, 249}, nullptr),
                    "launch");
            const index_t kept = n / 251 * 250 + std::min<index_t>(n % 251, 250);
            require(arch::launch(check_numbers, {4096, 256}, nullptr, to, kept, wrong.data()),
                    "check");
            require(cudaDeviceSynchronize(), "run");
            EXPECT_EQ(count.host()[0], kept);
            EXPECT_EQ(wrong.host()[0], 0U);
        }
    }
}

TEST_F(Compact, ReplaysOfAGraph) {
    constexpr index_t n = 3000001;
    std::vector<std::uint32_t> items(n);
    std::vector<std::uint32_t> kept;
    for (index_t i = 0; i < n; ++i) {
        items[static_cast<std::size_t>(i)] = test_item<std::uint32_t>(i);
    }
    std::copy_if(items.begin(), items.end(), std::back_inserter(kept), divides_by_three{});
    const device_array<std::uint32_t> in(items);
    device_array<std::uint32_t> out(kept.size());
    device_array<index_t> count(1);
    const workspace memory(n);
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    require(cudaStreamCreate(&stream), "stream");
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    for (int i = 0; i < 2; ++i) {
        require(
            device::compact(
                memory.get(),
                device::compact_request<moved_items<std::uint32_t>>{
                    .rows = {in.data(), out.data(), nullptr}, .items = n, .count = count.data()},
                device::rows_that<divides_by_three>{}, stream),
            "launch");
    }
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    for (int replay = 0; replay < 20; ++replay) {
        out.fill_bytes(poison);
        require(cudaGraphLaunch(exec, stream), "replay");
        require(cudaStreamSynchronize(stream), "replay");
        ASSERT_TRUE(out.host() == kept) << "replay " << replay;
        ASSERT_EQ(count.host()[0], static_cast<index_t>(kept.size()));
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
#endif

}  // namespace
}  // namespace lookback::test
