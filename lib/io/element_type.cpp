#include "io/element_type.hpp"

#include "io/hdf5_call.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace lookback::io {
namespace {

constexpr std::string_view type_subject = "HDF5 datatype";
constexpr std::string_view cannot_read_type = "cannot read its description";

std::size_t size_of_type(hid_t type) {
    const auto lock = library_lock();
    const std::size_t bytes = H5Tget_size(type);
    if (bytes == 0)
        throw_hdf5_error(type_subject, cannot_read_type, std::source_location::current());
    return bytes;
}

bool is_machine_order(H5T_order_t order) {
    return order == (std::endian::native == std::endian::little ? H5T_ORDER_LE : H5T_ORDER_BE);
}

bool is_byte_order(H5T_order_t order) {
    return order == H5T_ORDER_LE || order == H5T_ORDER_BE;
}

void describe_integer(hid_t type, element_type& out) {
    constexpr std::array with_sign = {data_type::i8, data_type::i16, data_type::i32,
                                      data_type::i64};
    constexpr std::array without_sign = {data_type::u8, data_type::u16, data_type::u32,
                                         data_type::u64};
    if (out.bytes > 8) return;
    const auto log2 = static_cast<std::size_t>(std::bit_width(std::bit_ceil(out.bytes)) - 1);
    const auto lock = library_lock();
    out.key = (H5Tget_sign(type) == H5T_SGN_2 ? with_sign : without_sign)[log2];
    const H5T_order_t order = H5Tget_order(type);
    out.exact = std::has_single_bit(out.bytes) && H5Tget_precision(type) == out.bytes * 8 &&
                (out.bytes == 1 || is_byte_order(order));
    out.swapped = out.exact && out.bytes > 1 && !is_machine_order(order);
}

// HDF5 converts no bit field to a number, so that only those that fill their bytes are keys.
void describe_bit_field(hid_t type, element_type& out) {
    constexpr std::array keys = {data_type::u8, data_type::u16, data_type::u32, data_type::u64};
    out.kind = element_kind::bit_field;
    const auto lock = library_lock();
    const H5T_order_t order = H5Tget_order(type);
    out.exact = out.bytes <= 8 && std::has_single_bit(out.bytes) &&
                H5Tget_precision(type) == out.bytes * 8 && (out.bytes == 1 || is_byte_order(order));
    if (!out.exact) return;
    out.key = keys[static_cast<std::size_t>(std::countr_zero(out.bytes & 15))];
    out.swapped = out.bytes > 1 && !is_machine_order(order);
}

struct float_format {
    data_type key;
    std::size_t bytes, sign, exponent, exponent_bits, mantissa_bits, bias;
};

constexpr std::array float_formats = {
    float_format{data_type::f16, 2, 15, 10, 5, 10, 15},
    float_format{data_type::f32, 4, 31, 23, 8, 23, 127},
    float_format{data_type::f64, 8, 63, 52, 11, 52, 1023},
};

void describe_float(hid_t type, element_type& out) {
    const auto lock = library_lock();
    std::size_t sign = 0;
    std::size_t exponent = 0;
    std::size_t exponent_bits = 0;
    std::size_t mantissa = 0;
    std::size_t mantissa_bits = 0;
    if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0) {
        throw_hdf5_error(type_subject, cannot_read_type, std::source_location::current());
    }
    const H5T_order_t order = H5Tget_order(type);
    for (const auto& known : float_formats) {
        if (out.bytes == known.bytes && sign == known.sign && exponent == known.exponent &&
            exponent_bits == known.exponent_bits && mantissa == 0 &&
            mantissa_bits == known.mantissa_bits && H5Tget_ebias(type) == known.bias &&
            H5Tget_norm(type) == H5T_NORM_IMPLIED && is_byte_order(order)) {
            out.key = known.key;
            out.exact = true;
            out.swapped = !is_machine_order(order);
            return;
        }
    }
    // Other formats of up to 8 bytes fit a double; a long double would lose bits.
    if (out.bytes <= 8) out.key = data_type::f64;
}

