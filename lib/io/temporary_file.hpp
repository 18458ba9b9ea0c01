// Level lib/io, private: a file beside its target, under which it is renamed when complete.
// Invariant: it is removed on destruction and by discard_unfinished_output(), and what a killed
// process left is removed by the next one that writes the same target.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace lookback::io {

class temporary_file {
public:
    /// Makes an empty file beside `target`, with the target's mode where that exists. Links are
    /// followed, so that a linked target stays linked. Throws error{io_error}.
    explicit temporary_file(const std::string& target);
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file();

    const std::string& path() const noexcept { return path_; }
    bool target_exists() const noexcept { return target_id_.has_value(); }
    /// True where there is nothing to keep: no file, or one without a byte (as mktemp makes).
    bool target_is_empty() const noexcept { return !target_id_ || target_id_->size == 0; }

    /// Copies the target's bytes: as a clone that shares its blocks where the file system can.
    void copy_target();
    /// Writes through to the disk and takes the target's name. Throws error{io_error}, also where
    /// another process has changed the target since.
    void publish();

private:
    struct identity {
        unsigned long long device, file, size;
        long long seconds, nanoseconds;
        bool operator==(const identity&) const = default;
    };
    static std::optional<identity> identify(const std::string& path);
    void create(unsigned mode);
    void remove_abandoned() const;
    void sync_folder() const;

    std::string subject_;  // the target as the user wrote it
    std::string target_;
    std::string path_;
    std::optional<identity> target_id_;
    int descriptor_ = -1;  // holds the lock that marks the file as in use
    int slot_ = -1;        // in the table of unfinished files
};

}  // namespace lookback::io
