// Level L5 (device): the kernel of segmented reduction. A warp takes a tile of items and streams
// through it; a result is written where its segment ends, so nothing waits for what precedes the
// tile but the one segment that reaches into it. Invariant: as segmented_kernel.cuh.
// Source: Blelloch (1990); Sengupta et al. (2007), 4.2; Merrill and Garland (2016).
#pragma once

#include <lookback/kernels/device/segmented_kernel.cuh>
#include <lookback/kernels/device/segmented_strips.cuh>

namespace lookback::device {

/// One warp's way through a tile. Places are relative to the tile's first item.
template <class P, class T, class Op>
class segment_reducer {
public:
    using geometry = strip_geometry<P, T>;
    using vector = typename geometry::vector;
    using space_type = strip_space<P, T>;

    /// Offsets [from, to) lie in the tile after its first item, or at its end.
    __device__ __forceinline__ segment_reducer(const segmented_arguments<T>& args,
                                               space_type& space, index_t begin, index_t from,
                                               index_t to, Op op)
        : args_(args),
          space_(space),
          op_(op),
          begin_(begin),
          ring_(space, args.list, begin, from, to),
          segment_(args.list.offsets[from - 1] == begin ? 0 : -1),
          open_(segment_ < 0),
          pending_(open_),
          carry_(Op::template identity<T>()) {}

    /// Takes the tile, whose first strips are asked for; their last group of copies is open.
    __device__ __forceinline__ void run(strip_source<P, T>& source) {
        ring_.ask();
        arch::close_copies();
        int stage = 0;
#pragma unroll 1
        for (int first = 0; first < source.size(); first += geometry::strip_items) {
            arch::wait_for_copies<P::stages - 2>();
            __syncwarp();  // the strip is there, and all lanes are done with the one before it
            ring_.advance();
            ring_.ask();
            source.ask(space_.stages[stage == 0 ? P::stages - 1 : stage - 1]);
            arch::close_copies();
            take_strip(first, space_.stages[stage]);
            stage = stage + 1 == P::stages ? 0 : stage + 1;
        }
    }

    /// Tells the tile's total; waits for what precedes the tile where a segment reaches into it.
    __device__ __forceinline__ void finish(const scan_channel& channel, index_t tile) const {
        const core::headed<T> total{carry_, any_head_};
        if (arch::lane() == 0) tell_total(channel, tile, total);
        if (!open_) return;
        const T before = walk_to_head(channel, tile, total, op_);
        if (arch::lane() == 0 && !pending_) {
            args_.scan.out[args_.bounds[tile] - 1] = op_(before, first_);
        }
    }

private:
    static constexpr int lane_items = geometry::lane_items;

    __device__ __forceinline__ void take_strip(int begin, uint4* stage) {
        const int end = begin + geometry::strip_items;
        int own;
        const int count = mark(begin, end, own);
        if (count == 0 && segment_ != begin) {
            take_plain(stage);
            return;
        }
        index_t rest = 0;
        if (count == P::ring && !ring_.complete()) rest = mark_rest(begin, end);
        if (arch::lane() == 0 && segment_ == begin) space_.heads[0] = 1;
        __syncwarp();  // heads are marked
        combine(stage);
        __syncwarp();  // seeds and scanned items are there
        write(count, own, begin, stage);
        if (count > 0) segment_ = ring_.place(count - 1);
        if (rest > 0) write_rest(rest, begin, stage);
        ring_.drop(count + rest);
    }

    /// A strip inside a segment.
    __device__ __forceinline__ void take_plain(const uint4* stage) {
        const uint4* own = stage + space_type::own_cell();
        T total{};
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            vector items;
            memcpy(&items, own + row, sizeof(uint4));
#pragma unroll
            for (int item = 0; item < vector::items; ++item) {
                const bool begins = row == 0 && item == 0;
                total = begins ? items.get(0) : op_(total, items.get(item));
            }
        }
        total = warp::inclusive_scan(total, op_);
        carry_ = op_(carry_, arch::shuffle(total, arch::warp_lanes - 1));
    }

    /// Marks the heads of the strip that the ring knows, and counts the offsets up to its end;
    /// `own` is the place of the lane's first one.
    __device__ __forceinline__ int mark(int begin, int end, int& own) {
        int count = 0;
        for (;;) {
            const int i = count + arch::lane();
            const int place = i < ring_.ready() ? ring_.place(i) : end + 1;
            if (count == 0) own = place;
            if (place < end) space_.heads[place - begin] = 1;
            const std::uint32_t inside = arch::ballot(place <= end);
            count += __popc(inside);
            if (inside == arch::all_lanes) continue;
            if (count < ring_.ready() || ring_.complete() || !ring_.wait()) return count;
            if (count < arch::warp_lanes) count = 0;  // lanes may have a first one now
        }
    }

    /// The same for the offsets that the ring had no room for; how many they are.
    __device__ index_t mark_rest(int begin, int end) {
        const index_t next = ring_.next() + P::ring;
        if (args_.list.offsets[next] > begin_ + end) return 0;
        const index_t rest =
            first_greater(args_.list, next, ring_.next() + ring_.left(), begin_ + end);
        for_offsets_of_tile<arch::warp_lanes>(args_.list, next, rest, arch::lane(),
                                              [&](index_t, index_t, index_t offset) {
                                                  const auto at = static_cast<int>(offset - begin_);
                                                  if (at < end) space_.heads[at - begin] = 1;
                                              });
        return rest - next;
    }

