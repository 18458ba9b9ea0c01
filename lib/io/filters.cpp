#include "io/filters.hpp"

#include "io/hdf5_call.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace lookback::io {
namespace {

struct plugin {
    int id;
    std::string_view name;
    std::string_view package;  // of Debian 12
};

constexpr std::array plugins = {
    plugin{filter::lzf, "lzf", "hdf5-plugin-lzf"},  // for its name: lib/io has its own
    plugin{307, "bzip2", "hdf5-filter-plugin"},
    plugin{32004, "lz4", "hdf5-filter-plugin"},
    plugin{32008, "bitshuffle", "hdf5-filter-plugin"},
    plugin{32001, "blosc", "hdf5-filter-plugin-blosc-serial"},
    plugin{32013, "zfp", "hdf5-filter-plugin-zfp-serial"},
    plugin{32015, "zstd", ""},
    plugin{32026, "blosc2", ""},
};

const plugin* find_plugin(int id) {
    const auto* const found =
        std::find_if(plugins.begin(), plugins.end(), [&](const plugin& p) { return p.id == id; });
    return found != plugins.end() ? found : nullptr;
}

// Plugins that may round values; most of them can work without loss too, which their parameters do
// not tell to strangers.
constexpr std::array lossy_plugins = {32005, 32007, 32013, 32014, 32016, 32017, 32018,
                                      32019, 32021, 32022, 32023, 32024, 32028};

bool changes_values(const filter& filter, bool retyped) {
    if (filter.id == filter::scale_offset) {
        // Parameters: the kind, then decimal digits of real numbers or bits of integers; as many
        // bits as each chunk needs where that is 0.
        const bool exact = filter.parameters.size() > 1 && filter.parameters[0] == H5Z_SO_INT &&
                           filter.parameters[1] == H5Z_SO_INT_MINBITS_DEFAULT;
        return retyped || !exact;
    }
    return std::find(lossy_plugins.begin(), lossy_plugins.end(), filter.id) != lossy_plugins.end();
}

bool keeps_size(const filter& filter) {
    return filter.id == filter::shuffle || filter.id == filter::fletcher32 ||
           filter.id == filter::nbit;
}

[[noreturn]] void throw_missing(const std::string& subject, const filter& filter,
                                std::string_view action) {
    const plugin* const known = find_plugin(filter.id);
    const std::string name = known != nullptr ? std::string(known->name) : filter.name;
    const std::string advice = known != nullptr && !known->package.empty()
                                   ? fmt::format("install the package {}", known->package)
                                   : "install its plugin and set HDF5_PLUGIN_PATH to its folder";
    throw_io_error(subject, action,
                   fmt::format("the HDF5 filter plugin {}{} is missing; {}", filter.id,
                               name.empty() ? "" : fmt::format(" ({})", name), advice));
}

[[noreturn]] void throw_bad_filter(const std::string& text, std::string_view reason) {
    throw error(error_kind::invalid_argument,
                fmt::format("filter '{}': {}; write NONE, SHUF, GZIP=0..9, FLET, SZIP=8,NN, NBIT, "
                            "SOFF=2,IN, LZF or UD=id,flag,count,values",
                            text, reason));
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

unsigned to_number(const std::string& text, const std::string& digits) {
    unsigned value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, value);
    if (failure != std::errc() || stop != end) {
        throw_bad_filter(text, fmt::format("'{}' is not a number", digits));
    }
    return value;
}

filter parse_szip(const std::string& text, const std::vector<std::string>& values) {
    if (values.size() != 2) throw_bad_filter(text, "szip takes pixels a block and NN or EC");
    unsigned coding = 0;
    if (values[1] == "NN") coding = H5_SZIP_NN_OPTION_MASK;
    if (values[1] == "EC") coding = H5_SZIP_EC_OPTION_MASK;
    if (coding == 0) throw_bad_filter(text, "the coding is NN or EC");
    const unsigned pixels = to_number(text, values[0]);
    if (pixels < 2 || pixels > 32 || pixels % 2 != 0) {
        throw_bad_filter(text, "pixels a block are even and 2..32");
    }
    return {filter::szip, H5Z_FLAG_OPTIONAL, {coding, pixels}, "szip"};
}

filter parse_scale_offset(const std::string& text, const std::vector<std::string>& values) {
    if (values.size() != 2) throw_bad_filter(text, "scale-offset takes a factor and IN or DS");
    if (values[1] != "IN" && values[1] != "DS") throw_bad_filter(text, "the type is IN or DS");
    const unsigned type = values[1] == "IN" ? H5Z_SO_INT : H5Z_SO_FLOAT_DSCALE;
    return {filter::scale_offset, H5Z_FLAG_OPTIONAL, {type, to_number(text, values[0])}, ""};
}

filter parse_user_defined(const std::string& text, const std::vector<std::string>& values) {
    if (values.size() < 3) throw_bad_filter(text, "UD takes id, flag, count and the values");
    filter result{static_cast<int>(to_number(text, values[0])), to_number(text, values[1]), {}, ""};
    if (values.size() != 3 + to_number(text, values[2])) {
        throw_bad_filter(text, "the count is not the number of values");
    }
    for (std::size_t i = 3; i < values.size(); ++i) {
        result.parameters.push_back(to_number(text, values[i]));
    }
    return result;
}

void add_filter(const std::string& subject, hid_t properties, const filter& filter) {
    constexpr std::string_view cannot_set = "cannot set a filter";
    const auto& values = filter.parameters;
    checked(subject, cannot_set, [&] {
        // HDF5 completes szip's and scale-offset's parameters only through their own calls.
        if (filter.id == filter::szip && values.size() >= 2) {
            return H5Pset_szip(properties,
                               values[0] & (H5_SZIP_NN_OPTION_MASK | H5_SZIP_EC_OPTION_MASK),
                               values[1]);
        }
        if (filter.id == filter::scale_offset && values.size() >= 2) {
            return H5Pset_scaleoffset(properties, static_cast<H5Z_SO_scale_type_t>(values[0]),
                                      static_cast<int>(values[1]));
        }
        if (filter.id == filter::shuffle) return H5Pset_shuffle(properties);
        if (filter.id == filter::fletcher32) return H5Pset_fletcher32(properties);
        if (filter.id == filter::nbit) return H5Pset_nbit(properties);
        return H5Pset_filter(properties, filter.id, filter.flags, values.size(), values.data());
    });
}

}  // namespace

