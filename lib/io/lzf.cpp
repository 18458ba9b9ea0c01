#include "io/lzf.hpp"

#include "io/dataset.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <hdf5.h>

namespace lookback::io {
namespace {

// A control byte below 32 starts that many literals, plus 1. Else its upper 3 bits are the length
// of a copy less 2 (7: one more byte follows), and its lower 5 with one more byte the distance
// less 1.
constexpr std::size_t longest_literal = 32;
constexpr std::size_t longest_copy = 264;
constexpr std::size_t farthest_copy = 8192;
constexpr std::size_t shortest_copy = 3;
constexpr int hash_bits = 14;

std::uint32_t byte_at(std::span<const std::byte> in, std::size_t at) {
    return std::to_integer<std::uint32_t>(in[at]);
}

std::uint32_t hash_of(std::span<const std::byte> in, std::size_t at) {
    const std::uint32_t three =
        byte_at(in, at) | byte_at(in, at + 1) << 8 | byte_at(in, at + 2) << 16;
    return three * 2654435761U >> (32 - hash_bits);
}

/// Output that remembers whether it was too short.
class writer {
public:
    explicit writer(std::span<std::byte> out) : out_(out) {}
    bool full() const { return full_; }
    std::size_t size() const { return size_; }
    void put(std::uint32_t value) {
        if (size_ < out_.size()) {
            out_[size_++] = static_cast<std::byte>(value);
        } else {
            full_ = true;
        }
    }
    void put_literals(std::span<const std::byte> bytes) {
        while (!bytes.empty() && !full_) {
            const std::size_t run = std::min(bytes.size(), longest_literal);
            put(static_cast<std::uint32_t>(run - 1));
            full_ |= run > out_.size() - size_;
            if (full_) return;
            std::memcpy(out_.data() + size_, bytes.data(), run);
            size_ += run;
            bytes = bytes.subspan(run);
        }
    }
    void put_copy(std::size_t length, std::size_t distance) {
        const auto far = static_cast<std::uint32_t>(distance - 1);
        const auto extra = static_cast<std::uint32_t>(length - 2);
        put(std::min(extra, 7U) << 5 | far >> 8);
        if (extra >= 7) put(extra - 7);
        put(far & 0xff);
    }

private:
    std::span<std::byte> out_;
    std::size_t size_ = 0;
    bool full_ = false;
};

std::size_t filter_lzf(unsigned flags, std::size_t, const unsigned*, std::size_t bytes,
                       std::size_t* capacity, void** buffer) {
    const std::span<const std::byte> in(static_cast<const std::byte*>(*buffer), bytes);
    const bool decode = (flags & H5Z_FLAG_REVERSE) != 0;
    // Encoded data must be shorter; decoded size is not stored, so try ever more.
    for (std::size_t room = decode ? 4 * bytes + 64 : bytes - 1; room < (std::size_t{1} << 33);
         room *= 2) {
        auto* out = static_cast<std::byte*>(std::malloc(room));
        if (out == nullptr) return 0;
        const std::size_t size = decode ? lzf_decode(in, {out, room}) : lzf_encode(in, {out, room});
        if (size != 0) {
            std::free(*buffer);
            *buffer = out;
            *capacity = room;
            return size;
        }
        std::free(out);
        if (!decode || room > 300 * bytes) return 0;  // a copy of 3 bytes makes 264 at most
    }
    return 0;
}

// h5py's plugin stores its revision, liblzf's version and the bytes of a chunk.
herr_t set_lzf_parameters(hid_t properties, hid_t type, hid_t) {
    std::array<hsize_t, 32> dims{};
    const int rank = H5Pget_chunk(properties, static_cast<int>(dims.size()), dims.data());
    if (rank < 0) return -1;
    std::size_t bytes = H5Tget_size(type);
    for (int k = 0; k < rank; ++k) bytes *= dims[static_cast<std::size_t>(k)];
    const std::array<unsigned, 3> values = {4, 0x0105, static_cast<unsigned>(bytes)};
    return H5Pmodify_filter(properties, filter::lzf, H5Z_FLAG_OPTIONAL, values.size(),
                            values.data());
}

}  // namespace

std::size_t lzf_decode(std::span<const std::byte> in, std::span<std::byte> out) {
    std::size_t from = 0;
    std::size_t to = 0;
    while (from < in.size()) {
        const std::uint32_t control = byte_at(in, from++);
        if (control < longest_literal) {
            const std::size_t run = control + 1;
            if (run > in.size() - from || run > out.size() - to) return 0;
            std::memcpy(out.data() + to, in.data() + from, run);
            from += run;
            to += run;
            continue;
        }
        std::size_t length = (control >> 5) + 2;
        if (length == 9) {
            if (from >= in.size()) return 0;
            length += byte_at(in, from++);
        }
        if (from >= in.size()) return 0;
        const std::size_t distance = ((control & 0x1f) << 8 | byte_at(in, from++)) + 1;
        if (distance > to || length > out.size() - to) return 0;
        // Byte by byte where they overlap: a copy may repeat what it has just made.
        if (distance >= length) {
            std::memcpy(out.data() + to, out.data() + to - distance, length);
            to += length;
        } else {
            for (std::size_t i = 0; i < length; ++i, ++to) out[to] = out[to - distance];
        }
    }
    return to;
}

std::size_t lzf_encode(std::span<const std::byte> in, std::span<std::byte> out) {
    std::array<std::uint32_t, std::size_t{1} << hash_bits> last{};  // position + 1 of each hash
    writer to(out);
    std::size_t literals = 0;  // where those that are not written yet begin
    std::size_t at = 0;
    while (at + shortest_copy <= in.size() && !to.full()) {
        std::uint32_t& entry = last[hash_of(in, at)];
        const std::size_t before = entry;
        entry = static_cast<std::uint32_t>(at + 1);
        const std::size_t start = before - 1;
        if (before == 0 || at - start > farthest_copy ||
            !std::equal(&in[start], &in[start] + shortest_copy, &in[at])) {
            ++at;
            continue;
        }
        const std::size_t limit = std::min(longest_copy, in.size() - at);
        std::size_t length = shortest_copy;
        while (length < limit && in[start + length] == in[at + length]) ++length;
        to.put_literals(in.subspan(literals, at - literals));
        to.put_copy(length, at - start);
        at += length;
        literals = at;
    }
    to.put_literals(in.subspan(literals));
    return to.full() ? 0 : to.size();
}

void register_lzf() {
    static const H5Z_class2_t description = {H5Z_CLASS_T_VERS,   filter::lzf, 1, 1, "lzf", nullptr,
                                             set_lzf_parameters, filter_lzf};
    H5Zregister(&description);
}

}  // namespace lookback::io
