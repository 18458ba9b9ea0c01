// Atomic output: what is there before, during and after a commit, a failure and a kill.
#include "io/output.hpp"

#include "io/hdf5_call.hpp"
#include "io/transfer.hpp"
#include "lib/io/h5_fixture.hpp"

#include <lookback/error.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace lookback::io {
namespace {

using test::bytes_of;
using test::file_bytes;
using test::make_dataset;
using test::make_file;
using test::pattern;
using test::plain_read;

class Output : public testing::Test {
protected:
    // Before HDF5 is used by anyone else: what it does at exit is settled there.
    static void SetUpTestSuite() { library_lock(); }
    void SetUp() override {
        const hid_t file = make_file(folder_ / "a.h5");
        make_dataset(file, "/x", {H5T_STD_U64LE, {1000}, {}, H5P_DEFAULT}, pattern(8000));
        make_dataset(file, "/g/y", {H5T_STD_U64LE, {1000}, {}, H5P_DEFAULT}, pattern(8000, 2));
        H5Fclose(file);
    }
    // Copies /x of a.h5 to a place.
    void copy(output_file& output, const std::string& to) const {
        const dataset source = dataset::open(file::open(folder_ / "a.h5"), "/x");
        const dataset made = output.create_like(source, to, source.rows());
        std::vector<std::byte> bytes(source.bytes(form::stored));
        read(source, form::stored, bytes.data());
        write(made, form::stored, bytes.data());
    }
    template <class Function>
    std::string message_of(Function&& function) {
        try {
            function();
        } catch (const error& failure) {
            return failure.what();
        }
        return "no error";
    }
    test::folder folder_;
};

TEST_F(Output, NothingIsThereBeforeCommitAndOnlyTheTargetAfter) {
    {
        output_file output(folder_ / "out.h5");
        copy(output, "/deep/er/x");
        EXPECT_FALSE(std::filesystem::exists(folder_ / "out.h5"));
        output.commit();
    }
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/deep/er/x"), pattern(8000));
    EXPECT_EQ(folder_.entries(), 2U);
}

TEST_F(Output, WithoutCommitTheTargetStaysAsItWas) {
    const auto before = file_bytes(folder_ / "a.h5");
    {
        output_file output(folder_ / "a.h5");
        copy(output, "/z");
    }
    EXPECT_EQ(file_bytes(folder_ / "a.h5"), before);
    EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(Output, AnExistingFileIsAddedTo) {
    output_file output(folder_ / "a.h5");
    EXPECT_NE(message_of([&] { copy(output, "/x"); }).find("a.h5:/x"), std::string::npos);
    EXPECT_NE(message_of([&] { output.require_absent("/g"); }).find("--overwrite"),
              std::string::npos);
    copy(output, "/g/z");
    output.commit();
    EXPECT_EQ(plain_read(folder_ / "a.h5", "/x"), pattern(8000));
    EXPECT_EQ(plain_read(folder_ / "a.h5", "/g/y"), pattern(8000, 2));
    EXPECT_EQ(plain_read(folder_ / "a.h5", "/g/z"), pattern(8000));
}

TEST_F(Output, OverwriteReplacesTheObjectAndTruncateTheFile) {
    {
        output_file output(folder_ / "a.h5", {.overwrite = true});
        copy(output, "/g/y");
        output.commit();
    }
    EXPECT_EQ(plain_read(folder_ / "a.h5", "/g/y"), pattern(8000));
    EXPECT_EQ(plain_read(folder_ / "a.h5", "/x"), pattern(8000));
    {
        output_file output(folder_ / "a.h5", {.truncate = true});
        copy(output, "/only");
        output.commit();
    }
    EXPECT_EQ(plain_read(folder_ / "a.h5", "/only"), pattern(8000));
    EXPECT_EQ(kind_of(file::open(folder_ / "a.h5"), "/x"), object_kind::missing);
}

TEST_F(Output, ImpossiblePlacesAreRefused) {
    EXPECT_NE(message_of([&] { output_file(folder_ / "no/folder/x.h5"); }).find("No such file"),
              std::string::npos);
    EXPECT_NE(message_of([&] { output_file(folder_.path().string()); }).find("folder"),
              std::string::npos);
    EXPECT_NE(message_of([&] { output_file("/dev/null"); }).find("regular file"),
              std::string::npos);
    std::ofstream(folder_ / "text.h5") << "not HDF5 at all";
    EXPECT_NE(message_of([&] { output_file(folder_ / "text.h5"); }).find("not an HDF5 file"),
              std::string::npos);
    output_file output(folder_ / "a.h5");
    EXPECT_NE(message_of([&] { copy(output, "/x/inside"); }).find("/x is not a group"),
              std::string::npos);
    EXPECT_NE(message_of([&] { copy(output, "/"); }).find("name the new dataset"),
              std::string::npos);
    EXPECT_EQ(folder_.entries(), 3U);  // a.h5, text.h5 and the file beside
}

TEST_F(Output, LinksAndModesOfTheTargetAreKept) {
    std::filesystem::create_directory(folder_ / "real");
    std::filesystem::rename(folder_ / "a.h5", folder_ / "real/a.h5");
    std::filesystem::create_symlink("real/a.h5", folder_ / "a.h5");
    ASSERT_EQ(chmod((folder_ / "real/a.h5").c_str(), 0640), 0);
    output_file output(folder_ / "a.h5");
    copy(output, "/z");
    output.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "a.h5"));
    struct stat status {};
    ASSERT_EQ(stat((folder_ / "real/a.h5").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640U);
    EXPECT_EQ(plain_read(folder_ / "real/a.h5", "/z"), pattern(8000));
}

TEST_F(Output, ATargetThatChangedMeanwhileIsNotLost) {
    output_file first(folder_ / "a.h5");
    copy(first, "/first");
    {
        output_file second(folder_ / "a.h5");
        copy(second, "/second");
        second.commit();
    }
    EXPECT_NE(message_of([&] { first.commit(); }).find("another process"), std::string::npos);
    EXPECT_EQ(plain_read(folder_ / "a.h5", "/second"), pattern(8000));
}

TEST_F(Output, FilesOfKilledProcessesAreRemovedAndOthersNot) {
    std::ofstream(folder_ / ".out.h5.0123abcd.lookback-tmp") << "left behind";
    std::ofstream(folder_ / ".out.h5.keep") << "somebody's";
    const output_file alive(folder_ / "out.h5");
    EXPECT_EQ(folder_.entries(), 3U);
    const output_file second(folder_ / "out.h5");
    EXPECT_EQ(folder_.entries(), 4U);
    EXPECT_TRUE(std::filesystem::exists(folder_ / ".out.h5.keep"));
}

TEST_F(Output, DiscardRemovesWhatIsUnfinished) {
    output_file output(folder_ / "out.h5");
    copy(output, "/x");
    EXPECT_EQ(folder_.entries(), 2U);
    discard_unfinished_output();
    EXPECT_EQ(folder_.entries(), 1U);
    EXPECT_NE(message_of([&] { output.commit(); }), "no error");
}

TEST_F(Output, ADeniedWriteLeavesThePreviousOutput) {
    const auto before = file_bytes(folder_ / "a.h5");
    for (const bool chunked : {false, true}) {
        const pid_t child = fork();
        if (child == 0) {
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit = {100000, 100000};
            setrlimit(RLIMIT_FSIZE, &limit);
            const std::string message = message_of([&] {
                output_file output(folder_ / "a.h5");
                storage_options storage;
                if (chunked) storage.filters = {*parse_filter("GZIP=1")};
                const dataset made = output.create("/z", data_type::u64, 100000, storage);
                std::vector<std::byte> bytes = pattern(800000);
                write(made, form::native, bytes.data());
                output.commit();
            });
            const bool told = message.find("a.h5") != std::string::npos &&
                              message.find("File too large") != std::string::npos;
            if (!told) std::fprintf(stderr, "'%s'\n", message.c_str());
            std::exit(told ? 0 : 1);  // not _exit: leaving must not crash either
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        EXPECT_EQ(file_bytes(folder_ / "a.h5"), before);
        EXPECT_EQ(folder_.entries(), 1U);
    }
}

TEST_F(Output, AKillAtAnyMomentLeavesTheOldFileOrTheNew) {
    const auto before = file_bytes(folder_ / "a.h5");
    int finished = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const pid_t child = fork();
        if (child == 0) {
            output_file output(folder_ / "a.h5", {.overwrite = true});
            storage_options storage;
            if (trial % 2 == 0) storage.filters = {*parse_filter("GZIP=4")};
            const dataset made = output.create("/z", data_type::u64, 100000, storage);
            const std::vector<std::byte> bytes = pattern(800000);
            write(made, form::native, bytes.data());
            output.commit();
            _exit(0);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(trial * 400));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        if (file_bytes(folder_ / "a.h5") == before) continue;
        ++finished;
        EXPECT_EQ(plain_read(folder_ / "a.h5", "/z"), pattern(800000));
        EXPECT_EQ(plain_read(folder_ / "a.h5", "/g/y"), pattern(8000, 2));
    }
    { const output_file cleans(folder_ / "a.h5"); }
    EXPECT_EQ(folder_.entries(), 1U);
    RecordProperty("finished", finished);
}

}  // namespace
}  // namespace lookback::io
