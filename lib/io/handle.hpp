// Level lib/io: a counted reference to one HDF5 identifier.
// Invariant: copies share the identifier; the last one gives it back under the library lock. This
// header, like every public one of lib/io, needs no hdf5.h.
#pragma once

#include <cstdint>
#include <utility>

namespace lookback::io {

class handle {
public:
    using id_type = std::int64_t;  // hid_t; handle.cpp asserts that

    handle() = default;
    /// Takes over the caller's reference.
    explicit handle(id_type id) noexcept : id_(id) {}
    handle(const handle& other);
    handle(handle&& other) noexcept : id_(std::exchange(other.id_, none)) {}
    handle& operator=(handle other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~handle();

    id_type id() const noexcept { return id_; }
    /// Gives the reference away.
    id_type release() noexcept { return std::exchange(id_, none); }
    explicit operator bool() const noexcept { return id_ >= 0; }

private:
    static constexpr id_type none = -1;
    id_type id_ = none;
};

}  // namespace lookback::io
