// Level lib/io, private: one chunk through gzip, lzf, shuffle and fletcher32, in any order.
// Invariant: the bytes that HDF5's own filters read and write. One codec a thread.
#pragma once

#include "io/dataset.hpp"
#include "io/deflate_front.hpp"
#include "io/scratch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace lookback::io {

class chunk_codec {
public:
    /// True where every filter is one that this codec knows.
    static bool knows(std::span<const filter> filters);

    /// `subject` is for messages. `swap_bytes` is the item size where the memory's byte order
    /// differs from the file's, else 0.
    chunk_codec(std::string subject, std::vector<filter> filters, std::size_t chunk_bytes,
                std::size_t swap_bytes);
    chunk_codec(chunk_codec&&) noexcept;
    ~chunk_codec();

    /// Decodes the bytes of a stored chunk into `out`, chunk_bytes long. Throws error{io_error}
    /// where they are damaged. `raw` may be overwritten.
    void decode(std::span<const std::byte> raw, unsigned filter_mask, std::byte* out);

    struct encoded {
        std::span<const std::byte> bytes;
        unsigned filter_mask = 0;  // filters that the chunk goes without
    };
    /// Encodes chunk_bytes bytes; the result lies in this codec until its next call, or is `chunk`
    /// itself where nothing has to be done.
    encoded encode(const std::byte* chunk);

private:
    std::size_t inflate(std::span<const std::byte> raw, std::byte* out, std::size_t capacity);
    std::span<const std::byte> deflate(std::span<const std::byte> data, unsigned level,
                                       scratch& buffer);
    void require_compressor(unsigned level);
    bool swaps_in(const filter& filter) const;

    std::string subject_;
    std::vector<filter> filters_;
    std::size_t chunk_bytes_;
    std::size_t swap_bytes_;
    scratch buffers_[2];
    deflate_front front_;
    struct free_codec {
        void operator()(libdeflate_compressor* codec) const noexcept;
        void operator()(libdeflate_decompressor* codec) const noexcept;
    };
    std::unique_ptr<libdeflate_compressor, free_codec> compressor_;
    std::unique_ptr<libdeflate_decompressor, free_codec> decompressor_;
};

}  // namespace lookback::io
