// Level lib/io, private: the references of an output, which are set when all objects are there.
// Invariant: a reference follows its object to the object's new path, whichever of the object's
// names led there; one whose object is not in the output is empty, and told.
#pragma once

#include "io/attributes.hpp"
#include "io/dataset.hpp"
#include "io/file.hpp"
#include "io/object_walk.hpp"
#include "io/reference_mover.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace lookback::io {

class reference_book {
public:
    /// An object of the source is made anew at `to`.
    void follow(const std::string& subject, const handle& source, const std::string& to);
    /// H5Ocopy has copied the object at `from`, with all below it, to `to`: it leaves references in
    /// attributes as they are, where they then point anywhere, and clears those of datasets.
    void follow_copy(const file& source, const std::string& from, const std::string& to,
                     const std::string& subject, const handle& target_file);
    /// The dataset at `to` holds the source's references, in rows of its own order.
    void follow_rows(const handle& source, const std::string& to);
    /// The object at `path` of the output, with all below, gives way to another: what referred to
    /// it in the output will refer to that, or be empty where nothing has its path.
    void replace(const std::string& subject, const handle& target, const std::string& path);
    /// Attributes to be set at the end.
    void add(std::vector<pending_attribute> attributes);

    /// Sets them all; one line for each that is lost, and for what cannot be read to see to it.
    std::vector<std::string> set_all(const file& target);
    void clear();

private:
    /// A dataset of the output that holds references to objects of the source.
    struct pending_items {
        handle source;
        std::string target_path;
        bool copied;  // by H5Ocopy, which cleared them: read from the source
    };

    void follow_replaced(const file& target, std::vector<std::string>& told);
    static void follow_replaced(const file& target, const found_object& object, bool is_pending,
                                const reference_visitor& visit, std::vector<std::string>& unread);
    void set_items(const file& target, std::vector<std::string>& told);
    void set_attributes(const file& target, std::vector<std::string>& told);
    new_place place_of(const object_place& object, const std::string& referrer) const;
    reference_mover mover(const std::string& subject, const handle& source, const handle& target,
                          const std::string& referrer);

    std::map<std::uint64_t, std::string> replaced_;  // by their former addresses
    std::multimap<object_place, new_place> places_;  // of what was made or copied
    std::vector<pending_attribute> attributes_;
    std::vector<pending_items> items_;
    /// What else is in the sources: their paths by their addresses.
    std::map<unsigned long, std::unordered_map<std::uint64_t, std::string>> paths_;
};

}  // namespace lookback::io
