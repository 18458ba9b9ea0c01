#include "common/program_steps.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace lookback::apps {
namespace {

using core::row_operand;
using core::row_step;

/// What stands in the way; never leaves this file.
struct unsuited {
    steps_obstacle what;
};

core::stored_type stored_as(const program_input& input) {
    if (input.is_truth) return core::stored_type::truth;
    return static_cast<core::stored_type>(input.number);
}
static_assert(static_cast<int>(core::stored_type::f64) == static_cast<int>(data_type::f64));
static_assert(static_cast<int>(core::stored_type::u8) == static_cast<int>(data_type::u8));
static_assert(static_cast<int>(core::stored_type::f16) == static_cast<int>(data_type::f16));

core::row_constant constant_of(const program_constant& value, value_type type) {
    core::row_constant result{};
    const auto put = [&](auto number) { std::memcpy(result.words, &number, sizeof(number)); };
    switch (type) {
        case value_type::f32:
            put(static_cast<float>(value.real));
            break;
        case value_type::f64:
            put(value.real);
            break;
        default:
            put(value.whole);  // its low part is the narrower number
    }
    return result;
}

class lowering {
public:
    explicit lowering(const program& code) : code_(code), places_(code.registers.size()) {}

    program_steps run() {
        for (const program_input& input : code_.inputs) out_.columns.push_back(stored_as(input));
        find_last_reads();
        for (std::size_t at = 0; at < code_.code.size(); ++at) {
            column_ = code_.code[at].column;
            lower(code_.code[at], at);
        }
        out_.result = place(code_.result);
        out_.value_slots = static_cast<int>(values_.size());
        return std::move(out_);
    }

private:
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

    void find_last_reads() {
        last_.assign(code_.registers.size(), 0);
        for (std::size_t at = 0; at < code_.code.size(); ++at) {
            for (const int read : reads(code_.code[at])) last_[index(read)] = at;
        }
        last_[index(code_.result)] = never;
    }
    static std::size_t index(int which) { return static_cast<std::size_t>(which); }
    static std::vector<int> reads(const instruction& each) {
        std::vector<int> found;
        for (const int read : {each.left, each.right, each.guard}) {
            if (read >= 0) found.push_back(read);
        }
        return found;
    }
    row_operand place(int which) const { return which < 0 ? row_operand{} : places_[index(which)]; }

    [[noreturn]] void give_up(const char* why) const { throw unsuited{{why, column_}}; }

    row_operand at(row_operand::kind kind, std::size_t number) const {
        if (number > UINT16_MAX) give_up("the expression is too long");
        return {kind, 0, static_cast<std::uint16_t>(number)};
    }

    void lower(const instruction& each, std::size_t now) {
        row_operand& target = places_[index(each.target)];
        switch (each.op) {
            case opcode::load:
                if (code_.inputs[each.input].is_text) give_up("text is compared");
                target = at(row_operand::kind::column, each.input);
                return;
            case opcode::row:
                target = at(row_operand::kind::row, 0);
                return;
            case opcode::constant:
                if (each.type == value_type::text) give_up("text is compared");
                target = at(row_operand::kind::constant, out_.constants.size());
                out_.constants.push_back(constant_of(code_.constants[each.input], each.type));
                return;
            default:
                break;
        }
        row_step step{};
        step.op = each.op;
        step.type = each.type;
        step.from = each.from;
        step.left = place(each.left);
        step.right = place(each.right);
        step.guard = row_step::no_guard;
        // Comparisons with a constant are the fast ones where it stands on the right.
        if (core::is_comparison(each.op) && step.left.is == row_operand::kind::constant) {
            std::swap(step.left, step.right);
            step.op = core::mirrored(each.op);
        }
        if (each.checked) {
            step.checked = true;
            out_.checked = true;
            if (each.guard >= 0) step.guard = guard_of(each.guard);
        }
        // A step reads each row's operands before it writes that row's result. A wide result could
        // lie on a narrow operand of the same row, so that its places are taken before others end.
        const bool wide = code_.registers[index(each.target)] == value_type::i128;
        if (!wide) release(each, now);
        target = take(code_.registers[index(each.target)]);
        if (wide) release(each, now);
        step.target = static_cast<std::uint8_t>(target.at);
        out_.steps.push_back(step);
        // What nobody reads ends at once.
        if (last_[index(each.target)] <= now) free(target, code_.registers[index(each.target)]);
    }

    // A guard that is a column or a constant would have to be looked up row by row.
    std::uint8_t guard_of(int which) const {
        const row_operand found = place(which);
        if (found.is != row_operand::kind::marks)
            give_up("a column alone guards what may have no result");
        return static_cast<std::uint8_t>(found.at);
    }

    row_operand take(value_type type) {
        const bool marks = type == value_type::boolean;
        const std::size_t width = type == value_type::i128 ? 2 : 1;
        std::vector<bool>& used = marks ? marks_ : values_;
        const std::size_t most = marks ? core::mark_slots : core::value_slots;
        for (std::size_t slot = 0; slot + width <= most; ++slot) {
            if (used.size() < slot + width) used.resize(slot + width);
            if (used[slot] || used[slot + width - 1]) continue;
            std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(slot), width, true);
            return at(marks ? row_operand::kind::marks : row_operand::kind::values, slot);
        }
        give_up("too many values are held at a time");
    }
    void free(row_operand where, value_type type) {
        const std::size_t width = type == value_type::i128 ? 2 : 1;
        if (where.is == row_operand::kind::marks) marks_[where.at] = false;
        if (where.is != row_operand::kind::values) return;
        std::fill_n(values_.begin() + where.at, width, false);
    }
    void release(const instruction& each, std::size_t now) {
        for (const int read : reads(each)) {
            if (last_[index(read)] == now) free(place(read), code_.registers[index(read)]);
        }
    }

    const program& code_;
    std::vector<row_operand> places_;  // of the registers
    std::vector<std::size_t> last_;    // the instruction that reads each for the last time
    std::vector<bool> values_, marks_;
    std::size_t column_ = 0;  // in the text, of the instruction that is lowered
    program_steps out_;
};

}  // namespace

std::optional<steps_obstacle> why_not_steps(const program& code) {
    try {
        static_cast<void>(lowering(code).run());
        return std::nullopt;
    } catch (const unsuited& found) {
        return found.what;
    }
}

program_steps to_steps(const program& code) {
    try {
        return lowering(code).run();
    } catch (const unsuited& found) {
        throw error(error_kind::invalid_argument,
                    "a GPU cannot run the expression: " + found.what.why);
    }
}

void pack_rows(const input_rows& in, std::size_t bytes, std::size_t rows, std::byte* out) {
    if (in.stride == bytes) {
        std::memcpy(out, in.data, rows * bytes);
    } else {
        for (std::size_t i = 0; i < rows; ++i) {
            std::memcpy(out + i * bytes, in.data + i * in.stride, bytes);
        }
    }
    if (!in.swapped) return;
    for (std::size_t i = 0; i < rows; ++i) std::reverse(out + i * bytes, out + (i + 1) * bytes);
}

}  // namespace lookback::apps
