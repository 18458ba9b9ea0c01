#include "io/temporary_file.hpp"

#include "io/hdf5_call.hpp"
#include "io/output.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lookback::io {
namespace {

constexpr std::string_view suffix = ".lookback-tmp";

// Paths that a signal handler may have to remove: it can use neither locks nor memory.
struct unfinished_file {
    std::atomic<bool> taken = false;
    std::atomic<bool> active = false;
    char path[PATH_MAX];
};
std::array<unfinished_file, 16> unfinished;

int register_unfinished(const std::string& path) {
    for (std::size_t i = 0; i < unfinished.size(); ++i) {
        if (path.size() >= PATH_MAX || unfinished[i].taken.exchange(true)) continue;
        std::memcpy(unfinished[i].path, path.c_str(), path.size() + 1);
        unfinished[i].active.store(true, std::memory_order_release);
        return static_cast<int>(i);
    }
    return -1;  // more at once than any app has: left to remove_abandoned()
}

void unregister_unfinished(int slot) {
    if (slot < 0) return;
    auto& entry = unfinished[static_cast<std::size_t>(slot)];
    entry.active.store(false, std::memory_order_release);
    entry.taken.store(false, std::memory_order_release);
}

// A lock of the open file description, apart from the flock that HDF5 takes on the same file.
bool lock_in_use(int descriptor) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

[[noreturn]] void throw_system_error(const std::string& subject) {
    throw_io_error(subject, cannot_write, std::strerror(errno));
}

// A link that leads to no file yet is followed as well: its file is what will be made.
std::string follow_links(const std::string& target) {
    constexpr int most_links = 40;  // as the kernel
    namespace fs = std::filesystem;
    std::error_code failure;
    fs::path path = fs::absolute(target);
    for (int links = 0; fs::is_symlink(fs::symlink_status(path, failure)); ++links) {
        if (links == most_links) {
            errno = ELOOP;
            throw_system_error(target);
        }
        path = path.parent_path() / fs::read_symlink(path, failure);
    }
    const fs::path whole = fs::canonical(path, failure);
    if (!failure) return whole.string();
    const fs::path folder = fs::canonical(path.parent_path(), failure);
    return (failure ? path.lexically_normal() : folder / path.filename()).string();
}

// The target's name in the names of files beside it, cut where they would become too long.
std::string name_beside(const std::filesystem::path& target) {
    constexpr std::size_t marks = 2 + 8 + suffix.size();  // two dots, eight digits
    const std::string name = target.filename().string();
    return name.substr(0, NAME_MAX - marks);
}

bool copy_range(int from, int to, std::uint64_t bytes) {
    while (bytes > 0) {
        const ssize_t copied = copy_file_range(from, nullptr, to, nullptr, bytes, 0);
        if (copied < 0 && errno == EINTR) continue;
        if (copied <= 0) return false;
        bytes -= static_cast<std::uint64_t>(copied);
    }
    return true;
}

bool copy_by_hand(int from, int to) {
    std::vector<char> buffer(1 << 20);
    if (lseek(from, 0, SEEK_SET) != 0 || lseek(to, 0, SEEK_SET) != 0) return false;
    while (true) {
        const ssize_t got = ::read(from, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got == 0;
        for (ssize_t done = 0; done < got;) {
            const ssize_t put =
                ::write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return false;
            done += put;
        }
    }
}

}  // namespace

void discard_unfinished_output() noexcept {
    for (auto& entry : unfinished) {
        if (entry.active.load(std::memory_order_acquire)) unlink(entry.path);
    }
}

std::optional<temporary_file::identity> temporary_file::identify(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return std::nullopt;
    return identity{status.st_dev, status.st_ino, static_cast<unsigned long long>(status.st_size),
                    status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

temporary_file::temporary_file(const std::string& target) : subject_(target) {
    struct stat status {};
    unsigned mode = 0666;
    // Asked of the name as it is: the kernel follows /dev/stdout to pipes, which have no path.
    const bool there = stat(target.c_str(), &status) == 0;
    target_ = follow_links(target);
    if (there) {
        if (S_ISDIR(status.st_mode)) throw_io_error(target, cannot_write, "this is a folder");
        if (!S_ISREG(status.st_mode)) {
            throw_io_error(target, cannot_write, "HDF5 needs a regular file, not a pipe or device");
        }
        if (access(target_.c_str(), W_OK) != 0) throw_system_error(target);
        target_id_ = identify(target_);
        mode = status.st_mode & 07777;
    }
    remove_abandoned();
    create(mode);
    if (target_exists()) {
        // The target's owner and mode, as far as this user may give them.
        if (fchown(descriptor_, status.st_uid, status.st_gid) != 0) errno = 0;
        if (fchmod(descriptor_, mode) != 0) errno = 0;
    }
}

void temporary_file::create(unsigned mode) {
    const std::filesystem::path target(target_);
    std::random_device random;
    do {
        path_ = (target.parent_path() /
                 fmt::format(".{}.{:08x}{}", name_beside(target), random(), suffix))
                    .string();
        slot_ = register_unfinished(path_);
        descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor_ < 0) unregister_unfinished(slot_);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) throw_system_error(subject_);
    lock_in_use(descriptor_);  // where locks do not work, nothing is taken for abandoned either
}

temporary_file::~temporary_file() {
    if (!path_.empty()) unlink(path_.c_str());
    unregister_unfinished(slot_);
    if (descriptor_ >= 0) close(descriptor_);
}

// Files of this target whose process was killed: nobody holds their lock.
void temporary_file::remove_abandoned() const {
    const std::filesystem::path target(target_);
    const std::string prefix = fmt::format(".{}.", name_beside(target));
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(target.parent_path(), failure)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
            name.size() != prefix.size() + 8 + suffix.size()) {
            continue;
        }
        const int descriptor = open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (descriptor < 0) continue;
        if (lock_in_use(descriptor)) unlink(entry.path().c_str());
        close(descriptor);
    }
}

void temporary_file::copy_target() {
    const int from = open(target_.c_str(), O_RDONLY | O_CLOEXEC);
    if (from < 0) throw_system_error(subject_);
    bool copied = ioctl(descriptor_, FICLONE, from) == 0;
    struct stat status {};
    if (!copied && fstat(from, &status) == 0) {
        copied = copy_range(from, descriptor_, static_cast<std::uint64_t>(status.st_size));
    }
    if (!copied && errno != ENOSPC && errno != EFBIG && errno != EDQUOT) {
        copied = copy_by_hand(from, descriptor_);
    }
    const int failure = errno;
    close(from);
    errno = failure;
    if (!copied) throw_system_error(subject_);
}

void temporary_file::sync_folder() const {
    const std::string folder = std::filesystem::path(target_).parent_path().string();
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);  // some file systems cannot; the rename is done all the same
    close(descriptor);
}

void temporary_file::publish() {
    if (fsync(descriptor_) != 0) throw_system_error(subject_);
    if (identify(target_) != target_id_) {
        throw_io_error(subject_, cannot_write, "another process changed it meanwhile; run again");
    }
    if (rename(path_.c_str(), target_.c_str()) != 0) throw_system_error(subject_);
    path_.clear();
    unregister_unfinished(slot_);
    slot_ = -1;
    sync_folder();
}

}  // namespace lookback::io
