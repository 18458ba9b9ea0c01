// Columns and rows of any size moved by the marks of a first pass, the numbers of rows, and the
// stages of a compaction one by one.
#include "support/compact_rows.cuh"

#include <lookback/kernels/device/scan.cuh>

namespace lookback::test {
namespace {

class CompactColumns : public CudaTest {};

/// Marks alone, then columns of every width by them, and the numbers of the rows.
void expect_columns(std::size_t size, share kind, std::size_t room) {
    const rows_and_flags<std::uint32_t> rows(size, kind);
    const std::size_t chunks = size / tuning::offset_rows + 1;
    const device_array<std::uint8_t> flags(rows.bytes);
    const zoned_array<std::uint32_t> words((size + 31) / 32, 0);
    const zoned_array<index_t> offsets((size + tuning::offset_rows - 1) / tuning::offset_rows, 0);
    const compact_memory memory(size);
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
    const zoned_array<std::uint32_t> in(rows.items, 0);
    const zoned_array<std::uint32_t> out(kept.size(), 5);
    const zoned_array<std::uint32_t> other(rest.size(), 1);
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
    const zoned_array<index_t> number(numbers.size(), 1);
    require(device::compact(
                memory.get(),
                device::compact_request<row_numbers<index_t>>{
                    .rows = {number.data()}, .items = n, .kept_room = static_cast<index_t>(room)},
                device::memory_flags{words.data(), true}, nullptr),
            "numbers");
    require(cudaDeviceSynchronize(), "run");
    EXPECT_TRUE(number.holds(numbers));
}

TEST_F(CompactColumns, ColumnsAndNumbers) {
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
    const compact_memory memory(size);
    const device_array<std::uint8_t> flags(rows.bytes);
    device_array<std::uint32_t> words(size / 32 + 1);
    device_array<index_t> offsets(size / tuning::offset_rows + 1);
    require(
        device::compact(memory.get(),
                        device::compact_request<marks_alone>{.rows = {words.data(), offsets.data()},
                                                             .items = static_cast<index_t>(size)},
                        device::byte_flags{flags.data()}, nullptr),
        "marks");
    const zoned_array<Word> in(items, 1);
    const zoned_array<Word> out(kept.size(), 3);
    const zoned_array<Word> other(rest.size(), 2);
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

TEST_F(CompactColumns, RowsOfOtherSizes) {
    for (const std::size_t size : {1, 31, 2047, 2048, 2049, 5000}) {
        expect_wide<std::uint8_t>(size, 3, {50, false}, size);
        expect_wide<std::uint16_t>(size, 5, {10, false}, size);
        expect_wide<std::uint32_t>(size, 3, {90, true}, size / 4);
        expect_wide<std::uint64_t>(size, 9, {50, true}, size);
    }
}

// The stages: each array as the plain loops give it.
TEST_F(CompactColumns, Stages) {
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
        const zoned_array<std::uint32_t> in(items, 1);
        const zoned_array<std::uint8_t> flags(size, 3);
        const zoned_array<index_t> offsets(size, 0);
        const zoned_array<std::uint32_t> out(kept.size(), 1);
        const auto n = static_cast<index_t>(size);
        require(device::mark_rows_as_bytes(
                    in.data(), n, device::rows_in_range<std::uint32_t>{order, 0, (1U << 30) - 1},
                    true, false, flags.data(), nullptr),
                "mark");
        require(arch::launch(device::widen_flags<index_t>, device::gather_grid(n), nullptr,
                             flags.data(), offsets.data(), n),
                "widen");
        const compact_memory memory(size);
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

}  // namespace
}  // namespace lookback::test