std::string filter_text(const filter& filter) {
    switch (filter.id) {
        case filter::deflate:
            return fmt::format("gzip {}", filter.parameters.empty() ? 0 : filter.parameters[0]);
        case filter::shuffle:
            return "shuffle";
        case filter::fletcher32:
            return "fletcher32";
        case filter::szip:
            return "szip";
        case filter::nbit:
            return "nbit";
        case filter::scale_offset:
            return "scale-offset";
        default:
            break;
    }
    const plugin* const known = find_plugin(filter.id);
    if (known != nullptr) return std::string(known->name);
    return fmt::format("filter {}", filter.id);
}

void require_filters(const std::string& subject, std::span<const filter> filters, bool encode) {
    const std::string_view action = encode ? "cannot write" : "cannot read";
    for (const auto& filter : filters) {
        const auto lock = library_lock();
        unsigned flags = 0;
        const bool available =
            H5Zfilter_avail(filter.id) > 0 && H5Zget_filter_info(filter.id, &flags) >= 0;
        take_error_lines();
        if (!available) throw_missing(subject, filter, action);
        const unsigned needed =
            encode ? H5Z_FILTER_CONFIG_ENCODE_ENABLED : H5Z_FILTER_CONFIG_DECODE_ENABLED;
        if ((flags & needed) == 0) {
            throw_io_error(subject, action,
                           fmt::format("this HDF5 library cannot {} {}",
                                       encode ? "encode" : "decode", filter_text(filter)));
        }
    }
}