std::string member_name(hid_t type, unsigned member) {
    const auto lock = library_lock();
    char* text = H5Tget_member_name(type, member);
    if (text == nullptr) {
        throw_hdf5_error(type_subject, cannot_read_type, std::source_location::current());
    }
    std::string name = text;
    H5free_memory(text);
    return name;
}

void describe_enum(hid_t type, element_type& out) {
    const handle base =
        checked_handle(type_subject, cannot_read_type, [&] { return H5Tget_super(type); });
    describe_integer(base.id(), out);
    out.kind = element_kind::enumeration;
    const auto lock = library_lock();
    if (out.bytes != 1 || H5Tget_nmembers(type) != 2) return;
    std::int8_t first = -1;
    std::int8_t second = -1;
    H5Tget_member_value(type, 0, &first);
    H5Tget_member_value(type, 1, &second);
    if (first == 0 && second == 1 && member_name(type, 0) == "FALSE" &&
        member_name(type, 1) == "TRUE") {
        out.kind = element_kind::boolean;
    }
}

void describe_compound(hid_t type, element_type& out) {
    out.kind = element_kind::compound;
    const int members =
        checked(type_subject, cannot_read_type, [&] { return H5Tget_nmembers(type); });
    for (unsigned member = 0; member < static_cast<unsigned>(members); ++member) {
        field field;
        field.name = member_name(type, member);
        {
            const auto lock = library_lock();
            field.offset = H5Tget_member_offset(type, member);
        }
        field.type = describe_type(checked_handle(
            type_subject, cannot_read_type, [&] { return H5Tget_member_type(type, member); }));
        out.has_pointers |= field.type.has_pointers;
        out.has_references |= field.type.has_references;
        out.fields.push_back(std::move(field));
    }
    if (members == 2 && out.fields[0].name == "r" && out.fields[1].name == "i" &&
        out.fields[0].type.kind == element_kind::floating &&
        out.fields[1].type.bytes == out.fields[0].type.bytes) {
        out.kind = element_kind::complex;
    }
}

// Arrays and variable-length sequences: only what their base brings along.
void describe_container(hid_t type, H5T_class_t type_class, element_type& out) {
    element_type base = describe_type(
        checked_handle(type_subject, cannot_read_type, [&] { return H5Tget_super(type); }));
    out.has_pointers = base.has_pointers || type_class == H5T_VLEN;
    out.has_references = base.has_references;
    if (type_class != H5T_ARRAY) return;
    out.kind = element_kind::array;
    out.elements = out.bytes / base.bytes;
    out.fields.push_back({"", 0, std::move(base)});
}

std::string bytes_text(std::size_t bytes) {
    return bytes == 1 ? "1 byte" : fmt::format("{} bytes", bytes);
}

std::string_view other_name(hid_t type) {
    const auto lock = library_lock();
    switch (H5Tget_class(type)) {
        case H5T_VLEN:
            return "variable-length item";
        case H5T_TIME:
            return "time";
        default:
            return "opaque item";
    }
}

}  // namespace

element_type describe_type(const handle& type) {
    element_type out;
    out.type = type;
    out.bytes = size_of_type(type.id());
    const auto type_class = [&] {
        const auto lock = library_lock();
        return H5Tget_class(type.id());
    }();
    switch (type_class) {
        case H5T_INTEGER:
            out.kind = element_kind::integer;
            describe_integer(type.id(), out);
            break;
        case H5T_FLOAT:
            out.kind = element_kind::floating;
            describe_float(type.id(), out);
            break;
        case H5T_STRING:
            out.has_pointers = checked(type_subject, cannot_read_type,
                                       [&] { return H5Tis_variable_str(type.id()); }) > 0;
            out.kind =
                out.has_pointers ? element_kind::variable_string : element_kind::fixed_string;
            {
                const auto lock = library_lock();
                const H5T_str_t padding = H5Tget_strpad(type.id());
                out.zero_ended = padding == H5T_STR_NULLTERM;
                out.space_padded = padding == H5T_STR_SPACEPAD;
            }
            break;
        case H5T_BITFIELD:
            describe_bit_field(type.id(), out);
            break;
        case H5T_ENUM:
            describe_enum(type.id(), out);
            break;
        case H5T_COMPOUND:
            describe_compound(type.id(), out);
            break;
        case H5T_REFERENCE:
            out.kind = element_kind::reference;
            out.has_references = true;
            break;
        case H5T_ARRAY:
        case H5T_VLEN:
            describe_container(type.id(), type_class, out);
            break;
        default:
            break;
    }
    return out;
}

