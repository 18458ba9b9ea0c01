// Level L5 (device): how one warp streams through a tile of a segmented reduction: strip by strip
// through a ring of shared memory, with the offsets of the next strip in registers. Later strips
// are under way while one is combined, so that memory never waits for a barrier or a look-back.
// Invariant: a warp uses its own space alone; vectors lie as tile/transpose.cuh pads them, so that
// a lane reads its neighbouring items without bank conflicts.
#pragma once

#include <lookback/kernels/arch/copy_async.cuh>
#include <lookback/kernels/device/scan_tile.cuh>
#include <lookback/kernels/device/segmented_offsets.cuh>

namespace lookback::device {

template <class P, class T>
struct strip_geometry {
    using vector = tile::lane_vector<T>;
    static constexpr int lane_items = P::rows * vector::items;
    static constexpr int strip_items = arch::warp_lanes * lane_items;
    static constexpr int tile_items = P::strips * strip_items;
    /// Cells of 16 bytes: one after 8 is left out.
    static constexpr int row_cells = arch::warp_lanes / 8 * 9;
    static constexpr int cells = P::rows * row_cells;
    static_assert(8 % P::rows == 0, "a lane's vectors lie side by side");
};

/// The shared memory of a warp.
template <class P, class T>
struct strip_space {
    using geometry = strip_geometry<P, T>;

    uint4 stages[P::stages][geometry::cells];
    T seeds[arch::warp_lanes];    ///< what precedes each lane
    std::uint32_t ends[P::ring];  ///< offsets, by their number modulo the ring
    alignas(16) unsigned char heads[geometry::strip_items];

    /// The first cell of the lane's row of a strip as it comes, and of its own vectors.
    __device__ __forceinline__ static int striped_cell() { return arch::lane() + arch::lane() / 8; }
    __device__ __forceinline__ static int own_cell() {
        return arch::lane() * P::rows + arch::lane() * P::rows / 8;
    }
    /// Item `item` of a strip.
    __device__ __forceinline__ static const T& item_at(const uint4* stage, std::uint32_t item) {
        const std::uint32_t bytes = item * static_cast<std::uint32_t>(sizeof(T));
        return *reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(stage) + bytes +
                                           bytes / 128 * 16);
    }
    /// The lane's part of the heads.
    __device__ __forceinline__ unsigned char* own_heads() {
        return heads + arch::lane() * geometry::lane_items;
    }
    __device__ __forceinline__ void clear_own_heads() {
#pragma unroll
        for (int item = 0; item < geometry::lane_items; item += chunk) {
            memset(own_heads() + item, 0, chunk);
        }
    }

private:
    static constexpr int chunk = geometry::lane_items < 16 ? geometry::lane_items : 16;
};

/// The items of a tile, asked for strip by strip.
template <class P, class T>
class strip_source {
public:
    using geometry = strip_geometry<P, T>;
    using vector = typename geometry::vector;

    /// For the items of `tile`.
    __device__ __forceinline__ strip_source(const scan_arguments<T>& args, index_t tile) {
        const core::tile_shape shape{args.items, geometry::tile_items};
        left_ = size_ = static_cast<int>(shape.size(tile));
        aligned_ = args.aligned_in;
        own_ = args.in + shape.begin(tile) + arch::lane() * vector::items;
    }

    __device__ int size() const { return size_; }

    /// Asks for the next strip, where there is one.
    __device__ __forceinline__ void ask(uint4* stage) {
        uint4* to = stage + strip_space<P, T>::striped_cell();
        if (aligned_ && left_ >= geometry::strip_items) {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                arch::copy_async<16>(to + row * geometry::row_cells, own_ + row * row_items);
            }
        } else if (left_ > 0) {
            load_some(to);
        }
        own_ += geometry::strip_items;
        left_ -= geometry::strip_items;
    }

