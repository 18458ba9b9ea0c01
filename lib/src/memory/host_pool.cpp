#include "memory/host_pool.hpp"

#include <lookback/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace lookback {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
// Below this malloc is as good, and a mapping would waste most of its page.
constexpr std::size_t mapped_from_bytes = huge_page_bytes;
constexpr std::size_t alignment_bytes = 64;

std::size_t mapped_size(std::size_t bytes) {
    return (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

[[noreturn]] void throw_out_of_memory(std::size_t bytes) {
    throw error(error_kind::out_of_memory,
                "cannot allocate " + std::to_string(bytes) + " bytes of host memory");
}

// A huge-page aligned mapping: map one page more than needed, unmap what sticks out.
void* map(std::size_t bytes) {
    const std::size_t padded = bytes + huge_page_bytes;
    void* raw = mmap(nullptr, padded, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) throw_out_of_memory(bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(raw);
    const std::uintptr_t aligned = (begin + huge_page_bytes - 1) & ~(huge_page_bytes - 1);
    if (aligned != begin) munmap(raw, aligned - begin);
    const std::uintptr_t end = begin + padded;
    if (aligned + bytes != end) {
        munmap(reinterpret_cast<void*>(aligned + bytes), end - aligned - bytes);
    }
    void* block = reinterpret_cast<void*>(aligned);
    madvise(block, bytes, MADV_HUGEPAGE);  // advice: a kernel without huge pages is only slower
    return block;
}

}  // namespace

host_pool::~host_pool() {
    trim();
}

void* host_pool::allocate(std::size_t bytes) {
    if (bytes > (std::size_t{1} << 60)) throw_out_of_memory(bytes);
    if (bytes < mapped_from_bytes) {
        const std::size_t padded =
            (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
        void* block = std::aligned_alloc(alignment_bytes, padded != 0 ? padded : alignment_bytes);
        if (block == nullptr) throw_out_of_memory(bytes);
        return block;
    }
    const std::size_t size = mapped_size(bytes);
    {
        const std::scoped_lock lock(mutex_);
        for (auto& candidate : kept_) {
            if (candidate.bytes != size) continue;
            void* block = candidate.address;
            candidate = kept_.back();
            kept_.pop_back();
            return block;
        }
    }
    // Nothing fits: kept blocks of other sizes would only raise the peak.
    trim();
    return map(size);
}

void host_pool::deallocate(void* block, std::size_t bytes) noexcept {
    if (bytes < mapped_from_bytes) {
        std::free(block);
        return;
    }
    const std::size_t size = mapped_size(bytes);
    try {
        const std::scoped_lock lock(mutex_);
        kept_.push_back({block, size});
    } catch (...) {
        munmap(block, size);
    }
}

void host_pool::discard(void* part, std::size_t bytes) noexcept {
    // Whole pages alone; if the system declines, the memory is only held longer.
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(part) + page - 1) & ~(page - 1);
    const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(part) + bytes) & ~(page - 1);
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void host_pool::trim() noexcept {
    const std::scoped_lock lock(mutex_);
    for (const auto& block : kept_) munmap(block.address, block.bytes);
    kept_.clear();
}

}  // namespace lookback