// A copy is no named type any more. But where a file shares messages between headers, HDF5 1.10
// notes their place in copies too, and writes that into other files, which nobody can read then.
handle detached_type(const std::string& subject, const element_type& type) {
    constexpr std::string_view cannot_copy = "cannot copy its type";
    std::size_t bytes = 0;
    const hid_t id = type.type.id();
    checked(subject, cannot_copy, [&] { return H5Tencode(id, nullptr, &bytes); });
    std::vector<std::byte> text(bytes);
    checked(subject, cannot_copy, [&] { return H5Tencode(id, text.data(), &bytes); });
    return checked_handle(subject, cannot_copy, [&] { return H5Tdecode(text.data()); });
}

std::vector<enum_value> enum_values(const element_type& type) {
    const hid_t id = type.type.id();
    const handle base =
        checked_handle(type_subject, cannot_read_type, [&] { return H5Tget_super(id); });
    const int members =
        checked(type_subject, cannot_read_type, [&] { return H5Tget_nmembers(id); });
    const bool is_signed = type.key && *type.key <= data_type::i64;
    std::vector<enum_value> values;
    for (unsigned member = 0; member < static_cast<unsigned>(members); ++member) {
        enum_value value{member_name(id, member), 0};
        std::vector<std::byte> bytes(std::max(type.bytes, sizeof(value.bits)));
        checked(type_subject, cannot_read_type,
                [&] { return H5Tget_member_value(id, member, bytes.data()); });
        checked(type_subject, cannot_read_type, [&] {
            return H5Tconvert(base.id(), is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, 1,
                              bytes.data(), nullptr, H5P_DEFAULT);
        });
        std::memcpy(&value.bits, bytes.data(), sizeof(value.bits));
        values.push_back(std::move(value));
    }
    return values;
}

bool same_type(const element_type& a, const element_type& b) {
    return checked(type_subject, "cannot compare it",
                   [&] { return H5Tequal(a.type.id(), b.type.id()); }) > 0;
}

std::size_t element_type::item_bytes(io::form form) const {
    if (form == io::form::stored) return bytes;
    if (!key) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{} has no order that Lookback knows", name()));
    }
    return size_of(*key);
}

std::string element_type::name() const {
    const std::string_view order = !swapped ? ""
                                   : std::endian::native == std::endian::little
                                       ? " (big-endian)"
                                       : " (little-endian)";
    switch (kind) {
        case element_kind::integer:
        case element_kind::floating:
            return exact && key ? fmt::format("{}{}", name_of(*key), order)
                                : fmt::format("{} of {} in another format",
                                              kind == element_kind::integer ? "integer" : "float",
                                              bytes_text(bytes));
        case element_kind::boolean:
            return "bool";
        case element_kind::enumeration:
            return key ? fmt::format("enum of {}{}", name_of(*key), order) : "enum";
        case element_kind::fixed_string:
            return fmt::format("string of {}", bytes_text(bytes));
        case element_kind::variable_string:
            return "variable-length string";
        case element_kind::complex:
            return fmt::format("complex of {}", bytes_text(bytes));
        case element_kind::compound: {
            std::string text = fmt::format("compound of {} {{", bytes_text(bytes));
            for (const auto& field : fields) {
                text +=
                    (&field != fields.data() ? ", " : "") + field.name + ": " + field.type.name();
            }
            return text + "}";
        }
        case element_kind::array:
            return fmt::format("array of {} {}", elements, fields.front().type.name());
        case element_kind::reference:
            return "reference";
        case element_kind::bit_field:
            return fmt::format("bit field of {}{}", bytes_text(bytes), order);
        case element_kind::other:
            break;
    }
    return fmt::format("{} of {}", other_name(type.id()), bytes_text(bytes));
}

}  // namespace lookback::io
