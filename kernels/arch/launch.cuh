// Level L1 (arch): how the host starts a kernel, and the shared memory that a launch asks for.
// Invariant: the one place that knows whether a kernel goes to a GPU or to the emulated device.
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstddef>
#include <source_location>
#include <type_traits>

#include <cuda_runtime_api.h>

namespace lookback::arch {

/// A grid of `blocks` blocks of `threads` threads and so many bytes of dynamic shared memory each.
struct grid {
    unsigned blocks;
    unsigned threads;
    std::size_t shared_bytes = 0;
    bool early = false;  ///< blocks may start while the kernel before them in the stream runs; each
                         ///< calls wait_for_earlier_kernel() before it uses what that one writes
    std::source_location where = std::source_location::current();
};

namespace detail {

template <class... Parameters>
cudaError_t start(bool cooperative, const grid& shape, cudaStream_t stream,
                  void (*kernel)(Parameters...), std::type_identity_t<Parameters>... arguments) {
#if defined(LOOKBACK_EMULATED_DEVICE)
    return emulated::launch_kernel(
        {{shape.blocks}, {shape.threads}, shape.shared_bytes, cooperative}, stream, shape.where,
        kernel, arguments...);
#else
    void* pointers[] = {static_cast<void*>(&arguments)...};
    const auto* function = reinterpret_cast<const void*>(kernel);
    if (shape.shared_bytes > 32 * 1024) {  // 48 KiB, with what is static, need no leave
        const cudaError_t allowed =
            cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shape.shared_bytes));
        if (allowed != cudaSuccess) return allowed;
    }
    if (shape.early) {
        cudaLaunchAttribute early{};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(shape.blocks);
        config.blockDim = dim3(shape.threads);
        config.dynamicSmemBytes = shape.shared_bytes;
        config.stream = stream;
        config.attrs = &early;
        config.numAttrs = 1;
        return cudaLaunchKernelExC(&config, function, pointers);
    }
    return cooperative
               ? cudaLaunchCooperativeKernel(function, dim3(shape.blocks), dim3(shape.threads),
                                             pointers, shape.shared_bytes, stream)
               : cudaLaunchKernel(function, dim3(shape.blocks), dim3(shape.threads), pointers,
                                  shape.shared_bytes, stream);
#endif
}

}  // namespace detail

/// Starts kernel(arguments...) on the stream.
template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), const grid& shape, cudaStream_t stream,
                   std::type_identity_t<Parameters>... arguments) {
    return detail::start(false, shape, stream, kernel, arguments...);
}

/// The same as a cooperative launch: all blocks run at once, and may wait for each other.
template <class... Parameters>
cudaError_t launch_cooperative(void (*kernel)(Parameters...), const grid& shape,
                               cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
    return detail::start(true, shape, stream, kernel, arguments...);
}

/// Waits until the kernels before this one in the stream have ended, where this one started early.
__device__ __forceinline__ void wait_for_earlier_kernel() {
#if !defined(LOOKBACK_EMULATED_DEVICE)
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets the kernel that follows start early, once all blocks of this one have called it or ended.
__device__ __forceinline__ void allow_next_kernel() {
#if !defined(LOOKBACK_EMULATED_DEVICE)
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// The dynamic shared memory of the block, 16-byte aligned.
__device__ __forceinline__ void* dynamic_shared() {
#if defined(LOOKBACK_EMULATED_DEVICE)
    return emulated::dynamic_shared();
#else
    extern __shared__ uint4 dynamic_shared_memory[];
    return dynamic_shared_memory;
#endif
}

}  // namespace lookback::arch
