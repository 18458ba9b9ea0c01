#include "cpu/scan_reproducible.hpp"

#include "cpu/tree_lanes.hpp"
#include "cpu/tree_walk.hpp"

#include <lookback/kernels/core/tile_shape.hpp>

namespace lookback::cpu {
namespace {

/// The items of an array, for tree_walk.
template <class T>
class item_tiles {
public:
    using value_type = T;

    item_tiles(std::span<const T> in, std::span<T> out, bool exclusive, bool stream,
               const scan_options<T>& options)
        : lanes_(find_tree_lanes<T>(options.op)),
          start_(options.init.value_or(lanes_.identity)),
          in_(in.data()),
          out_(out.data()),
          exclusive_(exclusive),
          stream_(stream),
          shape_{static_cast<core::index_t>(in.size()),
                 core::reproducible_tree<sizeof(T)>::tile_items} {}

    T identity() const { return lanes_.identity; }
    T start() const { return start_; }
    auto combine() const { return lanes_.combine; }
    core::index_t tiles() const { return shape_.tiles(); }

    T total(core::index_t tile) const {
        return lanes_.total(in_ + shape_.begin(tile), static_cast<std::size_t>(shape_.size(tile)));
    }
    T scan(core::index_t tile, T before) const {
        const core::index_t begin = shape_.begin(tile);
        return lanes_.scan(in_ + begin, out_ + begin, static_cast<std::size_t>(shape_.size(tile)),
                           before, exclusive_, stream_);
    }

private:
    tree_lanes<T> lanes_;
    T start_;
    const T* in_;
    T* out_;
    bool exclusive_;
    bool stream_;
    core::tile_shape shape_;
};

}  // namespace

template <class T>
void scan_reproducible(executor& threads, memory_resource& memory, std::span<const T> in,
                       std::span<T> out, bool exclusive, const scan_options<T>& options,
                       const scan_limits& limits) {
    const item_tiles<T> source(in, out, exclusive, limits.streams(in, out), options);
    walk_tree(source, memory, threads, in.size_bytes() < limits.threads_from_bytes);
}

template void scan_reproducible(executor&, memory_resource&, std::span<const float>,
                                std::span<float>, bool, const scan_options<float>&,
                                const scan_limits&);
template void scan_reproducible(executor&, memory_resource&, std::span<const double>,
                                std::span<double>, bool, const scan_options<double>&,
                                const scan_limits&);

}  // namespace lookback::cpu
