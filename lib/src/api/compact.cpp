#include "cpu/compact.hpp"

#include "api/context_state.hpp"
#include "api/sort_checks.hpp"
#include "cpu/key_column.hpp"
#include "cpu/row_order.hpp"
#include "item_list.hpp"

#include <lookback/buffer.hpp>
#include <lookback/compact.hpp>
#include <lookback/scan.hpp>

#include <string>
#include <vector>

namespace lookback {
namespace {

std::size_t flag_bytes(const row_flags& flags) {
    switch (flags.from) {
        case row_flags::source::bytes:
            return flags.rows;
        case row_flags::source::bits:
            return (flags.rows + 63) / 64 * 8;
        case row_flags::source::computed:
            break;
    }
    return 0;
}

void check_flags(const char* who, const row_flags& flags) {
    const bool there =
        flags.from == row_flags::source::computed ? bool{flags.mark} : flags.data != nullptr;
    if (flags.rows != 0 && !there) refuse(who, "there are no flags");
}

/// The device of a CUDA context, or null; only flags in memory can go there.
cuda::device* device_for(const char* who, const context& context, const row_flags& flags) {
    cuda::device* const device = context.internal().device.get();
    if (device != nullptr && flags.from == row_flags::source::computed) {
        refuse(who,
               "computed flags are for a CPU context; give flags as bytes or bits in the device's "
               "memory");
    }
    return device;
}

template <class T>
cuda::typed_items typed(std::span<const T> in) {
    return {in.data(), type_of<T>(), in.size()};
}

/// One array of a compaction, for the check of overlaps.
struct named_bytes {
    std::string name;
    const void* data;
    std::size_t bytes;
};

// Rows that are written: of the input's number, or as many as there is room for.
std::size_t written(std::size_t rows, std::size_t room, std::size_t row_bytes) {
    return std::min(rows, room) * row_bytes;
}

std::vector<cpu::compact_column> check_columns(const char* who, const row_flags& flags,
                                               std::span<const moved_rows> columns,
                                               const compact_room& room) {
    std::vector<cpu::compact_column> checked;
    std::vector<named_bytes> read;
    std::vector<named_bytes> out;
    read.push_back({"flags", flags.data, flag_bytes(flags)});
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const moved_rows& column = columns[c];
        const std::string name = "column " + std::to_string(c);
        if (column.row_bytes == 0) refuse(who, name + " has rows of 0 bytes");
        if (flags.rows > PTRDIFF_MAX / column.row_bytes) {
            refuse(who, name + " exceeds the address space");
        }
        if (column.in == nullptr && flags.rows != 0) refuse(who, name + " has no rows");
        read.push_back({name + "'s in", column.in, flags.rows * column.row_bytes});
        out.push_back(
            {name + "'s kept", column.kept,
             column.kept != nullptr ? written(flags.rows, room.kept, column.row_bytes) : 0});
        out.push_back(
            {name + "'s rest", column.rest,
             column.rest != nullptr ? written(flags.rows, room.rest, column.row_bytes) : 0});
        checked.push_back({static_cast<const std::byte*>(column.in), column.row_bytes,
                           static_cast<std::byte*>(column.kept),
                           static_cast<std::byte*>(column.rest)});
    }
    for (std::size_t o = 0; o < out.size(); ++o) {
        for (std::size_t r = 0; r < read.size(); ++r) {
            // Column c reads at 1 + c, and keeps at 2 c.
            const bool in_place = o % 2 == 0 && r == 1 + o / 2 && out[o].data == read[r].data;
            if (in_place) continue;
            check_apart(who, read[r].name.c_str(), read[r].data, read[r].bytes, out[o].name.c_str(),
                        out[o].data, out[o].bytes);
        }
        for (std::size_t p = 0; p < o; ++p) {
            check_apart(who, out[p].name.c_str(), out[p].data, out[p].bytes, out[o].name.c_str(),
                        out[o].data, out[o].bytes);
        }
    }
    return checked;
}

void require_room(const char* who, std::size_t rows, std::size_t kept, const compact_room& room,
                  bool has_rest) {
    if (kept > room.kept) {
        refuse(who, std::to_string(kept) + " rows pass, and there is room for " +
                        std::to_string(room.kept));
    }
    if (has_rest && rows - kept > room.rest) {
        refuse(who, std::to_string(rows - kept) + " rows do not pass, and there is room for " +
                        std::to_string(room.rest));
    }
}

std::size_t run(const context& context, std::size_t rows, const cpu::block_marker& mark,
                std::span<const cpu::compact_column> columns, const compact_room& room) {
    return cpu::compact(*context.internal().executor, context.memory(), rows, mark, columns, room);
}

template <class T>
void check_items(const char* who, std::span<const T> in, std::span<T> out) {
    if (in.data() == out.data()) return;
    check_apart(who, "in", in.data(), in.size_bytes(), "out", out.data(),
                std::min(in.size_bytes(), out.size_bytes()));
}

/// `kept`, where out has room for so many.
template <class T>
std::size_t counted(const char* who, std::span<const T> in, std::span<T> out, std::size_t kept) {
    require_room(who, in.size(), kept, {out.size(), compact_room::ample}, false);
    return kept;
}

template <class T>
std::size_t compact_items(const char* who, const context& context, std::span<const T> in,
                          std::span<T> out, const cpu::block_marker& mark) {
    const cpu::compact_column column{reinterpret_cast<const std::byte*>(in.data()), sizeof(T),
                                     reinterpret_cast<std::byte*>(out.data()), nullptr};
    const compact_room room{out.size(), compact_room::ample};
    return counted(who, in, out, run(context, in.size(), mark, {&column, 1}, room));
}

/// The first flagged row whose offset is outside [0, out_rows), or their number.
std::size_t first_outside(std::span<const std::uint8_t> flags,
                          std::span<const std::int64_t> offsets, std::size_t out_rows) {
    for (std::size_t i = 0; i < flags.size(); ++i) {
        if (flags[i] != 0 && static_cast<std::uint64_t>(offsets[i]) >= out_rows) return i;
    }
    return flags.size();
}

void check_comparison(const char* who, comparison op) {
    if (op > comparison::greater) {
        refuse(who, "there is no comparison " + std::to_string(static_cast<int>(op)));
    }
}

}  // namespace

