// The command line: spellings, order, config files, refusals that help.
#include "common/options.hpp"

#include <lookback/error.hpp>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lookback::apps {
namespace {

app_description sample() {
    option_group own{"Sample options", {}};
    auto add = own.options.add_options();
    add("key,k", list_option("NAME"), "a key");
    add("reverse,r", flag_option(), "the other way round");
    add("head", text_option("N"), "the first N");
    add("output,o", text_option("FILE"), "where to");
    return {"sample", "Does a thing.", "  sample IN\n", "  sample a.h5\n", {own}};
}

command_line parse(std::vector<const char*> words) {
    words.insert(words.begin(), "sample");
    return parse_command_line(sample(), static_cast<int>(words.size()), words.data());
}

std::string refusal(const std::vector<const char*>& words) {
    try {
        parse(words);
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
        return failure.what();
    }
    ADD_FAILURE() << "accepted";
    return {};
}

class Config : public ::testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(file_); }
    const char* write(const std::string& text) {
        std::ofstream(file_) << text;
        return file_.c_str();
    }
    std::string file_ =
        (std::filesystem::temp_directory_path() / ("lookback_config_" + std::to_string(getpid())))
            .string();
};

TEST(Options, AnyOrderAndSpelling) {
    for (const auto& words : std::vector<std::vector<const char*>>{
             {"a.h5", "b.h5", "-k", "x", "-k", "y:desc", "-r", "-o", "out", "-@", "3"},
             {"-rkx", "a.h5", "--key=y:desc", "-oout", "b.h5", "--threads", "3"},
             {"--reverse", "--key", "x", "--output=out", "-@3", "-ky:desc", "--", "a.h5",
              "b.h5"}}) {
        const command_line line = parse(words);
        EXPECT_EQ(line.inputs, (std::vector<std::string>{"a.h5", "b.h5"}));
        EXPECT_EQ(line.list("key"), (std::vector<std::string>{"x", "y:desc"}));
        EXPECT_TRUE(line.flag("reverse"));
        EXPECT_EQ(line.text("output"), "out");
        EXPECT_EQ(line.common.threads, 3);
    }
}

TEST(Options, Defaults) {
    const command_line line = parse({"a.h5"});
    EXPECT_EQ(line.common.backend, backend::automatic);
    EXPECT_EQ(line.common.memory, 0U);
    EXPECT_EQ(line.common.progress, progress_mode::automatic);
    EXPECT_FALSE(line.flag("reverse"));
    EXPECT_FALSE(line.has("output"));
    EXPECT_TRUE(line.list("key").empty());
}

TEST(Options, TheLastValueCounts) {
    const command_line line = parse({"-o", "one", "-q", "-q", "-o", "two", "a.h5"});
    EXPECT_EQ(line.text("output"), "two");
    EXPECT_TRUE(line.common.quiet);
    EXPECT_EQ(line.inputs, std::vector<std::string>{"a.h5"});
}

TEST(Options, UnknownOnesNameTheNearest) {
    EXPECT_NE(refusal({"--revers"}).find("did you mean '--reverse'?"), std::string::npos);
    EXPECT_NE(refusal({"--rev"}).find("did you mean '--reverse'?"), std::string::npos);
    EXPECT_NE(refusal({"--ouptut=x"}).find("did you mean '--output'?"), std::string::npos);
    EXPECT_NE(refusal({"--zzzzzzzzz"}).find("see sample --help"), std::string::npos);
    EXPECT_NE(refusal({"-x"}).find("'-x'"), std::string::npos);
}

TEST(Options, BadValuesNameOptionAndValue) {
    EXPECT_NE(refusal({"--backend", "gpu"}).find("'gpu' is none of auto, cpu, cuda"),
              std::string::npos);
    EXPECT_NE(refusal({"-@", "0"}).find("'0'"), std::string::npos);
    EXPECT_NE(refusal({"-@", "99999999"}).find("99999999"), std::string::npos);
    EXPECT_NE(refusal({"-S", "lots"}).find("'lots'"), std::string::npos);
    EXPECT_NE(refusal({"-v", "-q"}).find("--quiet"), std::string::npos);
    EXPECT_NE(refusal({"a.h5", "-o"}).find("--output"), std::string::npos);
}

TEST_F(Config, FillsInWhatTheCommandLineLeaves) {
    const char* file =
        write("# comment\nkey = x\nkey = y\nreverse = true\noutput = conf\nthreads=2\n");
    const command_line filled = parse({"a.h5", "--config", file});
    EXPECT_EQ(filled.list("key"), (std::vector<std::string>{"x", "y"}));
    EXPECT_TRUE(filled.flag("reverse"));
    EXPECT_EQ(filled.common.threads, 2);
    const command_line overridden = parse({"--config", file, "-k", "z", "-o", "line", "a.h5"});
    EXPECT_EQ(overridden.list("key"), std::vector<std::string>{"z"});
    EXPECT_EQ(overridden.text("output"), "line");
}

TEST_F(Config, RefusalsNameTheFile) {
    EXPECT_NE(refusal({"--config", write("revers = true\n")}).find(file_), std::string::npos);
    EXPECT_NE(refusal({"--config", "/nonexistent/c"}).find("/nonexistent/c"), std::string::npos);
    EXPECT_NE(refusal({"--config", write("just words\n")}).find(file_), std::string::npos);
    EXPECT_NE(refusal({"--config", write("revers = true\n")}).find("'--reverse'"),
              std::string::npos);
}

TEST(Help, NamesEveryOptionAndFitsATerminal) {
    const std::string text = help_text(sample());
    for (const char* option : {"-k, --key NAME", "-r, --reverse", "--head N", "-@, --threads N",
                               "-S, --memory SIZE", "--json FILE|-", "-h, --help", "Exit status"}) {
        EXPECT_NE(text.find(option), std::string::npos) << option << "\n" << text;
    }
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        EXPECT_LE(end - at, 80U) << text.substr(at, end - at);
        at = end + 1;
    }
    EXPECT_EQ(text.find("--input"), std::string::npos);
}

TEST(Names, SplitAtCommas) {
    EXPECT_EQ(split_names("--columns", "a"), std::vector<std::string>{"a"});
    EXPECT_EQ(split_names("--columns", "a,\"b,c\",d"), (std::vector<std::string>{"a", "b,c", "d"}));
    EXPECT_THROW(split_names("--columns", "a,,b"), error);
    EXPECT_THROW(split_names("--columns", ""), error);
    EXPECT_THROW(split_names("--columns", "\"a"), error);
}

TEST(Nearest, KnowsSlipsFromOtherWords) {
    const std::vector<std::string> words{"time", "energy", "detector"};
    EXPECT_EQ(nearest("tiem", words), "time");
    EXPECT_EQ(nearest("Energy", words), "energy");
    EXPECT_EQ(nearest("position", words), "");
}

}  // namespace
}  // namespace lookback::apps
