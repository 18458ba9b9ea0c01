// Level lib/io, private: memory that is reused from chunk to chunk.
// Invariant: grows only, keeps no contents when it grows, is not initialised.
#pragma once

#include <cstddef>
#include <memory>

namespace lookback::io {

class scratch {
public:
    /// At least `bytes` bytes; what was there before is lost where it has to grow.
    std::byte* reserve(std::size_t bytes) {
        if (bytes > capacity_) {
            data_.reset();
            data_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
            capacity_ = bytes;
        }
        return data_.get();
    }
    std::byte* data() const noexcept { return data_.get(); }

private:
    std::unique_ptr<std::byte[]> data_;
    std::size_t capacity_ = 0;
};

}  // namespace lookback::io
