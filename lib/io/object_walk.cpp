#include "io/object_walk.hpp"

#include <unordered_map>

namespace lookback::io {
namespace {

constexpr std::string_view cannot_walk = "cannot list its objects";

struct hard_link {
    std::string name;
    std::uint64_t address;
};

herr_t collect_hard_link(hid_t, const char* name, const H5L_info_t* info, void* out) {
    if (info->type == H5L_TYPE_HARD) {
        static_cast<std::vector<hard_link>*>(out)->push_back({name, info->u.address});
    }
    return 0;
}

std::string below(const std::string& group, const std::string& name) {
    return group == "." ? name : group + "/" + name;
}

found_object look_at(const handle& root, const hard_link& link) {
    found_object found{link.name, link.address};
    H5O_info_t info;
    if (H5Oget_info_by_name2(root.id(), link.name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) >=
        0) {
        found.kind = kind_of_type(info.type);
        found.links = info.rc;
    }
    return found;
}

/// Gives what `gives` says yes to, and goes on below that; asked at each link that is met.
template <class Gives>
std::vector<found_object> walk(const std::string& subject, const handle& root, Gives gives) {
    const auto lock = library_lock();
    std::vector<found_object> all;
    std::unordered_map<std::uint64_t, unsigned> met;
    // The next one last. Groups may nest deeper than a stack does.
    std::vector<hard_link> left{{".", place_of(subject, root).second}};
    while (!left.empty()) {
        const hard_link link = std::move(left.back());
        left.pop_back();
        const unsigned times = ++met[link.address];
        found_object found = look_at(root, link);
        found.met = times;
        if (!gives(found)) continue;
        all.push_back(std::move(found));
        if (all.back().kind != object_kind::group) continue;
        std::vector<hard_link> links;
        if (H5Literate_by_name(root.id(), link.name.c_str(), H5_INDEX_NAME, H5_ITER_DEC, nullptr,
                               collect_hard_link, &links, H5P_DEFAULT) < 0) {
            all.back().kind = object_kind::missing;
        }
        for (auto& [name, address] : links) left.push_back({below(link.name, name), address});
    }
    take_error_lines();
    return all;
}

}  // namespace

object_kind kind_of_type(H5O_type_t type) {
    switch (type) {
        case H5O_TYPE_GROUP:
            return object_kind::group;
        case H5O_TYPE_DATASET:
            return object_kind::dataset;
        case H5O_TYPE_NAMED_DATATYPE:
            return object_kind::named_type;
        default:
            return object_kind::missing;
    }
}

object_place place_of(const std::string& subject, const handle& object) {
    H5O_info_t info;
    checked(subject, cannot_walk, [&] { return H5Oget_info2(object.id(), &info, H5O_INFO_BASIC); });
    return {info.fileno, info.addr};
}

std::vector<found_object> objects_below(const std::string& subject, const handle& root) {
    return walk(subject, root, [](const found_object& found) { return found.met == 1; });
}

// A link from a group that lives on is never met, and one from an object to itself keeps it.
std::vector<found_object> objects_freed_with(const std::string& subject, const handle& root) {
    return walk(subject, root, [](const found_object& found) { return found.met == found.links; });
}

}  // namespace lookback::io
