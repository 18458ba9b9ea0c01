#include "io/chunk_codec.hpp"

#include "io/byte_order.hpp"
#include "io/hdf5_call.hpp"
#include "io/lzf.hpp"
#include "io/shuffle.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <libdeflate.h>

namespace lookback::io {
namespace {

constexpr std::size_t checksum_bytes = 4;

// Fletcher-32 over big-endian 16-bit words, as H5_checksum_fletcher32.
std::uint32_t fletcher32(const std::byte* data, std::size_t bytes) {
    // The longest run of words whose sums cannot overflow 32 bits.
    constexpr std::size_t words_at_once = 360;
    std::uint32_t sum1 = 0;
    std::uint32_t sum2 = 0;
    const auto reduce = [&] {
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    };
    for (std::size_t words = bytes / 2; words > 0;) {
        const std::size_t run = std::min(words, words_at_once);
        for (std::size_t i = 0; i < run; ++i, data += 2) {
            sum1 += std::to_integer<std::uint32_t>(data[0]) << 8 |
                    std::to_integer<std::uint32_t>(data[1]);
            sum2 += sum1;
        }
        words -= run;
        reduce();
    }
    if (bytes % 2 != 0) {
        sum1 += std::to_integer<std::uint32_t>(data[0]) << 8;
        sum2 += sum1;
        reduce();
    }
    reduce();
    return sum2 << 16 | sum1;
}

std::uint32_t load_little(const std::byte* data) {
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i) value = value << 8 | std::to_integer<std::uint32_t>(data[i]);
    return value;
}

void store_little(std::uint32_t value, std::byte* data) {
    for (int i = 0; i < 4; ++i) data[i] = static_cast<std::byte>(value >> (8 * i));
}

// HDF5 before 1.6.3 stored the sums with the bytes of each half swapped, and all readers take both.
std::uint32_t swap_halves(std::uint32_t sum) {
    return (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
}

// A zlib stream, RFC 1950: header, deflate blocks, checksum.
constexpr std::size_t zlib_header_bytes = 2;
// Above it the smallest size is wanted, whatever the time.
constexpr unsigned most_hasty_level = 6;

std::byte* write_zlib_header(unsigned level, std::byte* to) {
    constexpr unsigned deflate_32k = 0x78;
    const unsigned effort = level < 2 ? 0 : level < 6 ? 1 : level < 8 ? 2 : 3;
    const unsigned check = 31 - (deflate_32k << 8 | effort << 6) % 31;
    to[0] = std::byte{deflate_32k};
    to[1] = static_cast<std::byte>(effort << 6 | check);
    return to + zlib_header_bytes;
}

std::size_t item_bytes_of(const filter& filter) {
    return filter.parameters.empty() ? 1 : std::max(1U, filter.parameters[0]);
}

}  // namespace

void chunk_codec::free_codec::operator()(libdeflate_compressor* codec) const noexcept {
    libdeflate_free_compressor(codec);
}

void chunk_codec::free_codec::operator()(libdeflate_decompressor* codec) const noexcept {
    libdeflate_free_decompressor(codec);
}

bool chunk_codec::knows(std::span<const filter> filters) {
    return std::all_of(filters.begin(), filters.end(), [](const filter& filter) {
        return filter.id == filter::deflate || filter.id == filter::lzf ||
               filter.id == filter::shuffle || filter.id == filter::fletcher32;
    });
}

chunk_codec::chunk_codec(std::string subject, std::vector<filter> filters, std::size_t chunk_bytes,
                         std::size_t swap_bytes)
    : subject_(std::move(subject)),
      filters_(std::move(filters)),
      chunk_bytes_(chunk_bytes),
      swap_bytes_(swap_bytes) {}

chunk_codec::chunk_codec(chunk_codec&&) noexcept = default;
chunk_codec::~chunk_codec() = default;

// A shuffle of the whole item can swap for nothing: it takes the planes in reverse.
bool chunk_codec::swaps_in(const filter& filter) const {
    return swap_bytes_ != 0 && filter.id == filter::shuffle && item_bytes_of(filter) == swap_bytes_;
}

std::size_t chunk_codec::inflate(std::span<const std::byte> raw, std::byte* out,
                                 std::size_t capacity) {
    if (!decompressor_) decompressor_.reset(libdeflate_alloc_decompressor());
    std::size_t size = 0;
    const bool good =
        decompressor_ && libdeflate_zlib_decompress(decompressor_.get(), raw.data(), raw.size(),
                                                    out, capacity, &size) == LIBDEFLATE_SUCCESS;
    if (!good) {
        throw_io_error(subject_, "cannot read",
                       "the data are damaged: a gzip chunk does not decode");
    }
    return size;
}

void chunk_codec::decode(std::span<const std::byte> raw, unsigned filter_mask, std::byte* out) {
    // Filters that the chunk went through, the last one first.
    std::vector<const filter*> steps;
    for (std::size_t i = filters_.size(); i-- > 0;) {
        if ((filter_mask >> i & 1) == 0) steps.push_back(&filters_[i]);
    }
    const std::size_t largest = chunk_bytes_ + checksum_bytes * filters_.size();
    bool swapped = swap_bytes_ == 0;
    std::size_t next_buffer = 0;
    for (const filter* step : steps) {
        if (step->id == filter::fletcher32) {
            const std::size_t size = raw.size() - std::min(raw.size(), checksum_bytes);
            const std::uint32_t sum = fletcher32(raw.data(), size);
            const std::uint32_t stored =
                raw.size() >= checksum_bytes ? load_little(raw.data() + size) : ~sum;
            if (stored != sum && stored != swap_halves(sum)) {
                throw_io_error(subject_, "cannot read",
                               "the data are damaged: a Fletcher32 checksum does not match");
            }
            raw = raw.first(size);
            continue;
        }
        // A checksum that is still to be cut off needs more room than `out` has.
        const bool last = step == steps.back();
        std::byte* const to = last ? out : buffers_[next_buffer++ % 2].reserve(largest);
        const std::size_t room = last ? chunk_bytes_ : largest;
        std::size_t size = raw.size();
        if (step->id == filter::deflate) {
            size = inflate(raw, to, room);
        } else if (step->id == filter::lzf) {
            size = lzf_decode(raw, {to, room});
        } else if (size <= room) {
            const bool swap_now = last && swaps_in(*step);
            swapped |= swap_now;
            unshuffle(raw.data(), size, item_bytes_of(*step),
                      swap_now ? plane_order::swapped : plane_order::as_stored, to);
        }
        raw = {to, size};
    }
    if (raw.size() != chunk_bytes_) {
        throw_io_error(subject_, "cannot read",
                       fmt::format("the data are damaged: a chunk has {} bytes instead of {}",
                                   raw.size(), chunk_bytes_));
    }
    if (raw.data() != out) std::memcpy(out, raw.data(), chunk_bytes_);
    if (!swapped) swap_in_place(out, chunk_bytes_, swap_bytes_);
}

void chunk_codec::require_compressor(unsigned level) {
    if (!compressor_) compressor_.reset(libdeflate_alloc_compressor(static_cast<int>(level)));
    if (!compressor_) throw error(error_kind::out_of_memory, "no memory to compress with");
}

// Where repeats gain nothing, which is so in front, they are not looked for.
std::span<const std::byte> chunk_codec::deflate(std::span<const std::byte> data, unsigned level,
                                                scratch& buffer) {
    const bool hasty = level <= most_hasty_level;
    require_compressor(level);
    const std::size_t bound = libdeflate_deflate_compress_bound(compressor_.get(), data.size());
    std::byte* const begin = buffer.reserve(zlib_header_bytes + deflate_front::bound(data.size()) +
                                            bound + checksum_bytes);
    deflate_front::result front{0, write_zlib_header(level, begin)};
    if (hasty) front = front_.write(data, *compressor_, front.end);
    const auto rest = data.subspan(front.taken);
    // Ends the stream also where nothing is left.
    std::byte* to = front.end + libdeflate_deflate_compress(compressor_.get(), rest.data(),
                                                            rest.size(), front.end, bound);
    const std::uint32_t sum = libdeflate_adler32(1, data.data(), data.size());
    for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(sum >> (24 - 8 * i));
    return {begin, static_cast<std::size_t>(to + checksum_bytes - begin)};
}

chunk_codec::encoded chunk_codec::encode(const std::byte* chunk) {
    encoded result{{chunk, chunk_bytes_}, 0};
    auto& data = result.bytes;
    std::size_t next_buffer = 0;
    bool swapped = swap_bytes_ == 0;
    if (!swapped && (filters_.empty() || !swaps_in(filters_.front()))) {
        std::byte* const to = buffers_[next_buffer++ % 2].reserve(chunk_bytes_);
        std::memcpy(to, data.data(), data.size());
        swap_in_place(to, data.size(), swap_bytes_);
        data = {to, data.size()};
        swapped = true;
    }
    for (std::size_t i = 0; i < filters_.size(); ++i) {
        const filter& filter = filters_[i];
        scratch& buffer = buffers_[next_buffer++ % 2];
        if (filter.id == filter::shuffle) {
            std::byte* const to = buffer.reserve(data.size());
            shuffle(data.data(), data.size(), item_bytes_of(filter),
                    swapped ? plane_order::as_stored : plane_order::swapped, to);
            swapped = true;
            data = {to, data.size()};
        } else if (filter.id == filter::deflate) {
            data = deflate(data, filter.parameters.empty() ? 6 : filter.parameters[0], buffer);
        } else if (filter.id == filter::lzf) {
            // As h5py's: a chunk that does not shrink goes without.
            std::byte* const to = buffer.reserve(data.size());
            const std::size_t size = lzf_encode(data, {to, data.size() - 1});
            if (size == 0) {
                result.filter_mask |= 1U << i;
                --next_buffer;
            } else {
                data = {to, size};
            }
        } else {
            std::byte* const to = buffer.reserve(data.size() + checksum_bytes);
            std::memcpy(to, data.data(), data.size());
            store_little(fletcher32(data.data(), data.size()), to + data.size());
            data = {to, data.size() + checksum_bytes};
        }
    }
    return result;
}

}  // namespace lookback::io
