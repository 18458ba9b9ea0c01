#include "h5select/held_rows.hpp"

#include <lookback/compact.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace lookback::apps::h5select {
namespace {

std::unique_ptr<std::byte[]> room_for(bool wanted, std::uint64_t bytes) {
    if (!wanted || bytes == 0) return nullptr;
    return std::make_unique_for_overwrite<std::byte[]>(bytes);
}

}  // namespace

void plan_held_rows(plan& planned, const request& wanted) {
    constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
    constexpr std::uint64_t whole_bytes = std::uint64_t{256} << 20;
    if (!wanted.writes()) return;
    const auto& datasets = planned.input.datasets();
    for (std::size_t s = 0; s < planned.streams.size(); ++s) {
        const io::dataset& read = planned.streams[s].dataset;
        if (planned.streams[s].form != io::form::stored || read.type().has_pointers ||
            read.projected() || read.filters().empty()) {
            continue;
        }
        for (std::size_t c = 0; c < datasets.size(); ++c) {
            if (datasets[c].projected() || datasets[c].address() != read.address()) continue;
            planned.shared.push_back({s, c});
        }
    }
    if (planned.shared.empty()) return;
    const std::uint64_t cap = wanted.common.memory;
    const std::uint64_t whole = cap == 0 ? whole_bytes : std::min(whole_bytes, cap);
    const std::uint64_t left = whole - std::min(whole, planned.memory_bytes);
    std::uint64_t row_bytes = 0;
    for (const shared_column& each : planned.shared) {
        row_bytes += planned.streams[each.stream].row_bytes();
    }
    planned.held_bytes = std::min({most_bytes, left, row_bytes * planned.rows()});
    planned.memory_bytes += planned.held_bytes;
}

held_rows::held_rows(const plan& planned, const context& context, bool kept, bool rest)
    : plan_(planned),
      context_(context),
      kept_(kept),
      rest_(rest),
      full_(planned.shared.empty() || !(kept || rest)),
      parts_(planned.shared.size()) {}

void held_rows::take(std::span<const std::byte* const> data, std::uint64_t rows,
                     std::span<const std::uint64_t> words) {
    if (full_) return;
    std::uint64_t kept = 0;
    for (const std::uint64_t word : words) kept += static_cast<std::uint64_t>(std::popcount(word));
    const std::uint64_t wanted = (kept_ ? kept : 0) + (rest_ ? rows - kept : 0);
    std::uint64_t bytes = bytes_;
    for (const shared_column& each : plan_.shared) {
        bytes += wanted * plan_.streams[each.stream].row_bytes();
    }
    full_ = bytes > plan_.held_bytes;
    if (full_) return;
    bytes_ = bytes;
    rows_ += rows;
    std::vector<moved_rows> columns;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::size_t stream = plan_.shared[i].stream;
        const std::size_t row_bytes = plan_.streams[stream].row_bytes();
        part own;
        own.kept = room_for(kept_, kept * row_bytes);
        own.rest = room_for(rest_, (rows - kept) * row_bytes);
        if (own.kept) own.kept_rows = kept;
        if (own.rest) own.rest_rows = rows - kept;
        if (own.kept || own.rest) {
            columns.push_back({data[stream], row_bytes, own.kept.get(), own.rest.get()});
            parts_[i].push_back(std::move(own));
        }
    }
    if (columns.empty()) return;
    compact(context_, row_flags::bits(words, rows), columns, {kept, rows - kept});
}

std::uint64_t held_rows::rows_of(std::size_t column) const {
    const bool shared =
        std::any_of(plan_.shared.begin(), plan_.shared.end(),
                    [&](const shared_column& each) { return each.column == column; });
    return shared ? rows_ : 0;
}

std::vector<held_rows::part> held_rows::release(std::size_t column) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (plan_.shared[i].column == column) return std::exchange(parts_[i], {});
    }
    return {};
}

}  // namespace lookback::apps::h5select
