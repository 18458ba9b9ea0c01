// Files that are missing, garbage, truncated, damaged or locked: one line that names the file.
#include "io/dataset.hpp"
#include "io/table.hpp"
#include "io/transfer.hpp"
#include "lib/io/h5_fixture.hpp"

#include <lookback/error.hpp>

#include <csignal>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

// HDF5 itself leaks where it gives up on damaged metadata.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libhdf5";
}

namespace lookback::io {
namespace {

using test::make_dataset;
using test::make_file;
using test::pattern;

void write_bytes(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
}

class Damage : public testing::Test {
protected:
    // Opens and reads all; the message of the error, empty where there was none.
    std::string failure(const std::string& name) {
        try {
            const file opened = file::open(folder_ / name);
            const table rows = table::open(opened, find_only_table(opened));
            for (const auto& column : rows.datasets()) {
                std::vector<std::byte> bytes(column.bytes(form::stored));
                read(column, form::stored, bytes.data());
            }
        } catch (const error& error) {
            const std::string text = error.what();
            EXPECT_EQ(text.find('\n'), std::string::npos) << text;
            EXPECT_NE(text.find(folder_ / name), std::string::npos) << text;
            return text;
        }
        return "";
    }
    void expect(const std::string& name, const std::string& part) {
        const std::string text = failure(name);
        EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' lacks '" << part << "'";
    }
    // Two columns: gzip with a checksum, and contiguous.
    void make_table(const std::string& name) {
        const hid_t file = make_file(folder_ / name);
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        const hsize_t chunk = 1000;
        H5Pset_chunk(properties, 1, &chunk);
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 4);
        H5Pset_fletcher32(properties);
        make_dataset(file, "/a", {H5T_STD_U64LE, {10000}, {}, properties}, pattern(80000));
        make_dataset(file, "/b", {H5T_STD_U64LE, {10000}, {}, H5P_DEFAULT}, pattern(80000));
        H5Pclose(properties);
        H5Fclose(file);
    }
    test::folder folder_;
};

TEST_F(Damage, FilesThatAreNoFiles) {
    expect("absent.h5", "No such file");
    std::filesystem::create_directory(folder_ / "folder.h5");
    expect("folder.h5", "folder");
    write_bytes(folder_ / "empty.h5", {});
    expect("empty.h5", "empty");
    ASSERT_EQ(mkfifo((folder_ / "pipe.h5").c_str(), 0600), 0);
    expect("pipe.h5", "pipe");
}

TEST_F(Damage, GarbageIsNotHdf5) {
    write_bytes(folder_ / "garbage.h5", pattern(10000));
    expect("garbage.h5", "not an HDF5 file");
}

TEST_F(Damage, EveryTruncationIsAnError) {
    make_table("whole.h5");
    EXPECT_EQ(failure("whole.h5"), "");
    const auto bytes = test::file_bytes(folder_ / "whole.h5");
    for (std::size_t i = 1; i < 40; ++i) {
        const std::size_t size = bytes.size() * i / 40;
        write_bytes(folder_ / "cut.h5", {bytes.begin(), bytes.begin() + static_cast<long>(size)});
        EXPECT_NE(failure("cut.h5"), "") << size << " of " << bytes.size();
    }
    expect("cut.h5", "truncated");
}

TEST_F(Damage, FlippedBytesNeverCrash) {
    make_table("whole.h5");
    const auto bytes = test::file_bytes(folder_ / "whole.h5");
    int failures = 0;
    std::uint32_t state = 7;
    for (int trial = 0; trial < 150; ++trial) {
        auto damaged = bytes;
        for (int i = 0; i < 4; ++i) {
            state = state * 1664525U + 1013904223U;
            // Metadata first: they are few, and at the start.
            const std::size_t range = trial % 2 == 0 ? 4096 : bytes.size();
            damaged[state % range] = static_cast<std::byte>(state >> 24);
        }
        write_bytes(folder_ / "damaged.h5", damaged);
        failures += failure("damaged.h5").empty() ? 0 : 1;
    }
    EXPECT_GT(failures, 30);
}

TEST_F(Damage, AWrongChecksumAndABadGzipChunkAreTold) {
    for (const bool checksum : {true, false}) {
        const std::string name = checksum ? "sum.h5" : "gzip.h5";
        const hid_t file = make_file(folder_ / name);
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        const hsize_t chunk = 1000;
        H5Pset_chunk(properties, 1, &chunk);
        H5Pset_deflate(properties, 4);
        if (checksum) H5Pset_fletcher32(properties);
        make_dataset(file, "/a", {H5T_STD_U64LE, {1000}, {}, properties}, pattern(8000));
        const hid_t id = H5Dopen2(file, "/a", H5P_DEFAULT);
        const hsize_t first = 0;
        hsize_t size = 0;
        std::uint32_t mask = 0;
        H5Dget_chunk_storage_size(id, &first, &size);
        std::vector<std::byte> raw(size);
        H5Dread_chunk(id, H5P_DEFAULT, &first, &mask, raw.data());
        raw[size / 2] ^= std::byte{0x55};
        H5Dwrite_chunk(id, H5P_DEFAULT, 0, &first, size, raw.data());
        H5Dclose(id);
        H5Fclose(file);
        expect(name, checksum ? "Fletcher32" : "gzip chunk");
    }
}

TEST_F(Damage, ObjectsOfTheWrongKindAreNamed) {
    make_table("whole.h5");
    const file opened = file::open(folder_ / "whole.h5");
    const auto message = [&](const std::string& path) {
        try {
            dataset::open(opened, path);
        } catch (const error& failure) {
            return std::string(failure.what());
        }
        return std::string();
    };
    EXPECT_NE(message("/none/at/all").find("whole.h5:/none/at/all"), std::string::npos);
    EXPECT_NE(message("/none").find("no such object"), std::string::npos);
    EXPECT_NE(message("/").find("a group"), std::string::npos);
}

// A process that holds a lock on the file until its pipe is closed.
class lock_holder {
public:
    lock_holder(const std::string& path, int operation) {
        int ready[2];
        if (pipe(ready) != 0) std::abort();
        child_ = fork();
        if (child_ == 0) {
            const int descriptor = open(path.c_str(), O_RDWR);
            flock(descriptor, operation);
            if (::write(ready[1], "x", 1) != 1) _exit(1);
            pause();
            _exit(0);
        }
        char c = 0;
        if (::read(ready[0], &c, 1) != 1) std::abort();
        close(ready[0]);
        close(ready[1]);
    }
    lock_holder(const lock_holder&) = delete;
    lock_holder& operator=(const lock_holder&) = delete;
    ~lock_holder() {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }

private:
    pid_t child_ = 0;
};

TEST_F(Damage, AFileThatIsBeingWrittenIsRefused) {
    make_table("whole.h5");
    {
        const lock_holder reader(folder_ / "whole.h5", LOCK_SH);
        EXPECT_EQ(failure("whole.h5"), "");
    }
    const lock_holder writer(folder_ / "whole.h5", LOCK_EX);
    expect("whole.h5", "open for writing");
}

TEST_F(Damage, AReadOnlyFileInAReadOnlyFolderIsRead) {
    make_table("whole.h5");
    namespace fs = std::filesystem;
    fs::permissions(folder_ / "whole.h5", fs::perms::owner_read);
    fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(failure("whole.h5"), "");
    fs::permissions(folder_.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace lookback::io
