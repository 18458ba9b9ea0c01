// Level lib/io: what one item of a dataset is: its kind, bytes and byte order.
// Invariant: the type in the file is kept as it is; `key` says what it is read as when compared.
#pragma once

#include "io/handle.hpp"

#include <lookback/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookback::io {

enum class element_kind {
    integer,
    floating,
    boolean,      ///< h5py's bool: enum of int8 {FALSE, TRUE}
    enumeration,  ///< any other enum
    bit_field,    ///< compared as an unsigned integer; PyTables' and pandas' bool is one of 8 bits
    fixed_string,
    variable_string,
    complex,  ///< h5py's complex: compound {r, i}
    compound,
    array,  ///< a fixed number of items of one type
    reference,
    other,  ///< opaque, time, variable-length sequence
};

/// How an item lies in memory.
enum class form {
    stored,  ///< the file's bytes, in the file's byte order; variable-length parts are pointers
    native,  ///< as `element_type::key`, in the machine's byte order; only where there is a key
};

struct field;

struct element_type {
    element_kind kind = element_kind::other;
    std::size_t bytes = 0;         ///< of an item in memory, in stored form
    std::optional<data_type> key;  ///< numbers, enums and bit fields that Lookback can compare
    bool swapped = false;          ///< with a key: the file's order is not the machine's
    bool exact = false;            ///< with a key: the stored bits are the key's, but for order
    bool has_pointers = false;     ///< variable-length data inside: reclaim after reading
    bool zero_ended = false;       ///< a fixed string that ends at its first zero byte
    bool space_padded = false;     ///< a fixed string whose end is blanks, as Fortran's
    bool has_references = false;   ///< object or region references inside
    std::vector<field> fields;     ///< of a compound, in file order; of an array its base, unnamed
    std::uint64_t elements = 1;    ///< of an array: how many of the base
    handle type;                   ///< HDF5's own, a transient copy

    /// Bytes of an item in memory in this form. Throws error{invalid_argument} for native without
    /// a key.
    std::size_t item_bytes(io::form form) const;
    /// "u64", "i32 (big-endian)", "string of 8 bytes", "compound of 12 bytes {time: f64, ...}".
    std::string name() const;
};

/// One member of a compound; `offset` is in the stored form of a row.
struct field {
    std::string name;
    std::size_t offset = 0;
    element_type type;
};

/// True where items of both types mean the same, byte for byte: also places of members, names and
/// values of enums, padding of strings.
bool same_type(const element_type& a, const element_type& b);

/// One value of an enum: `bits` is its two's complement in 64 bits.
struct enum_value {
    std::string name;
    std::uint64_t bits = 0;
};
/// The values of an enum (or bool) with a key, in the type's order. Throws error{io_error}.
std::vector<enum_value> enum_values(const element_type& type);

/// The same datatype for objects of another file: it knows of no name or place in its own.
handle detached_type(const std::string& subject, const element_type& type);

/// Describes an HDF5 datatype. Throws error{io_error}.
element_type describe_type(const handle& type);

}  // namespace lookback::io
