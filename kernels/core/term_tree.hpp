// Level L0 (core), host only: conditions as and, or, xor over sets of the keys of columns, and the
// range tests that they come to. Invariant: conditions of one column that meet are one set, so that
// ranges which touch are one test; the table holds what the tree says.
#pragma once

#include <lookback/kernels/core/row_terms.hpp>
#include <lookback/kernels/core/stored_keys.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace lookback::core {

/// A condition as and/or/xor over sets of the keys of columns. Nodes have numbers, and those of
/// their parts are less.
class term_tree {
public:
    enum class join : std::uint8_t { all, any, differ };
    static constexpr int unknown = -1;

    int constant(bool value) { return add({.is = kind::constant, .value = value}); }

    int set(std::uint32_t column, stored_type type, key_set keys) {
        if (keys.empty() || keys.full()) return constant(keys.full());
        if (keys.range_count() > most_ranges) return unknown;
        return add({.is = kind::set, .column = column, .type = type, .keys = std::move(keys)});
    }

    int inverse(int of) {
        if (of == unknown) return unknown;
        const node from = at(of);
        switch (from.is) {
            case kind::constant:
                return constant(!from.value);
            case kind::set:
                return set(from.column, from.type, from.keys.inverse());
            case kind::differ:
                return joined(join::differ, of, constant(true));
            default:
                break;
        }
        std::vector<int> parts;
        parts.reserve(from.parts.size());
        for (const int part : from.parts) parts.push_back(inverse(part));
        return joined(from.is == kind::all ? join::any : join::all, parts);
    }

    int joined(join how, int a, int b) {
        if (a == unknown || b == unknown) return unknown;
        if (how != join::differ) return joined(how, {a, b});
        for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
            if (at(one).is != kind::constant) continue;
            if (!at(one).value) return other;
            if (at(other).is != kind::differ) return inverse(other);
        }
        if (at(a).is == kind::set && at(b).is == kind::set && at(a).column == at(b).column) {
            return set(
                at(a).column, at(a).type,
                key_set::joined(at(a).keys, at(b).keys, [](bool x, bool y) { return x != y; }));
        }
        return add({.is = kind::differ, .parts = {a, b}});
    }

    /// The tests of the tree and their table; nothing where they are too many.
    std::optional<row_terms> terms(int root) const {
        if (root == unknown) return std::nullopt;
        std::vector<bool> needed(nodes_.size());
        needed[index(root)] = true;
        std::vector<test> tests;
        for (std::size_t i = nodes_.size(); i-- > 0;) {
            if (!needed[i]) continue;
            for (const int part : nodes_[i].parts) needed[index(part)] = true;
            if (nodes_[i].is != kind::set) continue;
            for (const test& each : tests_of(nodes_[i])) {
                if (std::find(tests.begin(), tests.end(), each) == tests.end()) {
                    tests.push_back(each);
                }
            }
            if (tests.size() > row_terms::most) return std::nullopt;
        }
        std::sort(tests.begin(), tests.end());
        return written(root, needed, tests);
    }

