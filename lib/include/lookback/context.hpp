// Public API: where work runs: the backend, its threads or stream, and its memory.
// Invariant: a context owns what it created and outlives the buffers taken from it.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace lookback {

enum class backend { automatic, cpu, cuda };

/// Gives and takes back blocks of memory that the context's backend can use. Blocks are aligned to
/// at least 64 bytes. Implementations are thread-safe. `allocate` throws error{out_of_memory}.
class memory_resource {
public:
    virtual ~memory_resource() = default;
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void deallocate(void* block, std::size_t bytes) noexcept = 0;
    /// Told of a part of a block that stays allocated but whose contents are needed no more: its
    /// memory may serve others until it is written again. Without an override nothing happens.
    virtual void discard(void* /*part*/, std::size_t /*bytes*/) noexcept {}
};

struct context_options {
    lookback::backend backend = lookback::backend::automatic;
    int threads = 0;                    ///< CPU threads; 0 = every core this process may use
    memory_resource* memory = nullptr;  ///< borrowed; null = the backend's own pool
};

/// A context may be used by one thread at a time; several contexts run side by side.
class context {
public:
    /// Throws error{invalid_argument} for threads < 0 and error{backend_error} where the backend
    /// that was asked for by name cannot run here.
    explicit context(const context_options& options = {});
    ~context();
    context(context&&) noexcept;
    context& operator=(context&&) noexcept;

    /// cpu or cuda, never automatic.
    lookback::backend active_backend() const noexcept;
    /// Why `automatic` chose this backend, in one line; empty where it was asked for by name.
    std::string_view reason() const noexcept;
    int threads() const noexcept;
    memory_resource& memory() const noexcept;

    /// Bytes that the backend's own memory can still give: on CUDA the device's free memory, which
    /// other processes share; on the CPU ~0, since the library sets no limit.
    std::size_t free_memory() const;

    /// Waits until the work asked of this context is done; on the CPU it always is.
    void synchronize() const;
    /// Copies bytes from host or context memory to host or context memory, and waits. On CUDA it
    /// comes after all work asked before.
    void copy(void* to, const void* from, std::size_t bytes) const;
    /// CUDA: the context's cudaStream_t, for callers with work of their own; else null.
    void* native_stream() const noexcept;

    struct state;  ///< for the library itself
    state& internal() const noexcept { return *state_; }

private:
    std::unique_ptr<state> state_;
};

/// The version of the library that is linked, "major.minor.patch".
std::string_view version() noexcept;

}  // namespace lookback
