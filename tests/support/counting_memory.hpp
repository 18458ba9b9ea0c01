// Tests: a memory resource that counts, so that promises about extra memory can be held to account.
// Invariant: live() is what was allocated and not given back; peak() its greatest value so far.
// What is discarded is spoilt at once, so that whoever still needs it finds out.
#pragma once

#include <lookback/context.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>

namespace lookback::test {

class counting_memory final : public memory_resource {
public:
    void* allocate(std::size_t bytes) override {
        void* block = ::operator new(bytes, alignment);
        const std::scoped_lock lock(mutex_);
        live_ += bytes;
        peak_ = std::max(peak_, live_);
        return block;
    }
    void deallocate(void* block, std::size_t bytes) noexcept override {
        ::operator delete(block, alignment);
        const std::scoped_lock lock(mutex_);
        live_ -= bytes;
    }

    void discard(void* part, std::size_t bytes) noexcept override {
        std::memset(part, 0xa5, bytes);
        const std::scoped_lock lock(mutex_);
        discarded_ += bytes;
    }

    std::size_t live() const { return live_; }
    std::size_t discarded() const { return discarded_; }
    std::size_t peak() const { return peak_; }
    void reset_peak() { peak_ = live_; }

private:
    static constexpr std::align_val_t alignment{64};
    std::mutex mutex_;
    std::size_t live_ = 0;
    std::size_t peak_ = 0;
    std::size_t discarded_ = 0;
};

}  // namespace lookback::test