private:
    // More than these are for the steps.
    static constexpr std::size_t most_ranges = 64;
    static constexpr std::size_t most_parts = 64;
    static constexpr std::size_t most_nodes = 1 << 16;
    static constexpr int most_depth = 64;

    enum class kind : std::uint8_t { constant, set, all, any, differ };
    struct node {
        kind is;
        bool value = false;
        std::uint32_t column = 0;
        stored_type type = stored_type::u8;
        key_set keys = {};
        std::vector<int> parts = {};
        int depth = 0;
    };
    struct test {
        std::uint32_t column;
        std::uint64_t first;
        std::uint64_t last;
        stored_type type;

        std::tuple<std::uint32_t, std::uint64_t, std::uint64_t> place() const {
            return {column, first, last};
        }
        friend bool operator==(const test& a, const test& b) { return a.place() == b.place(); }
        friend bool operator<(const test& a, const test& b) { return a.place() < b.place(); }
    };

    static std::size_t index(int which) { return static_cast<std::size_t>(which); }
    const node& at(int which) const { return nodes_[index(which)]; }
    int add(node made) {
        for (const int part : made.parts) made.depth = std::max(made.depth, at(part).depth + 1);
        if (nodes_.size() >= most_nodes || made.depth > most_depth) return unknown;
        nodes_.push_back(std::move(made));
        return static_cast<int>(nodes_.size()) - 1;
    }

    /// and or or: constants decide or vanish, parts of the same kind are taken apart, sets of one
    /// column become one.
    int joined(join how, const std::vector<int>& given) {
        const kind own = how == join::all ? kind::all : kind::any;
        std::vector<int> parts;
        for (const int each : given) {
            if (each == unknown) return unknown;
            if (at(each).is == own) {
                parts.insert(parts.end(), at(each).parts.begin(), at(each).parts.end());
            } else {
                parts.push_back(each);
            }
        }
        std::vector<int> kept;
        for (int part : parts) {
            if (at(part).is == kind::set) {
                const auto met = std::find_if(kept.begin(), kept.end(), [&](int other) {
                    return at(other).is == kind::set && at(other).column == at(part).column;
                });
                if (met != kept.end()) {
                    const node& other = at(*met);
                    part = set(other.column, other.type,
                               key_set::joined(other.keys, at(part).keys, [&](bool a, bool b) {
                                   return how == join::all ? a && b : a || b;
                               }));
                    if (part == unknown) return unknown;
                    kept.erase(met);
                }
            }
            if (at(part).is == kind::constant) {
                if (at(part).value == (how == join::any)) return part;
                continue;
            }
            kept.push_back(part);
        }
        if (kept.empty()) return constant(how == join::all);
        if (kept.size() == 1) return kept.front();
        if (kept.size() > most_parts) return unknown;
        return add({.is = own, .parts = std::move(kept)});
    }

    /// Whichever has fewer ranges is tested: the set, or what it lacks.
    static bool tests_inverse(const node& of) {
        return of.keys.inverse().range_count() < of.keys.range_count();
    }
    static std::vector<test> tests_of(const node& of) {
        const key_set tested = tests_inverse(of) ? of.keys.inverse() : of.keys;
        std::vector<test> found;
        for (const auto& [first, last] : tested.ranges(stored_keys(of.type).end())) {
            found.push_back({of.column, first, last, of.type});
        }
        return found;
    }

    static row_range range_of(const test& of) {
        const stored_keys keys(of.type);
        const bool real = is_real_type(of.type);
        const auto key = [&](std::uint64_t ordered) {
            const std::uint64_t bits = keys.bits(ordered);
            if (bytes_of(of.type) == 8) return term_key(bits, real);
            return std::uint64_t{
                term_key(static_cast<std::uint32_t>(bits << term_shift(bytes_of(of.type))), real)};
        };
        const std::uint64_t low = key(of.first);
        std::uint64_t span = key(of.last) - low;
        if (bytes_of(of.type) < 8) span &= 0xffffffffU;
        return {low, span};
    }

    row_terms written(int root, const std::vector<bool>& needed,
                      const std::vector<test>& tests) const {
        row_terms made{};
        made.count = static_cast<std::uint32_t>(tests.size());
        for (std::uint32_t t = 0; t < made.count; ++t) {
            made.ranges[t] = range_of(tests[t]);
            if (t == 0 || tests[t].column != tests[t - 1].column) {
                made.groups[made.group_count++] = {tests[t].column, t, 0, 0};
            }
            ++made.groups[made.group_count - 1].count;
        }
        std::vector<std::uint32_t> masks(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (!needed[i] || nodes_[i].is != kind::set) continue;
            for (const test& each : tests_of(nodes_[i])) {
                masks[i] |= 1U << (std::find(tests.begin(), tests.end(), each) - tests.begin());
            }
        }
        std::vector<bool> holds(nodes_.size());
        for (std::uint32_t found = 0; found < std::size(made.table); ++found) {
            for (std::size_t i = 0; i < nodes_.size(); ++i) {
                if (needed[i]) holds[i] = evaluated(nodes_[i], (masks[i] & found) != 0, holds);
            }
            made.table[found] = holds[index(root)] ? ~0U : 0U;
        }
        return made;
    }
    static bool evaluated(const node& of, bool in_some_range, const std::vector<bool>& holds) {
        const auto holding = static_cast<std::size_t>(std::count_if(
            of.parts.begin(), of.parts.end(), [&](int part) { return holds[index(part)]; }));
        switch (of.is) {
            case kind::constant:
                return of.value;
            case kind::set:
                return in_some_range != tests_inverse(of);
            case kind::all:
                return holding == of.parts.size();
            case kind::any:
                return holding > 0;
            default:
                return holding == 1;
        }
    }

    std::vector<node> nodes_;
};

}  // namespace lookback::core
