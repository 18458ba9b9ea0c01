// Level lib/io, private: the references of an output, which are set when all objects are there.
// Invariant: a reference follows its object to the object's new path; one whose object is not in
// the output is left out, and told.
#pragma once

#include "io/attributes.hpp"
#include "io/file.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lookback::io {

class reference_book {
public:
    /// The object of the source at `from` is made anew at `to`.
    void follow(const std::string& from, const std::string& to);
    /// H5Ocopy has copied the object at `from`, with all below it, to `to`: it leaves references in
    /// attributes as they are, where they then point anywhere, and clears those of datasets.
    void follow_copy(const file& source, const std::string& from, const std::string& to,
                     const std::string& subject, const handle& target_file);
    /// Attributes to be set at the end.
    void add(std::vector<pending_attribute> attributes);

    /// Sets them all; one line for each that is left out.
    std::vector<std::string> set_all(const file& target);
    void clear();

private:
    std::string new_path(const std::string& path) const;

    std::map<std::string, std::string> made_;                  // by their paths in the source
    std::vector<std::pair<std::string, std::string>> copied_;  // with all below
    std::vector<pending_attribute> attributes_;
    std::vector<pending_attribute> items_;  // of datasets: no name
};

}  // namespace lookback::io
