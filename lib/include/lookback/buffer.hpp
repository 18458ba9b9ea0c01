// Public API: typed memory from a context.
// Invariant: uninitialised on creation; given back to its resource on destruction.
#pragma once

#include <lookback/context.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace lookback {

template <class T>
requires std::is_trivially_copyable_v<T>
class buffer {
public:
    buffer() = default;
    /// `size` items, uninitialised. Throws error{out_of_memory}.
    buffer(memory_resource& memory, std::size_t size)
        : memory_(&memory),
          data_(size != 0 ? static_cast<T*>(memory.allocate(size * sizeof(T))) : nullptr),
          size_(size) {}
    buffer(const context& context, std::size_t size) : buffer(context.memory(), size) {}
    buffer(buffer&& other) noexcept { swap(other); }
    buffer& operator=(buffer&& other) noexcept {
        buffer(std::move(other)).swap(*this);
        return *this;
    }
    ~buffer() {
        if (data_ != nullptr) memory_->deallocate(data_, size_ * sizeof(T));
    }

    T* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    T* begin() const noexcept { return data_; }
    T* end() const noexcept { return data_ + size_; }
    T& operator[](std::size_t item) const noexcept { return data_[item]; }
    std::span<T> span() const noexcept { return {data_, size_}; }

    void swap(buffer& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

private:
    memory_resource* memory_ = nullptr;
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace lookback
