// CUDA backend: the compactions of the API: comparisons, neighbours, flags, columns, the staged
// form. Invariant: one column of a plain row size moves in one launch; others are marked once, and
// each moves by the marks.
#include "cuda/compact_column.cuh"
#include "cuda/key_width.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/device/compact_words.cuh>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace lookback::cuda {
namespace {

gpu_device& own(device& device) {
    auto& gpu = static_cast<gpu_device&>(device);
    cuda_check(cudaSetDevice(gpu.ordinal()), "select the device");
    return gpu;
}

index_t room_of(std::size_t room) {
    constexpr auto most = std::numeric_limits<index_t>::max();
    return room < static_cast<std::size_t>(most) ? static_cast<index_t>(room) : most;
}

/// How many rows pass, told by a kernel.
class row_counter {
public:
    explicit row_counter(gpu_device& gpu) : gpu_(gpu), count_(gpu.memory(), 1) {}
    index_t* told() const { return count_.data(); }
    std::size_t wait() const {
        index_t count = 0;
        gpu_.copy(&count, count_.data(), sizeof(count));
        return static_cast<std::size_t>(count);
    }

private:
    gpu_device& gpu_;
    buffer<index_t> count_;
};

flags_in_memory flags_of(const gpu_device& gpu, const row_flags& flags) {
    gpu.require_own(flags.data, "compact: flags");
    return {flags.data, flags.from == row_flags::source::bits, flags.inverted};
}

void mark(gpu_device& gpu, const flags_in_memory& flags, std::size_t rows,
          const kernels::marks_alone& marks, index_t* count) {
    const auto items = static_cast<index_t>(rows);
    const kernels::compact_request<kernels::marks_alone> request{
        .rows = marks, .items = items, .count = count, .inverted = flags.inverted};
    cuda_check(kernels::compact(compact_workspace(gpu, items), request,
                                kernels::memory_flags{flags.data, flags.bits}, gpu.native_stream()),
               "launch the marking of rows");
}

/// The greatest power of two that divides the row size and all addresses.
std::size_t unit_of(const moved_rows& column) {
    const auto bits = reinterpret_cast<std::uintptr_t>(column.in) |
                      reinterpret_cast<std::uintptr_t>(column.kept) |
                      reinterpret_cast<std::uintptr_t>(column.rest) | column.row_bytes;
    return bits & (0 - bits);
}

bool is_flat(const moved_rows& column) {
    return column.row_bytes <= 16 && unit_of(column) == column.row_bytes;
}

bool in_place(const moved_rows& column) {
    return column.kept == column.in;
}

flat_column flat(const moved_rows& column, std::size_t rows, const compact_room& room,
                 index_t* count) {
    return {column.in,
            column.row_bytes,
            column.kept,
            column.rest,
            static_cast<index_t>(rows),
            room_of(room.kept),
            room_of(room.rest),
            count};
}

/// The marks of all rows, and how many precede each chunk of them.
struct marked_rows {
    marked_rows(memory_resource& memory, std::size_t rows)
        : words(memory, (rows + 31) / 32),
          offsets(memory, (rows + tuning::offset_rows - 1) / tuning::offset_rows) {}
    buffer<std::uint32_t> words;
    buffer<index_t> offsets;
};

void move_wide(gpu_device& gpu, const moved_rows& column, std::size_t rows,
               const compact_room& room, const marked_rows& marks) {
    with_bits(std::min<std::size_t>(8, unit_of(column)), [&](auto word) {
        using Word = decltype(word);
        const kernels::wide_rows<Word> wide{static_cast<const Word*>(column.in),
                                            static_cast<Word*>(column.kept),
                                            static_cast<Word*>(column.rest),
                                            static_cast<index_t>(column.row_bytes / sizeof(Word)),
                                            static_cast<index_t>(rows),
                                            room_of(room.kept),
                                            room_of(room.rest)};
        cuda_check(
            kernels::move_wide(wide, marks.words.data(), marks.offsets.data(), gpu.native_stream()),
            "launch the move of a column");
    });
}

void move_column(gpu_device& gpu, memory_resource& memory, const moved_rows& column,
                 std::size_t rows, const compact_room& room, const marked_rows& marks,
                 std::size_t kept) {
    if (is_flat(column)) {
        const flat_column moved = flat(column, rows, room, nullptr);
        if (in_place(column)) {
            compact_flat(gpu, moved, {marks.words.data(), true, false});
        } else {
            move_flat(gpu, moved, marks.words.data(), marks.offsets.data());
        }
        return;
    }
    if (!in_place(column)) return move_wide(gpu, column, rows, room, marks);
    // Nothing tells when a row has been read: what is kept waits elsewhere.
    const std::size_t bytes = std::min(kept, room.kept) * column.row_bytes;
    const buffer<std::byte> waiting(memory, bytes);
    moved_rows apart = column;
    apart.kept = waiting.data();
    move_wide(gpu, apart, rows, room, marks);
    if (bytes == 0) return;
    cuda_check(cudaMemcpyAsync(column.kept, waiting.data(), bytes, cudaMemcpyDeviceToDevice,
                               gpu.native_stream()),
               "copy kept rows");
}

template <class Bits>
core::key_order<Bits> order_of(data_type type) {
    return core::make_key_order<Bits>(kind_of(type), false, false);
}

/// The numbers of the items with `item op value`. NaN is above all numbers.
template <class Bits>
item_range<Bits> range_of(data_type type, comparison op, const void* value) {
    constexpr auto all = static_cast<Bits>(~Bits{0});
    item_range<Bits> range{order_of<Bits>(type), 0, all, false};
    const item_range<Bits> none{range.order, 0, all, true};
    Bits bits;
    std::memcpy(&bits, value, sizeof(bits));
    Bits greatest = all;
    if constexpr (sizeof(Bits) > 1) {
        using floats = core::float_order<Bits>;
        if (range.order.floating) {
            if (floats::is_nan(bits)) return op == comparison::not_equal ? range : none;
            greatest = range.order(floats::infinity);
        }
    }
    const Bits at = range.order(bits);
    const auto from_to = [&](Bits low, Bits high) {
        range.low = low;
        range.span = static_cast<Bits>(high - low);
        return range;
    };
    switch (op) {
        case comparison::less:
            return at == 0 ? none : from_to(0, static_cast<Bits>(at - 1));
        case comparison::less_equal:
            return from_to(0, at);
        case comparison::not_equal:
            range.inverted = true;
            [[fallthrough]];
        case comparison::equal:
            return from_to(at, at);
        case comparison::greater_equal:
            return from_to(at, greatest);
        case comparison::greater:
            return at == greatest ? none : from_to(static_cast<Bits>(at + 1), greatest);
    }
    return none;
}

template <class Bits>
compact_items<Bits> items_of(const typed_items& items, void* out, std::size_t room,
                             index_t* count) {
    return {static_cast<const Bits*>(items.in), static_cast<index_t>(items.items),
            static_cast<Bits*>(out), room_of(room), count};
}

}  // namespace

