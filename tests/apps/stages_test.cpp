// Stages, the progress line and the report.
#include "common/stages.hpp"

#include "common/progress.hpp"
#include "common/report.hpp"

#include <lookback/error.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lookback::apps {
namespace {

TEST(Stage, TimesWhatRuns) {
    stages all;
    stage& read = all.add("read", 100);
    EXPECT_EQ(read.seconds(), 0);
    {
        const stage_scope scope(read);
        EXPECT_TRUE(read.running());
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const double once = read.seconds();
    EXPECT_GE(once, 0.02);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(read.seconds(), once);
    { const stage_scope scope(read); }
    EXPECT_GE(read.seconds(), once);
}

TEST(ProgressLine, ShareRateAndTimeLeft) {
    stages all;
    stage& read = all.add("read", 1 << 20);
    all.add("write", 1 << 20);
    const stage_scope scope(read);
    read.done() += 1 << 20;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::string line = progress_line("h5sort", all, 65);
    EXPECT_NE(line.find("h5sort: read"), std::string::npos) << line;
    EXPECT_NE(line.find("[############------------]  50%"), std::string::npos) << line;
    EXPECT_NE(line.find("/s"), std::string::npos) << line;
    EXPECT_NE(line.find("1:05 left"), std::string::npos) << line;
}

TEST(ProgressLine, MoreThanPlannedIsStillWhole) {
    stages all;
    stage& read = all.add("read", 10);
    read.done() += 50;
    EXPECT_NE(progress_line("h5sort", all, 1).find("100%"), std::string::npos);
}

TEST(Report, HasTheAgreedKeys) {
    stages all;
    all.add("read", 8).done() += 8;
    report told;
    told.app = "h5sort";
    told.inputs = {"a.h5:/x"};
    told.more = {{"sorted", false}};
    const auto json = to_json(told, all, 1.5);
    for (const char* key :
         {"app", "version", "inputs", "output", "rows_in", "rows_out", "bytes_in", "bytes_out",
          "seconds", "stages", "backend", "threads", "strategy", "peak_memory_bytes", "sorted"}) {
        EXPECT_TRUE(json.contains(key)) << key;
    }
    EXPECT_EQ(json["stages"][0]["bytes"], 8);
    EXPECT_TRUE(json["output"].is_null());
    EXPECT_GT(json["peak_memory_bytes"], 0);
}

TEST(WriteText, ReplacesWholeFilesAndNamesFailures) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("lookback_report_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string file = (folder / "r.json").string();
    write_text(file, "one");
    write_text(file, "two\n");
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    EXPECT_EQ(text.str(), "two\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    try {
        write_text((folder / "none" / "r.json").string(), "x");
        ADD_FAILURE() << "written";
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::io_error);
        EXPECT_NE(std::string(failure.what()).find("none/r.json"), std::string::npos);
    }
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lookback::apps
