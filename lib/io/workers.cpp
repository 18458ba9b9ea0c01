#include "io/workers.hpp"

#include <sched.h>

namespace lookback::io {

int thread_count(const transfer_options& options, std::uint64_t items) {
    int threads = options.threads;
    if (threads <= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        threads = sched_getaffinity(0, sizeof(set), &set) == 0
                      ? CPU_COUNT(&set)
                      : static_cast<int>(std::thread::hardware_concurrency());
    }
    return static_cast<int>(
        std::clamp<std::uint64_t>(items, 1, static_cast<std::uint64_t>(std::max(1, threads))));
}

void throw_stopped() {
    throw error(error_kind::io_error, "the transfer was stopped on request");
}

}  // namespace lookback::io
