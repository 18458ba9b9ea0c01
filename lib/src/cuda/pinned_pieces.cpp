#include "cuda/pinned_pieces.hpp"

#include "cuda/cuda_check.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace lookback::cuda {
namespace {

// The first exception of several threads.
class first_failure {
public:
    void keep() {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        raised_ = true;
    }
    bool raised() const { return raised_; }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::atomic<bool> raised_{false};
};

}  // namespace

/// Pieces that have arrived in pinned memory, from the thread that copies to those that take them.
class pinned_pieces::handover {
public:
    struct piece {
        std::size_t slot;
        std::size_t offset;
        std::size_t bytes;
    };

    explicit handover(std::size_t slots) {
        for (std::size_t i = 0; i < slots; ++i) free_.push_back(i);
    }
    /// A slot that nobody uses: waits for one where `wait` is set. None once it was stopped.
    std::optional<std::size_t> free_slot(bool wait) {
        std::unique_lock lock(mutex_);
        if (wait) changed_.wait(lock, [&] { return !free_.empty() || stopped_; });
        if (free_.empty() || stopped_) return std::nullopt;
        const std::size_t slot = free_.front();
        free_.pop_front();
        return slot;
    }
    void give(const piece& next) {
        const std::scoped_lock lock(mutex_);
        ready_.push_back(next);
        changed_.notify_all();
    }
    /// The lowest piece that nobody took; none once all are taken and no more come.
    std::optional<piece> take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !ready_.empty() || closed_ || stopped_; });
        if (ready_.empty() || stopped_) return std::nullopt;
        const piece next = ready_.front();
        ready_.pop_front();
        return next;
    }
    void give_back(std::size_t slot) {
        const std::scoped_lock lock(mutex_);
        free_.push_back(slot);
        changed_.notify_all();
    }
    /// No more pieces come; those that came are still to be taken.
    void close() {
        const std::scoped_lock lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }
    /// Nothing more is to be taken.
    void stop() {
        const std::scoped_lock lock(mutex_);
        stopped_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::size_t> free_;
    std::deque<piece> ready_;
    bool closed_ = false;
    bool stopped_ = false;
};

pinned_pieces::pinned_pieces(gpu_device& gpu, int threads, std::size_t piece_bytes)
    : gpu_(gpu), piece_bytes_(piece_bytes), slots_(2 * static_cast<std::size_t>(threads)) {
    try {
        for (slot& each : slots_) {
            void* memory = nullptr;
            cuda_check(cudaMallocHost(&memory, piece_bytes_), "allocate pinned host memory");
            each.memory = static_cast<std::byte*>(memory);
            cuda_check(cudaEventCreateWithFlags(&each.copied, cudaEventDisableTiming),
                       "make an event");
        }
    } catch (...) {
        release();
        throw;
    }
}

pinned_pieces::~pinned_pieces() {
    release();
}

void pinned_pieces::release() noexcept {
    for (const slot& each : slots_) {
        if (each.copied != nullptr) cudaEventDestroy(each.copied);
        if (each.memory != nullptr) cudaFreeHost(each.memory);
    }
}

void pinned_pieces::send(std::byte* to, std::size_t bytes, const on_piece& fill) {
    std::atomic<std::size_t> next{0};
    first_failure failure;
    const auto work = [&](std::size_t thread) {
        try {
            cuda_check(cudaSetDevice(gpu_.ordinal()), "select the device");
            for (std::size_t turn = 0; !failure.raised(); turn ^= 1) {
                const std::size_t offset = next.fetch_add(piece_bytes_);
                if (offset >= bytes) return;
                const std::size_t size = std::min(piece_bytes_, bytes - offset);
                const slot& own = slots_[2 * thread + turn];
                cuda_check(cudaEventSynchronize(own.copied), "wait for a copy");
                fill(offset, size, own.memory);
                cuda_check(cudaMemcpyAsync(to + offset, own.memory, size, cudaMemcpyHostToDevice,
                                           gpu_.native_stream()),
                           "copy to the device");
                cuda_check(cudaEventRecord(own.copied, gpu_.native_stream()), "record an event");
            }
        } catch (...) {
            failure.keep();
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; 2 * t < slots_.size(); ++t) threads.emplace_back(work, t);
    }
    gpu_.synchronize();  // the pieces are read
    failure.rethrow();
}

// Copies pieces in order, as slots come free, and hands each over once it is there.
void pinned_pieces::copy_out(const std::byte* from, std::size_t bytes, handover& ready) {
    std::deque<handover::piece> copying;
    std::size_t offset = 0;
    while (offset < bytes || !copying.empty()) {
        while (offset < bytes) {
            const auto free = ready.free_slot(copying.empty());
            if (!free) break;
            const std::size_t size = std::min(piece_bytes_, bytes - offset);
            cuda_check(cudaMemcpyAsync(slots_[*free].memory, from + offset, size,
                                       cudaMemcpyDeviceToHost, gpu_.native_stream()),
                       "copy from the device");
            cuda_check(cudaEventRecord(slots_[*free].copied, gpu_.native_stream()),
                       "record an event");
            copying.push_back({*free, offset, size});
            offset += size;
        }
        if (copying.empty()) return;  // stopped
        cuda_check(cudaEventSynchronize(slots_[copying.front().slot].copied), "wait for a copy");
        ready.give(copying.front());
        copying.pop_front();
    }
}

void pinned_pieces::fetch(const std::byte* from, std::size_t bytes, const on_piece& take) {
    handover ready(slots_.size());
    first_failure failure;
    const auto work = [&] {
        try {
            while (const auto piece = ready.take()) {
                take(piece->offset, piece->bytes, slots_[piece->slot].memory);
                ready.give_back(piece->slot);
            }
        } catch (...) {
            failure.keep();
            ready.stop();
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; 2 * t < slots_.size(); ++t) threads.emplace_back(work);
        try {
            copy_out(from, bytes, ready);
        } catch (...) {
            failure.keep();
        }
        ready.close();
    }
    gpu_.synchronize();  // nothing is copied into the pieces any more
    failure.rethrow();
}

}  // namespace lookback::cuda
