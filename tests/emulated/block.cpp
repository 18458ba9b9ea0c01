#include "emulated/block.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <link.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulated {
namespace {

namespace context = boost::context::detail;

/// Volatile, because poison_shared() overwrites it behind the compiler's back and sets it again.
thread_local block* volatile running_block = nullptr;

std::string place(const std::source_location& where) {
    return std::string(where.file_name()) + ":" + std::to_string(where.line()) + " in " +
           where.function_name();
}

constexpr unsigned char shared_poison = 0xcd;

/// Fills the thread_local variables of the program, which are the __shared__ ones of its kernels.
int poison_shared(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type == PT_TLS && info->dlpi_tls_data != nullptr) {
            block* const kept = running_block;
            std::memset(info->dlpi_tls_data, shared_poison, part.p_memsz);
            running_block = kept;
        }
    }
    return 1;  // the first object is the program; others keep what is theirs
}

}  // namespace

void launch_state::stop(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (fault_.empty()) {
        fault_ = name + ": " + what + " (seed " + std::to_string(seed) + ")";
    }
    stopped = true;
}

std::string launch_state::fault() {
    const std::lock_guard lock(mutex_);
    return fault_;
}

fiber::fiber()
    : memory_(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory_, 4096, PROT_NONE);  // an overflow must not reach the next stack
    restart();
}

fiber::~fiber() {
    munmap(memory_, stack_bytes);
}

void fiber::restart() {
    auto* const bottom = static_cast<std::byte*>(memory_);
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(bottom + 4096, stack_bytes - 4096);
#endif
    self_ = context::make_fcontext(bottom + stack_bytes, stack_bytes - 4096, run);
}

void fiber::resume() {
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, static_cast<std::byte*>(memory_) + 4096,
                                   stack_bytes - 4096);
#endif
    self_ = context::jump_fcontext(self_, this).fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void fiber::suspend() {
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, caller_stack_, caller_bytes_);
#endif
    back_ = context::jump_fcontext(back_, nullptr).fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, &caller_stack_, &caller_bytes_);
#endif
}

void fiber::run(context::transfer_t from) {
    auto* const self = static_cast<fiber*>(from.data);
    self->back_ = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &self->caller_stack_, &self->caller_bytes_);
#endif
    for (;;) {
        block::current().body();
        self->suspend();
    }
}

block& block::current() {
    return *running_block;
}

block* block::running() {
    return running_block;
}

void block::begin(launch_state& launch, std::uint32_t number) {
    launch_ = &launch;
    const dim3& grid = launch.shape.grid;
    const dim3& size = launch.shape.block;
    index_ = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    count_ = size.x * size.y * size.z;
    random_ = {launch.seed * 0x2545f4914f6cdd1dULL + number};
    while (fibers_.size() < count_) fibers_.push_back(std::make_unique<fiber>());
    threads_.assign(count_, {});
    ready_.assign((count_ + 31) / 32, 0);
    for (unsigned t = 0; t < count_; ++t) {
        threads_[t].index = {t % size.x, t / size.x % size.y, t / size.x / size.y};
        set_ready(t);
    }
    dynamic_.assign(launch.shape.shared_bytes, std::byte{shared_poison});
    done_ = at_barrier_ = 0;
    votes_ = 0;
    dl_iterate_phdr(poison_shared, nullptr);
}

void block::run(launch_state& launch, std::uint32_t number) {
    running_block = this;
    begin(launch, number);
    schedule();
    if (launch.stopped) {
        for (auto& fiber : fibers_) fiber->restart();
    }
    running_block = nullptr;
}

void block::schedule() {
    while (done_ < count_) {
        if (launch_->stopped.load(std::memory_order_relaxed)) return;
        const auto warps = static_cast<unsigned>(ready_.size());
        const auto start = static_cast<unsigned>(random_() % warps);
        unsigned warp = 0;
        while (warp < warps && ready_[(start + warp) % warps] == 0) ++warp;
        if (warp == warps) {
            open_barrier_or_fail();
        } else {
            run_warp((start + warp) % warps);
        }
    }
}

void block::run_warp(unsigned warp) {
    // Each ready lane runs once a round, up or down; after a few rounds another warp has its turn.
    do {
        const std::uint64_t bits = random_();
        for (std::uint32_t left = ready_[warp]; left != 0;) {
            const int lane = (bits & 1) != 0 ? std::countr_zero(left) : 31 - std::countl_zero(left);
            left &= ~(1U << lane);
            run_thread(warp * 32 + static_cast<unsigned>(lane));
            if (launch_->stopped.load(std::memory_order_relaxed)) return;
        }
        if ((bits >> 8) % 8 == 0) return;
    } while (ready_[warp] != 0);
}

void block::run_thread(unsigned number) {
    thread_ = number;
    fibers_[number]->resume();
}

void block::body() {
    const unsigned own = thread_;
    (*launch_->body)();
    threads_[own].now = state::done;
    ready_[own / 32] &= ~(1U << own % 32);
    ++done_;
}

