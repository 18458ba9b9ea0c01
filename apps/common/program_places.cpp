#include "common/program_places.hpp"

#include <utility>

namespace lookback::apps {

register_places places_of(const program& of, std::size_t rows) {
    const std::size_t count = of.registers.size();
    std::vector<std::size_t> last(count, 0);
    for (std::size_t at = 0; at < of.code.size(); ++at) {
        const instruction& each = of.code[at];
        last[static_cast<std::size_t>(each.target)] = at;  // what nobody reads ends at once
        for (const int read : {each.left, each.right, each.guard}) {
            if (read >= 0) last[static_cast<std::size_t>(read)] = at;
        }
    }
    last[static_cast<std::size_t>(of.result)] = of.code.size();
    std::vector<std::size_t> slots(count);
    std::vector<std::vector<std::size_t>> ending(of.code.size() + 1);
    for (std::size_t r = 0; r < count; ++r) ending[last[r]].push_back(r);
    std::vector<std::size_t> free[2];
    std::size_t used = 0;
    const auto wide = [&](std::size_t r) {
        return std::size_t{of.registers[r] == value_type::i128 ||
                           of.registers[r] == value_type::text};
    };
    for (std::size_t at = 0; at < of.code.size(); ++at) {
        const auto r = static_cast<std::size_t>(of.code[at].target);
        auto& pool = free[wide(r)];
        if (pool.empty()) {
            slots[r] = used;
            used += rows * (wide(r) != 0 ? 16 : 8);
        } else {
            slots[r] = pool.back();
            pool.pop_back();
        }
        for (const std::size_t ended : ending[at]) free[wide(ended)].push_back(slots[ended]);
    }
    return {std::move(slots), used};
}

}  // namespace lookback::apps
