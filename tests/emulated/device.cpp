#include "emulated/device.hpp"

#include "emulated/block.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <numeric>
#include <thread>
#include <utility>

namespace emulated {
namespace {

std::mutex fault_mutex;
std::string last_fault;

/// OS threads that run blocks; they stay for the next launch.
class workers {
public:
    ~workers() {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
        }
        wake_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    /// `count` workers take blocks until none is left.
    void run(launch_state& launch, std::size_t count) {
        std::unique_lock lock(mutex_);
        launch_ = &launch;
        wanted_ = busy_ = count;
        ++round_;
        while (threads_.size() < count) {
            threads_.emplace_back([this, number = threads_.size()] { work(number); });
        }
        wake_.notify_all();
        idle_.wait(lock, [&] { return busy_ == 0; });
    }

private:
    void work(std::size_t number) {
        block own;
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return ending_ || (round_ != seen && number < wanted_); });
            if (ending_) return;
            seen = round_;
            launch_state& launch = *launch_;
            lock.unlock();
            for (;;) {
                const std::size_t place = launch.next.fetch_add(1);
                if (place >= launch.order.size() || launch.stopped) break;
                own.run(launch, launch.order[place]);
            }
            lock.lock();
            if (--busy_ == 0) idle_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable idle_;
    std::vector<std::thread> threads_;
    launch_state* launch_ = nullptr;
    std::size_t wanted_ = 0;
    std::size_t busy_ = 0;
    std::uint64_t round_ = 0;
    bool ending_ = false;
};

workers& pool() {
    static workers all;
    return all;
}

}  // namespace

settings& device() {
    static settings chosen;
    return chosen;
}

std::string take_fault() {
    const std::lock_guard lock(fault_mutex);
    return std::exchange(last_fault, {});
}

bool launch(const launch_shape& shape, const std::function<void()>& body,
            const std::source_location& where) {
    launch_state state;
    state.shape = shape;
    state.body = &body;
    state.name = where.function_name();
    state.seed = device().seed++;
    state.order.resize(std::size_t{shape.grid.x} * shape.grid.y * shape.grid.z);
    std::iota(state.order.begin(), state.order.end(), 0U);
    random_bits random{state.seed};
    for (std::size_t i = state.order.size(); i > 1; --i) {
        std::swap(state.order[i - 1], state.order[random() % i]);
    }
    const std::chrono::nanoseconds patience = std::chrono::seconds(device().stall_seconds);
    state.deadline = (std::chrono::steady_clock::now().time_since_epoch() + patience).count();
    const std::size_t blocks = state.order.size();
    pool().run(state,
               shape.cooperative ? blocks : std::min<std::size_t>(blocks, device().concurrent));
    if (!state.stopped) return true;
    const std::lock_guard lock(fault_mutex);
    last_fault = state.fault();
    std::fprintf(stderr, "emulated device: %s\n", last_fault.c_str());
    return false;
}

const dim3& thread_index() {
    return block::current().thread_index();
}
const dim3& block_index() {
    return block::current().block_index();
}
const dim3& block_size() {
    return block::current().shape().block;
}
const dim3& grid_size() {
    return block::current().shape().grid;
}
std::byte* dynamic_shared() {
    return block::current().dynamic_shared();
}
void block_barrier(const std::source_location& where) {
    block::current().barrier(where);
}
int block_count(bool vote, const std::source_location& where) {
    return block::current().count(vote, where);
}
void grid_barrier(const std::source_location& where) {
    block::current().grid_barrier(where);
}
void yield() {
    block::current().yield();
}
void fault(const char* what, const std::source_location& where) {
    block::current().fault(what, "", where);
}
std::uint64_t warp_operation(const char* name, std::uint32_t mask, std::uint64_t value,
                             std::uint32_t operand, combine_lanes combine,
                             const std::source_location& where) {
    return block::current().warp_operation(name, mask, value, operand, combine, where);
}

}  // namespace emulated
