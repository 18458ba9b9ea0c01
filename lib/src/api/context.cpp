#include "api/context_state.hpp"

#include <lookback/error.hpp>

#include <cstring>

namespace lookback {
namespace {

// Decides between the backends; leaves the reason where the choice was ours.
void choose_backend(context::state& state, backend wanted) {
    if (wanted == backend::cuda) {
        state.device = cuda::open_device();
    } else if (wanted == backend::automatic) {
        const std::string obstacle = cuda::unusable_reason();
        if (obstacle.empty()) state.device = cuda::open_device();
        state.reason = obstacle.empty() ? "a usable GPU is there" : obstacle;
    }
    state.backend = state.device ? backend::cuda : backend::cpu;
}

}  // namespace

context::context(const context_options& options) : state_(std::make_unique<state>()) {
    if (options.threads < 0) {
        throw error(error_kind::invalid_argument, "context: threads is " +
                                                      std::to_string(options.threads) +
                                                      "; give 0 for all cores, or a count");
    }
    choose_backend(*state_, options.backend);
    const int threads = options.threads != 0 ? options.threads : cpu::available_threads();
    state_->executor = std::make_unique<cpu::executor>(threads);
    memory_resource& own = state_->device ? state_->device->memory() : state_->pool;
    state_->memory = options.memory != nullptr ? options.memory : &own;
}

context::~context() = default;
context::context(context&&) noexcept = default;
context& context::operator=(context&&) noexcept = default;

backend context::active_backend() const noexcept {
    return state_->backend;
}
std::string_view context::reason() const noexcept {
    return state_->reason;
}
int context::threads() const noexcept {
    return state_->executor->threads();
}
memory_resource& context::memory() const noexcept {
    return *state_->memory;
}

std::size_t context::free_memory() const {
    return state_->device ? state_->device->free_bytes() : ~std::size_t{0};
}

void context::synchronize() const {
    if (state_->device) state_->device->synchronize();
}
void context::copy(void* to, const void* from, std::size_t bytes) const {
    if (bytes == 0) return;
    if (state_->device) {
        state_->device->copy(to, from, bytes);
    } else {
        std::memmove(to, from, bytes);
    }
}
void* context::native_stream() const noexcept {
    return state_->device ? state_->device->stream() : nullptr;
}

std::string_view version() noexcept {
    return LOOKBACK_VERSION;
}

}  // namespace lookback