std::vector<filter> filters_of(const std::string& subject, const handle& creation_properties) {
    constexpr std::string_view cannot_read = "cannot read its filters";
    const hid_t properties = creation_properties.id();
    const int count = checked(subject, cannot_read, [&] { return H5Pget_nfilters(properties); });
    std::vector<filter> filters;
    for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
        filter filter;
        std::size_t values = 0;
        std::array<char, 256> name{};
        filter.id = checked(subject, cannot_read, [&] {
            return H5Pget_filter2(properties, i, &filter.flags, &values, nullptr, name.size(),
                                  name.data(), nullptr);
        });
        filter.parameters.resize(values);
        checked(subject, cannot_read, [&] {
            return H5Pget_filter2(properties, i, &filter.flags, &values, filter.parameters.data(),
                                  0, nullptr, nullptr);
        });
        filter.name = name.data();
        filters.push_back(std::move(filter));
    }
    return filters;
}

void set_filters(const std::string& subject, const handle& creation_properties,
                 std::span<const filter> filters) {
    checked(subject, "cannot set the filters",
            [&] { return H5Premove_filter(creation_properties.id(), H5Z_FILTER_ALL); });
    for (const auto& filter : filters) add_filter(subject, creation_properties.id(), filter);
}

lossless_filters without_loss(std::span<const filter> filters, bool retyped) {
    lossless_filters result;
    bool compressed = false;
    for (const auto& filter : filters) {
        if (!changes_values(filter, retyped)) {
            result.filters.push_back(filter);
            compressed = compressed || !keeps_size(filter);
            continue;
        }
        result.lost += (result.lost.empty() ? "" : ", ") + filter_text(filter);
    }
    if (result.lost.empty() || compressed) return result;
    // Checksums are of what is stored: they stay behind the compression.
    const auto end = std::find_if(result.filters.begin(), result.filters.end(),
                                  [](const filter& f) { return f.id == filter::fletcher32; });
    const bool shuffled = std::any_of(result.filters.begin(), result.filters.end(),
                                      [](const filter& f) { return f.id == filter::shuffle; });
    std::vector<filter> packed{{filter::deflate, H5Z_FLAG_OPTIONAL, {4}, "deflate"}};
    if (!shuffled)
        packed.insert(packed.begin(), {filter::shuffle, H5Z_FLAG_OPTIONAL, {}, "shuffle"});
    result.filters.insert(end, packed.begin(), packed.end());
    return result;
}

std::optional<filter> parse_filter(const std::string& text) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::vector<std::string> values =
        equals == std::string::npos ? std::vector<std::string>() : split(text.substr(equals + 1));
    const bool plain = values.empty();
    if (name == "NONE" && plain) return std::nullopt;
    if (name == "SHUF" && plain) return filter{filter::shuffle, 1, {}, "shuffle"};
    if (name == "FLET" && plain) return filter{filter::fletcher32, 0, {}, "fletcher32"};
    if (name == "NBIT" && plain) return filter{filter::nbit, 1, {}, "nbit"};
    if (name == "LZF" && plain) return filter{filter::lzf, 1, {}, "lzf"};
    if (name == "SZIP") return parse_szip(text, values);
    if (name == "SOFF") return parse_scale_offset(text, values);
    if (name == "UD") return parse_user_defined(text, values);
    if (name == "GZIP") {
        if (values.size() > 1) throw_bad_filter(text, "gzip takes one level");
        const unsigned level = plain ? 6 : to_number(text, values[0]);
        if (level > 9) throw_bad_filter(text, "the level is 0..9");
        return filter{filter::deflate, H5Z_FLAG_OPTIONAL, {level}, "deflate"};
    }
    throw_bad_filter(text, "unknown");
}

}  // namespace lookback::io
