#include "data.hpp"

#include <thread>
#include <vector>

namespace lookback::bench {

void copy_bytes(void* to, const void* from, std::size_t bytes, int threads) {
    const auto share = [&](std::size_t part) {
        const std::size_t begin = bytes * part / static_cast<std::size_t>(threads);
        const std::size_t end = bytes * (part + 1) / static_cast<std::size_t>(threads);
        std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                    end - begin);
    };
    std::vector<std::jthread> others;
    for (int part = 1; part < threads; ++part) others.emplace_back(share, part);
    share(0);
}

}  // namespace lookback::bench
