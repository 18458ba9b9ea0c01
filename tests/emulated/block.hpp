// Emulated device: one block on one OS thread, its threads as fibers.
// Invariant: only one fiber of a block runs at a time; control changes hands in barriers, warp
// operations, yields and at a thread's end.
#pragma once

#include "emulated/device.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

namespace emulated {

/// What the blocks of a launch share.
struct launch_state {
    launch_shape shape;
    const std::function<void()>* body = nullptr;
    std::string name;
    std::uint64_t seed = 0;
    std::vector<std::uint32_t> order;  ///< block numbers, shuffled
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stopped{false};
    std::atomic<std::uint64_t> at_grid_barrier{0};
    std::int64_t deadline = 0;  ///< steady-clock nanoseconds

    void stop(const std::string& what);
    std::string fault();

private:
    std::mutex mutex_;
    std::string fault_;
};

/// A generator for schedules.
struct random_bits {
    std::uint64_t state;
    std::uint64_t operator()() {
        state += 0x9e3779b97f4a7c15ULL;
        std::uint64_t x = state;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
        return x ^ x >> 31;
    }
};

/// Stacks that outlive blocks: a fiber runs one thread after the other.
class fiber {
public:
    fiber();
    fiber(const fiber&) = delete;
    fiber& operator=(const fiber&) = delete;
    ~fiber();

    /// Runs until the fiber switches back.
    void resume();
    /// Back to resume(); by the fiber itself.
    void suspend();
    /// Forgets whatever the fiber was about.
    void restart();

private:
    static constexpr std::size_t stack_bytes = 256 * 1024;
    static void run(boost::context::detail::transfer_t from);

    void* memory_;
    boost::context::detail::fcontext_t self_ = nullptr;
    boost::context::detail::fcontext_t back_ = nullptr;
    const void* caller_stack_ = nullptr;
    std::size_t caller_bytes_ = 0;
};

class block {
public:
    /// Runs block `number` of a launch on this OS thread.
    void run(launch_state& launch, std::uint32_t number);

    /// The block that runs on this OS thread.
    static block& current();
    static block* running();

    void body();  ///< the kernel, by a fiber
    void barrier(const std::source_location& where);
    int count(bool vote, const std::source_location& where);
    void grid_barrier(const std::source_location& where);
    void yield();
    /// No strings: this fiber is never unwound, so nothing on its stack may own memory.
    [[noreturn]] void fault(const char* subject, const char* what,
                            const std::source_location& where);
    std::uint64_t warp_operation(const char* name, std::uint32_t mask, std::uint64_t value,
                                 std::uint32_t operand, combine_lanes combine,
                                 const std::source_location& where);
    const dim3& thread_index() const { return threads_[thread_].index; }
    const dim3& block_index() const { return index_; }
    const launch_shape& shape() const { return launch_->shape; }
    std::byte* dynamic_shared() { return dynamic_.data(); }

private:
    enum class state : std::uint8_t { ready, at_warp_operation, at_barrier, done };
    struct thread {
        dim3 index;
        state now = state::ready;
        const char* operation = nullptr;
        std::uint32_t mask = 0;
        offer given{};
        std::source_location where;
    };

    void begin(launch_state& launch, std::uint32_t number);
    void schedule();
    void run_warp(unsigned warp);
    void run_thread(unsigned number);
    void leave(state now, const std::source_location& where);
    void open_barrier_or_fail();
    void complete(unsigned warp, std::uint32_t mask, combine_lanes combine);
    std::string stuck() const;
    void set_ready(unsigned number) {
        threads_[number].now = state::ready;
        ready_[number / 32] |= 1U << number % 32;
    }

    launch_state* launch_ = nullptr;
    dim3 index_;
    std::vector<std::unique_ptr<fiber>> fibers_;
    std::vector<thread> threads_;
    std::vector<std::uint32_t> ready_;  ///< a mask a warp
    std::vector<std::byte> dynamic_;
    unsigned count_ = 0;   ///< threads
    unsigned thread_ = 0;  ///< the one that runs
    unsigned done_ = 0;
    unsigned at_barrier_ = 0;
    int votes_ = 0;
    int counted_ = 0;  ///< the votes of the barrier that opened last
    std::uint32_t idle_ = 0;
    random_bits random_{0};
};

}  // namespace emulated
