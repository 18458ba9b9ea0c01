// Emulated device: the grid of a cooperative launch.
#pragma once

#include "emulated/device.hpp"

namespace cooperative_groups {

struct grid_group {
    void sync(const std::source_location& where = std::source_location::current()) const {
        emulated::grid_barrier(where);
    }
};
inline grid_group this_grid() {
    return {};
}

}  // namespace cooperative_groups
