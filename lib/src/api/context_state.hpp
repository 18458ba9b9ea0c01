// What a context holds. For lib/src only.
#pragma once

#include "cpu/executor.hpp"
#include "cuda/backend.hpp"
#include "memory/host_pool.hpp"

#include <lookback/context.hpp>

#include <memory>
#include <string>

namespace lookback {

struct context::state {
    lookback::backend backend = lookback::backend::cpu;
    std::string reason;
    host_pool pool;
    std::unique_ptr<cuda::device> device;  // null on the CPU
    memory_resource* memory = nullptr;     // the pool, the device's, or the caller's
    std::unique_ptr<cpu::executor> executor;
};

}  // namespace lookback
