#include "io/handle.hpp"

#include "io/hdf5_call.hpp"

namespace lookback::io {

static_assert(std::is_same_v<handle::id_type, hid_t>, "handle::id_type is HDF5's hid_t");

handle::handle(const handle& other) : id_(other.id_) {
    if (id_ < 0) return;
    const auto lock = library_lock();
    H5Iinc_ref(id_);
}

handle::~handle() {
    if (id_ < 0) return;
    const auto lock = library_lock();
    // Whoever must know whether closing worked (output_file) closes by hand before.
    if (H5Iis_valid(id_) > 0) H5Idec_ref(id_);
}

}  // namespace lookback::io
