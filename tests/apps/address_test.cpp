// Addresses: where FILE ends and the object begins, with colons in names.
#include "common/address.hpp"

#include <lookback/error.hpp>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lookback::apps {
namespace {

class Address : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  ("lookback_address_" + std::to_string(getpid()));
        std::filesystem::create_directories(folder_ / "dir:");
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string touch(const std::string& name) {
        const auto file = folder_ / name;
        std::ofstream(file).put('x');
        return file.string();
    }
    std::filesystem::path folder_;
};

void expect(const address& got, const std::string& file, const std::string& object) {
    EXPECT_EQ(got.file, file);
    EXPECT_EQ(got.object, object);
}

TEST_F(Address, FileAlone) {
    expect(parse_address("a.h5"), "a.h5", "");
}

TEST_F(Address, SingleAndDoubleColon) {
    expect(parse_address("a.h5:/x/y"), "a.h5", "/x/y");
    expect(parse_address("a.h5::/x/y"), "a.h5", "/x/y");
    expect(parse_address("a.h5::x"), "a.h5", "/x");
    expect(parse_address("a.h5:/"), "a.h5", "/");
    expect(parse_address("a.h5:/x//y/"), "a.h5", "/x/y");
}

TEST_F(Address, AColonWithoutSlashBelongsToTheName) {
    expect(parse_address("2013-01-01T00:00:00.h5"), "2013-01-01T00:00:00.h5", "");
    expect(parse_address("2013-01-01T00:00:00.h5:/x"), "2013-01-01T00:00:00.h5", "/x");
}

TEST_F(Address, TheLastSplitCounts) {
    expect(parse_address("a::b.h5:/x"), "a::b.h5", "/x");
    expect(parse_address("a:/b::c"), "a:/b", "/c");
}

TEST_F(Address, AnExistingFileDecides) {
    const std::string odd = touch("a::b.h5");
    expect(parse_address(odd), odd, "");
    const std::string plain = touch("plain.h5");
    expect(parse_address(plain + ":/group/a::b"), plain, "/group/a::b");
    const std::string inside = touch("dir:/c.h5");
    expect(parse_address(inside), inside, "");
    expect(parse_address(inside + ":/x"), inside, "/x");
}

TEST_F(Address, DatasetOption) {
    expect(parse_address("a.h5", "/x"), "a.h5", "/x");
    expect(parse_address("a.h5", "x"), "a.h5", "/x");
    EXPECT_THROW(parse_address("a.h5:/y", "/x"), error);
    const std::string odd = touch("c::d.h5");
    expect(parse_address(odd, "/x"), odd, "/x");
}

TEST_F(Address, NoFile) {
    EXPECT_THROW(parse_address(":/x"), error);
}

TEST_F(Address, BesideTheInput) {
    const address input{"a.h5", "/group/values"};
    expect(parse_beside("off", input), "a.h5", "/group/off");
    expect(parse_beside("/other/off", input), "a.h5", "/other/off");
    expect(parse_beside("off", {"a.h5", "/"}), "a.h5", "/off");
    const std::string other = touch("other.h5");
    expect(parse_beside(other + ":/off", input), other, "/off");
    EXPECT_THROW(parse_beside("", input), error);
}

}  // namespace
}  // namespace lookback::apps