    /// Scans each lane's items between heads, leaves them in the stage and what precedes each lane
    /// in the seeds.
    __device__ __forceinline__ void combine(uint4* stage) {
        lane_heads<lane_items> own;
        own.load(space_.own_heads());
        space_.clear_own_heads();
        uint4* cells = stage + space_type::own_cell();
        T running{};
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            vector items;
            memcpy(&items, cells + row, sizeof(uint4));
#pragma unroll
            for (int i = 0; i < vector::items; ++i) {
                const int item = row * vector::items + i;
                const T value = items.get(i);
                const bool head = own.at(item);
                const T& before = head || item == 0 ? args_.start : running;
                running = head || item > 0 ? op_(before, value) : value;
                items.set(i, running);
            }
            memcpy(cells + row, &items, sizeof(uint4));
        }
        const auto lanes = warp_heads::of(own.any());
        const T up_to = warp::inclusive_scan(running, op_, lanes.nearest());
        const T lanes_before = arch::shuffle_up(up_to, 1);
        T seed = carry_;
        if (arch::lane() > 0) seed = lanes.below != 0 ? lanes_before : op_(carry_, lanes_before);
        space_.seeds[arch::lane()] = seed;
        const T total = arch::shuffle(up_to, arch::warp_lanes - 1);
        carry_ = lanes.lanes != 0 ? total : op_(carry_, total);
        any_head_ |= lanes.lanes;
    }

    /// The total of segment [first, end), whose last item lies in the strip; an open one's lacks
    /// what precedes the tile.
    __device__ __forceinline__ T total_of(int first, int end, int begin, const uint4* stage) const {
        if (first == end) return args_.empty;
        const auto last = static_cast<std::uint32_t>(end - begin - 1);
        const std::uint32_t lane = last / lane_items;
        const T in_lane = space_type::item_at(stage, last);
        const int lane_begin = begin + static_cast<int>(lane) * lane_items;
        return first < lane_begin ? op_(space_.seeds[lane], in_lane) : in_lane;
    }

    /// Writes the totals of the next `count` segments, whose ends are in the ring; `own` is the
    /// lane's first one.
    __device__ __forceinline__ void write(int count, int own, int begin, const uint4* stage) {
        T* const out = args_.scan.out + ring_.next() - 1;
        const int before = arch::shuffle_up(own, 1);
        if (arch::lane() < count) {
            const int first = arch::lane() == 0 ? segment_ : before;
            const T total = total_of(first, own, begin, stage);
            if (pending_ && arch::lane() == 0) {
                first_ = total;  // waits for what precedes the tile
            } else {
                out[arch::lane()] = total;
            }
        }
#pragma unroll 1
        for (int i = arch::lane() + arch::warp_lanes; i < count; i += arch::warp_lanes) {
            out[i] = total_of(ring_.place(i - 1), ring_.place(i), begin, stage);
        }
        pending_ = pending_ && count == 0;
    }
    __device__ void write_rest(index_t rest, int begin, const uint4* stage) {
        const index_t next = ring_.next() + P::ring;
        for_offsets_of_tile<arch::warp_lanes>(
            args_.list, next, next + rest, arch::lane(),
            [&](index_t j, index_t before, index_t offset) {
                args_.scan.out[j - 1] = total_of(static_cast<int>(before - begin_),
                                                 static_cast<int>(offset - begin_), begin, stage);
            });
        segment_ = static_cast<int>(args_.list.offsets[next + rest - 1] - begin_);
    }

    const segmented_arguments<T>& args_;
    space_type& space_;
    Op op_;
    index_t begin_;           ///< the tile's first item
    offset_ring<P, T> ring_;  ///< the offsets of what is left of the tile
    int segment_;             ///< where the segment of the next item begins; -1: before the tile
    bool open_;               ///< a segment reaches into the tile
    bool pending_;            ///< ... and has not ended yet
    T carry_;                 ///< of the items since the last head
    std::uint32_t any_head_ = 0;
    T first_{};  ///< lane 0: the tile's part of the segment that reaches into it
};

template <class P, class T, class Op>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    segmented_reduce_kernel(const segmented_arguments<T> args, const scan_words words,
                            const Op op) {
    using geometry = strip_geometry<P, T>;
    __shared__ strip_space<P, T> spaces[P::warps];
    __shared__ tile::arrival arrival;
    strip_space<P, T>& space = spaces[arch::warp()];
    if (threadIdx.x == 0) {
        arrival = tile::arrive(words.shared, gridDim.x, slots_of(args.scan.tiles) * words.stride);
    }
    space.clear_own_heads();
    __syncthreads();  // the ticket is written
    const index_t tile = static_cast<index_t>(arrival.order) * P::warps + arch::warp();
    if (tile < args.scan.tiles) {
        strip_source<P, T> source(args.scan, tile);
#pragma unroll
        for (int strip = 0; strip < P::stages - 1; ++strip) {
            if (strip > 0) arch::close_copies();
            source.ask(space.stages[strip]);
        }
        arch::wait_for_earlier_kernel();  // that finds the bounds
        segment_reducer<P, T, Op> reducer(args, space, tile * geometry::tile_items,
                                          args.bounds[tile], args.bounds[tile + 1], op);
        reducer.run(source);
        scan_channel channel = words.channel(args.scan.tiles);
        channel.epoch = arrival.epoch;
        reducer.finish(channel, tile);
    }
    for_constant_chunks<P::threads>(args.list, [&](index_t s) { args.scan.out[s] = args.empty; });
}

}  // namespace lookback::device
