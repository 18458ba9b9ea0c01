// Emulated device: streams that are late: what is asked of a stream that was made happens only when
// somebody waits for it. So a host that touches memory before the device is done with it is found
// out. Invariant: the order of the stream is kept; the null stream is not late.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

struct emulated_stream {
    std::deque<std::function<void()>> asked;
    std::size_t done = 0;  ///< of all that was ever asked

    void ask(std::function<void()> work) { asked.push_back(std::move(work)); }
    std::size_t total() const { return done + asked.size(); }
    /// Until so many things that were asked are done.
    void run(std::size_t until) {
        while (done < until && !asked.empty()) {
            const std::function<void()> work = std::move(asked.front());
            asked.pop_front();
            ++done;
            work();
        }
    }
};

struct emulated_event {
    emulated_stream* stream = nullptr;
    std::size_t place = 0;
};

namespace emulated {

/// At once on the null stream, later on others.
template <class Work>
void ask(emulated_stream* stream, Work work) {
    if (stream == nullptr) {
        work();
    } else {
        stream->ask(std::move(work));
    }
}

}  // namespace emulated
