#include "common/ragged.hpp"

#include "common/refuse.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lookback::apps {
namespace {

constexpr std::array<std::string_view, 4> names{"offsets", "ends", "starts", "counts"};

std::vector<std::int64_t> offsets_from_counts(std::span<const std::int64_t> counts,
                                              const std::string& where) {
    std::vector<std::int64_t> offsets(counts.size() + 1, 0);
    for (std::size_t s = 0; s < counts.size(); ++s) {
        if (counts[s] < 0) refuse(fmt::format("{}: count {} is {}, negative", where, s, counts[s]));
        if (__builtin_add_overflow(offsets[s], counts[s], &offsets[s + 1])) {
            refuse(
                fmt::format("{}: the counts up to {} add up to more than 64 bits hold", where, s));
        }
    }
    return offsets;
}

std::vector<std::int64_t> offsets_from_starts(std::span<const std::int64_t> starts,
                                              std::optional<std::int64_t> rows,
                                              const std::string& where) {
    if (!rows) {
        refuse(
            fmt::format("{}: starts do not tell where the last segment ends; add --length N, "
                        "the number of items",
                        where));
    }
    std::vector<std::int64_t> offsets(starts.begin(), starts.end());
    // Without segments there is nothing that could cover rows; [0, 0] would be one segment.
    if (offsets.empty()) return {0};
    offsets.push_back(*rows);
    return offsets;
}

void require_valid(convention convention, const std::vector<std::int64_t>& offsets,
                   std::optional<std::int64_t> rows, const std::string& where) {
    // Positions in messages are those of the stored values.
    const std::int64_t shift = convention == convention::ends ? 1 : 0;
    const std::string_view name = name_of(convention);
    const auto tell = [&](std::size_t at) {
        return fmt::format("{}: {} {} is {}", where, name.substr(0, name.size() - 1),
                           static_cast<std::int64_t>(at) - shift, offsets[at]);
    };
    if (offsets.front() != 0) refuse(tell(0) + "; the first segment must begin at 0");
    for (std::size_t s = 1; s < offsets.size(); ++s) {
        if (offsets[s] >= offsets[s - 1]) continue;
        const bool past = convention == convention::starts && s + 1 == offsets.size();
        refuse(past ? tell(s - 1) + fmt::format(", behind the end of the {} items", offsets[s])
                    : tell(s) + fmt::format(", less than the one before it, {}", offsets[s - 1]));
    }
    if (!rows || offsets.back() == *rows) return;
    if (convention == convention::counts) {
        refuse(fmt::format("{}: the counts add up to {}, and there are {} items", where,
                           offsets.back(), *rows));
    }
    if (offsets.size() == 1) {
        refuse(fmt::format("{}: there are no segments, and there are {} items", where, *rows));
    }
    refuse(tell(offsets.size() - 1) +
           fmt::format("; the last must be the number of items, {}", *rows));
}

}  // namespace

std::string_view name_of(convention convention) {
    return names[static_cast<std::size_t>(convention)];
}

convention parse_convention(std::string_view option, std::string_view text) {
    const auto* const found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
        refuse(fmt::format("option '{}': '{}' is none of offsets, ends, starts, counts", option,
                           text));
    }
    return static_cast<convention>(found - names.begin());
}

std::vector<std::int64_t> to_offsets(convention convention, std::span<const std::int64_t> values,
                                     std::optional<std::int64_t> rows, const std::string& where) {
    std::vector<std::int64_t> offsets;
    switch (convention) {
        case convention::offsets:
            if (values.empty()) {
                refuse(
                    fmt::format("{}: there are no offsets; n segments have n + 1 of them", where));
            }
            offsets.assign(values.begin(), values.end());
            break;
        case convention::ends:
            offsets.assign(1, 0);
            offsets.insert(offsets.end(), values.begin(), values.end());
            break;
        case convention::starts:
            offsets = offsets_from_starts(values, rows, where);
            break;
        case convention::counts:
            offsets = offsets_from_counts(values, where);
            break;
    }
    require_valid(convention, offsets, rows, where);
    return offsets;
}

std::vector<std::int64_t> from_offsets(convention convention, std::vector<std::int64_t> offsets) {
    switch (convention) {
        case convention::offsets:
            break;
        case convention::ends:
            offsets.erase(offsets.begin());
            break;
        case convention::starts:
            offsets.pop_back();
            break;
        case convention::counts:
            for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
                offsets[s] = offsets[s + 1] - offsets[s];
            }
            offsets.pop_back();
            break;
    }
    return offsets;
}

}  // namespace lookback::apps