void block::leave(state now, const std::source_location& where) {
    const unsigned own = thread_;
    thread& self = threads_[own];
    self.now = now;
    self.where = where;
    if (now != state::ready) ready_[own / 32] &= ~(1U << own % 32);
    fibers_[own]->suspend();
}

void block::barrier(const std::source_location& where) {
    ++at_barrier_;
    leave(state::at_barrier, where);
}

int block::count(bool vote, const std::source_location& where) {
    votes_ += vote;
    barrier(where);
    return counted_;  // no thread passes the next barrier before this one has read it
}

void block::open_barrier_or_fail() {
    const auto same_place = [&](const thread& t) {
        return t.now == state::at_barrier && t.where.line() == threads_[0].where.line() &&
               std::strcmp(t.where.file_name(), threads_[0].where.file_name()) == 0;
    };
    if (at_barrier_ == count_ && std::all_of(threads_.begin(), threads_.end(), same_place)) {
        at_barrier_ = 0;
        counted_ = std::exchange(votes_, 0);
        for (unsigned t = 0; t < count_; ++t) set_ready(t);
        return;
    }
    launch_->stop(stuck());
}

std::string block::stuck() const {
    std::string said = "block " + std::to_string(index_.x) +
                       " cannot go on: " + std::to_string(done_) + " of " + std::to_string(count_) +
                       " threads have ended";
    std::vector<bool> told(count_);
    for (unsigned t = 0; t < count_; ++t) {
        if (told[t] || threads_[t].now == state::done) continue;
        unsigned like = 0;
        const auto is_like = [&](const thread& other) {
            return other.now == threads_[t].now && place(other.where) == place(threads_[t].where) &&
                   other.operation == threads_[t].operation;
        };
        for (unsigned other = t; other < count_; ++other) {
            if (!is_like(threads_[other])) continue;
            told[other] = true;
            ++like;
        }
        const bool barrier = threads_[t].now == state::at_barrier;
        said += "; " + std::to_string(like) + " (the first is thread " + std::to_string(t) +
                ") wait at " + (barrier ? "the barrier" : threads_[t].operation) + ", " +
                place(threads_[t].where);
    }
    return said;
}

void block::yield() {
    if (++idle_ % 16 == 0) {
        std::this_thread::yield();
        if (idle_ % 4096 == 0 &&
            std::chrono::steady_clock::now().time_since_epoch().count() > launch_->deadline) {
            launch_->stop("block " + std::to_string(index_.x) + ", thread " +
                          std::to_string(thread_) + " waits without end");
        }
    }
    leave(state::ready, threads_[thread_].where);
}

void block::fault(const char* subject, const char* what, const std::source_location& where) {
    launch_->stop("block " + std::to_string(index_.x) + ", thread " + std::to_string(thread_) +
                  ": " + subject + what + ", " + place(where));
    for (;;) leave(state::ready, where);
}

void block::grid_barrier(const std::source_location& where) {
    if (!launch_->shape.cooperative) fault("a grid barrier", " needs a cooperative launch", where);
    barrier(where);
    const std::uint64_t blocks = launch_->order.size();
    if (thread_ == 0) {
        const std::uint64_t arrived = launch_->at_grid_barrier.fetch_add(1) + 1;
        const std::uint64_t all = (arrived + blocks - 1) / blocks * blocks;
        while (launch_->at_grid_barrier.load() < all) yield();
    }
    barrier(where);
}

std::uint64_t block::warp_operation(const char* name, std::uint32_t mask, std::uint64_t value,
                                    std::uint32_t operand, combine_lanes combine,
                                    const std::source_location& where) {
    const unsigned own = thread_;
    const unsigned warp = own / 32;
    thread& self = threads_[own];
    if ((mask >> own % 32 & 1) == 0) {
        fault(name, " by a lane outside its mask", where);
    }
    self.operation = name;
    self.mask = mask;
    self.given = {value, operand, 0};
    self.now = state::at_warp_operation;
    self.where = where;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned other = warp * 32 + static_cast<unsigned>(std::countr_zero(left));
        const bool here = other < count_ && threads_[other].now == state::at_warp_operation &&
                          threads_[other].mask == mask && threads_[other].operation == name;
        if (!here) {
            leave(state::at_warp_operation, where);
            return threads_[own].given.result;
        }
    }
    complete(warp, mask, combine);
    // The one that came last does not run on ahead of the others every time.
    if (random_() % 4 == 0) leave(state::ready, where);
    return threads_[own].given.result;
}

void block::complete(unsigned warp, std::uint32_t mask, combine_lanes combine) {
    offer lanes[32] = {};
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        lanes[lane] = threads_[warp * 32 + lane].given;
    }
    combine(lanes, mask);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        threads_[warp * 32 + lane].given = lanes[lane];
        set_ready(warp * 32 + lane);
    }
}

}  // namespace emulated