std::size_t count_rows(const context& context, const row_flags& flags) {
    constexpr const char* who = "count_rows";
    check_flags(who, flags);
    if (cuda::device* const device = device_for(who, context, flags)) {
        return cuda::count_rows(*device, flags);
    }
    return run(context, flags.rows, cpu::marker_of(flags), {}, {});
}

std::size_t compact(const context& context, const row_flags& flags,
                    std::span<const moved_rows> columns, const compact_room& room) {
    constexpr const char* who = "compact";
    check_flags(who, flags);
    const auto checked = check_columns(who, flags, columns, room);
    cuda::device* const device = device_for(who, context, flags);
    const std::size_t kept = device != nullptr
                                 ? cuda::compact(*device, context.memory(), flags, columns, room)
                                 : run(context, flags.rows, cpu::marker_of(flags), checked, room);
    const bool has_rest = std::any_of(columns.begin(), columns.end(), [](const moved_rows& column) {
        return column.rest != nullptr;
    });
    require_room(who, flags.rows, kept, room, has_rest);
    return kept;
}

template <class Index>
std::size_t compact_indices(const context& context, const row_flags& flags, std::span<Index> out) {
    constexpr const char* who = "compact_indices";
    check_flags(who, flags);
    if (sizeof(Index) == 4 && flags.rows > std::size_t{1} << 32) {
        refuse(who, std::to_string(flags.rows) + " rows need indices of 64 bits");
    }
    check_apart(who, "flags", flags.data, flag_bytes(flags), "out", out.data(), out.size_bytes());
    const compact_room room{out.size(), compact_room::ample};
    std::size_t kept = 0;
    if (cuda::device* const device = device_for(who, context, flags)) {
        kept = cuda::compact_indices(*device, flags, out);
    } else {
        const cpu::compact_column column{nullptr, sizeof(Index),
                                         reinterpret_cast<std::byte*>(out.data()), nullptr};
        kept =
            run(context, flags.rows, cpu::marker_of(flags), {&column, out.empty() ? 0U : 1U}, room);
    }
    require_room(who, flags.rows, kept, room, false);
    return kept;
}
template std::size_t compact_indices(const context&, const row_flags&, std::span<std::uint32_t>);
template std::size_t compact_indices(const context&, const row_flags&, std::span<std::int64_t>);

template <arithmetic_item T>
std::size_t compact_if(const context& context, std::span<const T> in, comparison op, T value,
                       std::span<T> out) {
    constexpr const char* who = "compact_if";
    check_comparison(who, op);
    check_items(who, in, out);
    if (const auto& device = context.internal().device) {
        return counted(who, in, out,
                       cuda::compact_if(*device, typed(in), op, &value, out.data(), out.size()));
    }
    return compact_items(who, context, in, out, cpu::compare_marker(in.data(), op, value));
}