std::size_t count_rows(device& device, const row_flags& flags) {
    if (flags.rows == 0) return 0;
    gpu_device& gpu = own(device);
    const row_counter counter(gpu);
    mark(gpu, flags_of(gpu, flags), flags.rows, {nullptr, nullptr}, counter.told());
    return counter.wait();
}

std::size_t compact(device& device, memory_resource& memory, const row_flags& flags,
                    std::span<const moved_rows> columns, const compact_room& room) {
    if (flags.rows == 0) return 0;
    gpu_device& gpu = own(device);
    for (const moved_rows& column : columns) {
        gpu.require_own(column.in, "compact: in");
        if (column.kept != nullptr) gpu.require_own(column.kept, "compact: kept");
        if (column.rest != nullptr) gpu.require_own(column.rest, "compact: rest");
    }
    const flags_in_memory marked = flags_of(gpu, flags);
    const row_counter counter(gpu);
    if (columns.size() == 1 && is_flat(columns[0])) {
        compact_flat(gpu, flat(columns[0], flags.rows, room, counter.told()), marked);
        return counter.wait();
    }
    if (columns.empty()) return count_rows(device, flags);
    const marked_rows marks(memory, flags.rows);
    mark(gpu, marked, flags.rows, {marks.words.data(), marks.offsets.data()}, counter.told());
    const std::size_t kept = counter.wait();
    for (const moved_rows& column : columns) {
        move_column(gpu, memory, column, flags.rows, room, marks, kept);
    }
    return kept;
}

template <class Index>
std::size_t compact_indices(device& device, const row_flags& flags, std::span<Index> out) {
    if (flags.rows == 0) return 0;
    if (out.empty()) return count_rows(device, flags);
    gpu_device& gpu = own(device);
    gpu.require_own(out.data(), "compact_indices: out");
    const flags_in_memory marked = flags_of(gpu, flags);
    const row_counter counter(gpu);
    const auto rows = static_cast<index_t>(flags.rows);
    const kernels::compact_request<kernels::row_numbers<Index>> request{
        .rows = {out.data()},
        .items = rows,
        .count = counter.told(),
        .kept_room = room_of(out.size()),
        .inverted = marked.inverted};
    cuda_check(
        kernels::compact(compact_workspace(gpu, rows), request,
                         kernels::memory_flags{marked.data, marked.bits}, gpu.native_stream()),
        "launch a compaction");
    return counter.wait();
}
template std::size_t compact_indices(device&, const row_flags&, std::span<std::uint32_t>);
template std::size_t compact_indices(device&, const row_flags&, std::span<std::int64_t>);

std::size_t compact_if(device& device, const typed_items& items, comparison op, const void* value,
                       void* out, std::size_t room) {
    if (items.items == 0) return 0;
    gpu_device& gpu = own(device);
    gpu.require_own(items.in, "compact_if: in");
    if (room != 0) gpu.require_own(out, "compact_if: out");
    const row_counter counter(gpu);
    with_bits(size_of(items.type), [&](auto bits) {
        using Bits = decltype(bits);
        compact_column<Bits>::in_range(gpu, items_of<Bits>(items, out, room, counter.told()),
                                       range_of<Bits>(items.type, op, value));
    });
    return counter.wait();
}

