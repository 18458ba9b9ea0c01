// Apps: a plain split of a range over threads, for passes over memory that the library does not do.
// Invariant: the parts cover [0, n) without overlap; the first exception is rethrown when all
// ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lookback::apps {

/// body(begin, end) for parts of [0, n), at most `threads` of them, none below `least` items.
template <class Body>
void for_each_part(std::uint64_t n, int threads, std::uint64_t least, const Body& body) {
    const std::uint64_t most = std::max<std::uint64_t>(1, n / std::max<std::uint64_t>(1, least));
    const std::uint64_t parts = std::min(most, static_cast<std::uint64_t>(std::max(1, threads)));
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run = [&](std::uint64_t part) {
        try {
            // Without n * part, which could overflow.
            const std::uint64_t share = n / parts;
            const std::uint64_t rest = n % parts;
            const std::uint64_t begin = part * share + std::min(part, rest);
            body(begin, begin + share + (part < rest ? 1 : 0));
        } catch (...) {
            const std::scoped_lock lock(mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> workers;
        for (std::uint64_t part = 1; part < parts; ++part) workers.emplace_back(run, part);
        run(0);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lookback::apps
