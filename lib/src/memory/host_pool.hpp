// Memory: the CPU backend's own memory resource.
// Invariant: large blocks are huge-page advised and kept for reuse, because first touches cost as
// much as the sorting itself (256 MiB: 0.11 s in 4 KiB pages, 0.03 s in huge ones, 0 when reused).
#pragma once

#include <lookback/context.hpp>

#include <mutex>
#include <vector>

namespace lookback {

class host_pool final : public memory_resource {
public:
    host_pool() = default;
    host_pool(const host_pool&) = delete;
    host_pool& operator=(const host_pool&) = delete;
    ~host_pool() override;

    void* allocate(std::size_t bytes) override;
    void deallocate(void* block, std::size_t bytes) noexcept override;
    void discard(void* part, std::size_t bytes) noexcept override;
    /// Gives kept blocks back to the system.
    void trim() noexcept;

private:
    struct kept_block {
        void* address;
        std::size_t bytes;  // as mapped
    };
    std::mutex mutex_;
    std::vector<kept_block> kept_;
};

}  // namespace lookback