private:
    static constexpr int row_items = arch::warp_lanes * vector::items;

    /// A short or unaligned strip, item by item; beyond the end items of the array come again.
    __device__ void load_some(uint4* to) const {
        const int left = left_ - arch::lane() * vector::items;
#pragma unroll 1
        for (int row = 0; row < P::rows; ++row) {
            const vector items = tile::load_items(own_ + row * row_items, left - row * row_items);
            memcpy(to + row * geometry::row_cells, &items, sizeof(uint4));
        }
    }

    const T* own_;  ///< the lane's first item of the next strip
    int left_;      ///< items that were not asked for
    int size_;
    bool aligned_;
};

/// The next offsets of a tile, as many as the ring has room for; they are numbered from the next
/// one on. Of each only the lower half is kept: all lie within one tile.
template <class P, class T>
class offset_ring {
public:
    /// For offsets [from, to) of the list; `begin` is the tile's first item.
    __device__ __forceinline__ offset_ring(strip_space<P, T>& space, const segment_list& list,
                                           index_t begin, index_t from, index_t to)
        : ends_(space.ends),
          offsets_(list.offsets),
          next_(from),
          left_(to - from),
          begin_(static_cast<std::uint32_t>(begin)) {
        make_room();
    }

    /// Asks for what there is room for, in the group of copies that is open.
    __device__ __forceinline__ void ask() {
#pragma unroll 1
        for (int i = asked_ + arch::lane(); i < room_; i += arch::warp_lanes) {
            arch::copy_async<4>(ends_ + slot(i), offsets_ + next_ + i);  // little-endian
        }
        asked_ = room_;
    }
    /// A strip has come: with it, what was asked for in its group.
    __device__ __forceinline__ void advance() {
#pragma unroll
        for (int strip = 0; strip + 2 < P::stages; ++strip) ready_[strip] = ready_[strip + 1];
        ready_[P::stages - 2] = asked_;
    }
    /// Waits for all that was asked for; false if there was nothing to wait for.
    __device__ bool wait() {
        if (ready_[0] == asked_) return false;
        arch::wait_for_copies<0>();
        __syncwarp();  // all lanes have waited
#pragma unroll
        for (int& ready : ready_) ready = asked_;
        return true;
    }
    /// So many are there.
    __device__ __forceinline__ int ready() const {
        return ready_[0];
    }
    /// All are there.
    __device__ __forceinline__ bool complete() const {
        return left_ == ready_[0];
    }
    /// The number of offset 0, and how many there are from it on.
    __device__ __forceinline__ index_t next() const {
        return next_;
    }
    __device__ __forceinline__ index_t left() const {
        return left_;
    }
    /// Offset `i`, relative to the tile's first item.
    __device__ __forceinline__ int place(int i) const {
        return static_cast<int>(ends_[slot(i)] - begin_);
    }
    /// The first `count` are done with; all that are there, where it is more than those.
    __device__ __forceinline__ void drop(index_t count) {
        next_ += count;
        left_ -= count;
        const int there = count < P::ring ? static_cast<int>(count) : P::ring;
        asked_ -= there;
#pragma unroll
        for (int& ready : ready_) ready -= there;
        make_room();
    }

private:
    static_assert((P::ring & (P::ring - 1)) == 0);
    __device__ __forceinline__ std::uint32_t slot(int i) const {
        return (static_cast<std::uint32_t>(next_) + static_cast<std::uint32_t>(i)) & (P::ring - 1);
    }
    __device__ __forceinline__ void make_room() {
        room_ = left_ < P::ring ? static_cast<int>(left_) : P::ring;
    }

    std::uint32_t* ends_;
    const index_t* offsets_;
    index_t next_;
    index_t left_;
    std::uint32_t begin_;
    int room_;  ///< what the ring can hold of them
    int asked_ = 0;
    int ready_[P::stages - 1] = {};  ///< [0]: those that are there; [i]: after i more strips
};

}  // namespace lookback::device