template <arithmetic_item T>
std::size_t unique(const context& context, std::span<const T> in, std::span<T> out) {
    constexpr const char* who = "unique";
    check_items(who, in, out);
    if (const auto& device = context.internal().device) {
        return counted(who, in, out, cuda::unique(*device, typed(in), out.data(), out.size()));
    }
    return compact_items(who, context, in, out, cpu::heads_marker(in.data()));
}

std::size_t unique_by_key(const context& context, std::span<const sort_key> keys, std::size_t rows,
                          std::span<const moved_rows> columns, const compact_room& room) {
    constexpr const char* who = "unique_by_key";
    check_keys(who, keys, rows);
    const buffer<std::uint8_t> heads(context, rows);
    if (const auto& device = context.internal().device) {
        cuda::mark_heads(*device, keys, heads.span());
    } else {
        cpu::mark_heads(*context.internal().executor, cpu::columns_of(keys), heads.span());
    }
    return compact(context, row_flags::bytes(heads.span()), columns, room);
}

template <arithmetic_item T>
void mark_flags(const context& context, std::span<const T> in, comparison op, T value,
                std::span<std::uint8_t> flags) {
    constexpr const char* who = "mark_flags";
    check_comparison(who, op);
    if (flags.size() != in.size()) {
        refuse(who, "in has " + std::to_string(in.size()) + " items, but flags has " +
                        std::to_string(flags.size()));
    }
    check_apart(who, "in", in.data(), in.size_bytes(), "flags", flags.data(), flags.size());
    if (const auto& device = context.internal().device) {
        cuda::mark_flags(*device, typed(in), op, &value, flags.data());
        return;
    }
    cpu::bytes_of(*context.internal().executor, in.size(),
                  cpu::compare_marker(in.data(), op, value), flags.data());
}

std::size_t compact_offsets(const context& context, std::span<const std::uint8_t> flags,
                            std::span<std::int64_t> offsets) {
    constexpr const char* who = "compact_offsets";
    if (flags.size() != offsets.size()) {
        refuse(who, "flags has " + std::to_string(flags.size()) + " items, but offsets has " +
                        std::to_string(offsets.size()));
    }
    check_apart(who, "flags", flags.data(), flags.size(), "offsets", offsets.data(),
                offsets.size_bytes());
    if (const auto& device = context.internal().device) {
        return cuda::compact_offsets(*device, flags, offsets);
    }
    if (flags.empty()) return 0;
    for (std::size_t i = 0; i < flags.size(); ++i) offsets[i] = flags[i] != 0;
    const std::int64_t last = offsets.back();
    exclusive_scan<std::int64_t>(context, offsets, offsets);
    return static_cast<std::size_t>(offsets.back() + last);
}

void scatter_flagged(const context& context, std::span<const std::uint8_t> flags,
                     std::span<const std::int64_t> offsets, const void* in, std::size_t row_bytes,
                     void* out, std::size_t out_rows) {
    constexpr const char* who = "scatter_flagged";
    if (flags.size() != offsets.size()) {
        refuse(who, "flags has " + std::to_string(flags.size()) + " items, but offsets has " +
                        std::to_string(offsets.size()));
    }
    if (row_bytes == 0) refuse(who, "rows of 0 bytes");
    check_apart(who, "in", in, flags.size() * row_bytes, "out", out, out_rows * row_bytes);
    const auto& device = context.internal().device;
    const std::size_t at = device ? cuda::first_outside(*device, flags, offsets.data(), out_rows)
                                  : first_outside(flags, offsets, out_rows);
    if (at != flags.size()) {
        std::int64_t offset = 0;
        context.copy(&offset, &offsets[at], sizeof(offset));
        refuse(who, "offset " + std::to_string(at) + " is " + std::to_string(offset) +
                        ", outside [0, " + std::to_string(out_rows) + ")");
    }
    if (device) {
        cuda::scatter_flagged(*device, flags, offsets.data(), in, row_bytes, out);
    } else {
        cpu::scatter(*context.internal().executor, flags, offsets.data(),
                     static_cast<const std::byte*>(in), row_bytes, static_cast<std::byte*>(out));
    }
}

#define LOOKBACK_COMPACTABLE(T)                                                        \
    template std::size_t compact_if(const context&, std::span<const T>, comparison, T, \
                                    std::span<T>);                                     \
    template std::size_t unique(const context&, std::span<const T>, std::span<T>);     \
    template void mark_flags(const context&, std::span<const T>, comparison, T,        \
                             std::span<std::uint8_t>)

LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_COMPACTABLE);
#undef LOOKBACK_COMPACTABLE

}  // namespace lookback
