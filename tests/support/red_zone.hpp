// Tests: arrays with guard bytes on both sides, at a chosen misalignment, poisoned at first.
// Invariant: intact() is false as soon as one guard byte was written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace lookback::test {

/// `size` items that begin `offset_items` items after a 64-byte boundary (0: aligned). Every byte
/// of the items is `poison` until it is written.
template <class T>
requires std::is_trivially_copyable_v<T>
class red_zone {
public:
    static constexpr std::size_t guard_bytes = 256;
    static constexpr unsigned char guard = 0xa5;
    static constexpr unsigned char poison = 0xdb;

    explicit red_zone(std::size_t size, std::size_t offset_items = 0)
        : size_(size),
          lead_bytes_(guard_bytes + offset_items * sizeof(T)),
          bytes_(lead_bytes_ + size * sizeof(T) + guard_bytes),
          block_(static_cast<unsigned char*>(::operator new(bytes_, alignment))) {
        std::memset(block_.get(), guard, bytes_);
        std::memset(block_.get() + lead_bytes_, poison, size * sizeof(T));
    }
    red_zone(std::span<const T> items, std::size_t offset_items)
        : red_zone(items.size(), offset_items) {
        std::copy(items.begin(), items.end(), data());
    }

    T* data() const { return reinterpret_cast<T*>(block_.get() + lead_bytes_); }
    std::size_t size() const { return size_; }
    std::span<T> span() const { return {data(), size_}; }
    T& operator[](std::size_t item) const { return data()[item]; }

    bool intact() const {
        const auto guards = [](const unsigned char* begin, const unsigned char* end) {
            return std::all_of(begin, end, [](unsigned char byte) { return byte == guard; });
        };
        const unsigned char* items = block_.get() + lead_bytes_;
        return guards(block_.get(), items) &&
               guards(items + size_ * sizeof(T), block_.get() + bytes_);
    }

private:
    static constexpr std::align_val_t alignment{64};
    struct aligned_delete {
        void operator()(unsigned char* block) const { ::operator delete(block, alignment); }
    };

    std::size_t size_;
    std::size_t lead_bytes_;
    std::size_t bytes_;
    std::unique_ptr<unsigned char, aligned_delete> block_;
};

}  // namespace lookback::test
