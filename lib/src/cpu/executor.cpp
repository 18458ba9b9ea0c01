#include "cpu/executor.hpp"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace lookback::cpu {

int available_threads() {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int allowed = sched_getaffinity(0, sizeof(set), &set) == 0
                            ? CPU_COUNT(&set)
                            : static_cast<int>(std::thread::hardware_concurrency());
    return std::max(1, allowed);
}

}  // namespace lookback::cpu
