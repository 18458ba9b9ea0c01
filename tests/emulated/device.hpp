// Emulated device: runs kernels, compiled by the host's compiler, with one fiber a CUDA thread.
// Invariant: a block runs on one OS thread, so `__shared__` is `static thread_local`; blocks start
// in a seeded random order, several at once, and warps take turns at random. A barrier or a warp
// operation that not all of its threads reach is a fault of the launch, told and never a hang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>

namespace emulated {

struct dim3 {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
};

/// What a test may set before a launch.
struct settings {
    int sms = 4;                  ///< streaming multiprocessors that the device says it has
    int blocks_per_sm = 2;        ///< what occupancy queries answer
    unsigned concurrent = 8;      ///< blocks that run at once; a cooperative launch runs all
    std::uint64_t seed = 1;       ///< order of blocks, warps and lanes; counted up by each launch
    unsigned stall_seconds = 60;  ///< a launch that takes longer is a fault: a wait without end
};
settings& device();

/// The fault of the last launch that had one, and forgets it: where, and which threads were
/// missing. Empty after launches that went well.
std::string take_fault();

/// One launch: `body` is the kernel with its arguments bound. Runs it to the end.
struct launch_shape {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
    bool cooperative = false;
};
/// False where the launch had a fault.
bool launch(const launch_shape& shape, const std::function<void()>& body,
            const std::source_location& where);

// What the threads of a kernel may ask, by way of the names of CUDA in cuda.hpp.
const dim3& thread_index();
const dim3& block_index();
const dim3& block_size();
const dim3& grid_size();
std::byte* dynamic_shared();

/// Waits for all threads of the block.
void block_barrier(const std::source_location& where);
/// The same; how many threads voted yes.
int block_count(bool vote, const std::source_location& where);
/// Waits for all blocks of a cooperative launch.
void grid_barrier(const std::source_location& where);
/// Lets others run; the OS thread too where nobody has anything to do.
void yield();
/// Ends the launch with a fault.
[[noreturn]] void fault(const char* what, const std::source_location& where);

/// What a lane brings to a warp operation, and what it gets.
struct offer {
    std::uint64_t value;
    std::uint32_t operand;  ///< a lane, a distance or a mask
    std::uint64_t result;
};
using combine_lanes = void (*)(offer (&lanes)[32], std::uint32_t mask);
/// Meets all lanes of `mask`, which must make the same call; the last to come combines.
std::uint64_t warp_operation(const char* name, std::uint32_t mask, std::uint64_t value,
                             std::uint32_t operand, combine_lanes combine,
                             const std::source_location& where);

}  // namespace emulated
