#include "cpu/executor.hpp"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace lookback::cpu {

executor::executor(int threads) : arena_(threads), threads_(threads) {
    if (threads > available_threads()) {
        // oneTBB starts no more threads than there are cores unless it is told to. The least of all
        // such limits holds, so every executor names the same one; arenas bound themselves.
        constexpr std::size_t limit = 1024;
        more_than_cores_.emplace(tbb::global_control::max_allowed_parallelism, limit);
    }
}

int available_threads() {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int allowed = sched_getaffinity(0, sizeof(set), &set) == 0
                            ? CPU_COUNT(&set)
                            : static_cast<int>(std::thread::hardware_concurrency());
    return std::max(1, allowed);
}

}  // namespace lookback::cpu
