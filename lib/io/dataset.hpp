// Level lib/io: one dataset: its type, shape and storage.
// Invariant: a row is all items that share an index of the first dimension; rows move as a whole.
#pragma once

#include "io/element_type.hpp"
#include "io/file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookback::io {

enum class layout { compact, contiguous, chunked, external, virtual_dataset };

struct filter {
    int id = 0;
    unsigned flags = 0;                ///< 1 = optional: a chunk may go without it
    std::vector<unsigned> parameters;  ///< HDF5's cd_values
    std::string name;

    static constexpr int deflate = 1, shuffle = 2, fletcher32 = 3, szip = 4, nbit = 5,
                         scale_offset = 6, lzf = 32000;
};

struct shape {
    bool null = false;                    ///< a null dataspace: no items, no dimensions
    std::vector<std::uint64_t> dims;      ///< none for a scalar
    std::vector<std::uint64_t> max_dims;  ///< unlimited where nothing bounds it

    static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

    /// First dimension; 1 for a scalar, 0 for null.
    std::uint64_t rows() const noexcept;
    /// Product of the other dimensions.
    std::uint64_t row_items() const noexcept;
};

class dataset {
public:
    /// Throws error{io_error} that names file and object; also for a virtual dataset whose sources
    /// are missing (HDF5 would read it as fill values), for filters that are not available, and for
    /// sizes past 2^56 bytes.
    static dataset open(const file& file, const std::string& path);

    const std::string& path() const noexcept { return path_; }
    /// "FILE:/path", for messages.
    std::string address() const { return file_path_ + ":" + path_; }
    const element_type& type() const noexcept { return type_; }
    const io::shape& shape() const noexcept { return shape_; }
    std::uint64_t rows() const noexcept { return shape_.rows(); }
    std::uint64_t row_items() const noexcept { return shape_.row_items(); }
    std::uint64_t row_bytes(form form) const { return row_items() * type_.item_bytes(form); }
    std::uint64_t bytes(form form) const { return rows() * row_bytes(form); }

    io::layout layout() const noexcept { return layout_; }
    /// Chunk dimensions; empty where not chunked.
    const std::vector<std::uint64_t>& chunk() const noexcept { return chunk_; }
    const std::vector<io::filter>& filters() const noexcept { return filters_; }
    /// True where chunks that reach over the edge are stored without the filters.
    bool unfiltered_edges() const noexcept { return unfiltered_edges_; }
    /// "u64[1000000], chunks of 131072, shuffle, gzip 4".
    std::string description() const;

    /// The same compound rows with only these fields, in this order (read through HDF5's own
    /// conversion). Throws error{invalid_argument} for an unknown field.
    dataset with_fields(const std::vector<std::string>& names) const;
    /// True where with_fields made this: the memory type is not the file's.
    bool projected() const noexcept { return projected_; }

    const handle& id() const noexcept { return id_; }
    /// The file as the system knows it, for reads beside HDF5.
    const std::string& file_path() const noexcept { return file_path_; }

private:
    friend class output_file;
    friend class reference_book;
    static dataset describe(handle id, std::string file_path, std::string path);

    std::string file_path_;
    std::string path_;
    handle id_;
    element_type type_;
    io::shape shape_;
    io::layout layout_ = io::layout::contiguous;
    std::vector<std::uint64_t> chunk_;
    std::vector<io::filter> filters_;
    bool unfiltered_edges_ = false;
    bool projected_ = false;
};

/// Parses h5repack's notation: NONE, SHUF, GZIP=n, FLET, SZIP=8,NN, NBIT, SOFF=2,IN, LZF,
/// UD=id,flag,n,v1,... Nothing for NONE. Throws error{invalid_argument}.
std::optional<filter> parse_filter(const std::string& text);

/// Gives back the memory that reading variable-length items allocated: `items` items at `memory`,
/// in stored form. Does nothing for types without pointers.
void reclaim(const element_type& type, void* memory, std::uint64_t items);

}  // namespace lookback::io
