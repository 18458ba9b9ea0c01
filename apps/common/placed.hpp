// Apps: an array of the host, where the backend of a context can work on it.
// Invariant: on the CPU this is the array itself; on a GPU a copy, which fetch() brings back.
#pragma once

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>

#include <span>

namespace lookback::apps {

template <class T>
class placed {
public:
    /// Copies to the device where there is one; `filled` = false leaves the copy out.
    placed(const context& work, std::span<T> host, bool filled = true) : work_(work), host_(host) {
        if (work.active_backend() == backend::cpu) return;
        device_ = buffer<std::remove_const_t<T>>(work, host.size());
        if (filled) work.copy(device_.data(), host.data(), host.size_bytes());
    }
    std::span<T> span() const {
        return work_.active_backend() == backend::cpu ? host_ : std::span<T>(device_.span());
    }
    void fetch() const {
        if (work_.active_backend() == backend::cpu) return;
        work_.copy(host_.data(), device_.data(), host_.size_bytes());
    }

private:
    const context& work_;
    std::span<T> host_;
    buffer<std::remove_const_t<T>> device_;
};

}  // namespace lookback::apps