std::size_t unique(device& device, const typed_items& items, void* out, std::size_t room) {
    if (items.items == 0) return 0;
    gpu_device& gpu = own(device);
    gpu.require_own(items.in, "unique: in");
    if (room != 0) gpu.require_own(out, "unique: out");
    const row_counter counter(gpu);
    with_bits(size_of(items.type), [&](auto bits) {
        using Bits = decltype(bits);
        compact_column<Bits>::unique(gpu, items_of<Bits>(items, out, room, counter.told()),
                                     order_of<Bits>(items.type));
    });
    return counter.wait();
}

void mark_flags(device& device, const typed_items& items, comparison op, const void* value,
                std::uint8_t* flags) {
    if (items.items == 0) return;
    gpu_device& gpu = own(device);
    gpu.require_own(items.in, "mark_flags: in");
    gpu.require_own(flags, "mark_flags: flags");
    with_bits(size_of(items.type), [&](auto bits) {
        using Bits = decltype(bits);
        compact_column<Bits>::mark_range(gpu, static_cast<const Bits*>(items.in),
                                         static_cast<index_t>(items.items),
                                         range_of<Bits>(items.type, op, value), flags);
    });
}

void mark_heads(device& device, std::span<const sort_key> keys, std::span<std::uint8_t> flags) {
    if (flags.empty()) return;
    gpu_device& gpu = own(device);
    const auto rows = static_cast<index_t>(flags.size());
    for (std::size_t k = 0; k < keys.size(); ++k) {
        const sort_key& key = keys[k];
        gpu.require_own(key.data, "unique_by_key: a key");
        const bool keep = k > 0;
        if (key.string_bytes != 0) {
            cuda_check(kernels::mark_string_heads(static_cast<const unsigned char*>(key.data),
                                                  static_cast<index_t>(key.string_bytes), rows,
                                                  keep, flags.data(), gpu.native_stream()),
                       "launch the marking of strings");
            continue;
        }
        with_bits(size_of(key.type), [&](auto bits) {
            using Bits = decltype(bits);
            compact_column<Bits>::mark_heads(gpu, static_cast<const Bits*>(key.data), rows,
                                             order_of<Bits>(key.type), keep, flags.data());
        });
    }
}

std::size_t compact_offsets(device& device, std::span<const std::uint8_t> flags,
                            std::span<std::int64_t> offsets) {
    if (flags.empty()) return 0;
    gpu_device& gpu = own(device);
    gpu.require_own(flags.data(), "compact_offsets: flags");
    gpu.require_own(offsets.data(), "compact_offsets: offsets");
    const auto rows = static_cast<index_t>(flags.size());
    cuda_check(arch::launch(kernels::widen_flags<index_t>, kernels::gather_grid(rows),
                            gpu.native_stream(), flags.data(), offsets.data(), rows),
               "launch the widening of flags");
    scan<std::int64_t>(device, offsets.data(), offsets.data(), offsets.size(), true, {});
    std::int64_t before = 0;
    std::uint8_t last = 0;
    gpu.copy(&before, &offsets.back(), sizeof(before));
    gpu.copy(&last, &flags.back(), sizeof(last));
    return static_cast<std::size_t>(before) + (last != 0 ? 1 : 0);
}

std::size_t first_outside(device& device, std::span<const std::uint8_t> flags,
                          const std::int64_t* offsets, std::size_t out_rows) {
    if (flags.empty()) return 0;
    gpu_device& gpu = own(device);
    gpu.require_own(flags.data(), "scatter_flagged: flags");
    gpu.require_own(offsets, "scatter_flagged: offsets");
    const buffer<std::uint64_t> found(gpu.memory(), 1);
    std::uint64_t first = flags.size();
    gpu.copy(found.data(), &first, sizeof(first));
    const auto rows = static_cast<index_t>(flags.size());
    cuda_check(
        arch::launch(kernels::find_flagged_outside, kernels::gather_grid(rows), gpu.native_stream(),
                     flags.data(), offsets, rows, std::uint64_t{out_rows}, found.data()),
        "launch a check of offsets");
    gpu.copy(&first, found.data(), sizeof(first));
    return first;
}

void scatter_flagged(device& device, std::span<const std::uint8_t> flags,
                     const std::int64_t* offsets, const void* in, std::size_t row_bytes,
                     void* out) {
    if (flags.empty()) return;
    gpu_device& gpu = own(device);
    gpu.require_own(in, "scatter_flagged: in");
    gpu.require_own(out, "scatter_flagged: out");
    const auto rows = static_cast<index_t>(flags.size());
    with_bits(std::min<std::size_t>(8, unit_of({in, row_bytes, out, nullptr})), [&](auto word) {
        using Word = decltype(word);
        const auto words = static_cast<index_t>(row_bytes / sizeof(Word));
        cuda_check(arch::launch(kernels::scatter_rows<Word>, kernels::gather_grid(rows * words),
                                gpu.native_stream(), flags.data(), offsets,
                                static_cast<const Word*>(in), static_cast<Word*>(out), rows, words),
                   "launch a scatter");
    });
}

}  // namespace lookback::cuda
