// Tables: groups of columns, compound rows, single datasets; what is found, chosen and carried
// over.
#include "io/table.hpp"

#include "io/output.hpp"
#include "io/transfer.hpp"
#include "lib/io/h5_fixture.hpp"

#include <lookback/error.hpp>

#include <numeric>

namespace lookback::io {
namespace {

using test::bytes_of;
using test::make_dataset;
using test::make_file;
using test::pattern;
using test::plain_read;

using strings = std::vector<std::string>;

class Tables : public testing::Test {
protected:
    void SetUp() override { file_ = make_file(folder_ / "in.h5"); }
    void make(const std::string& path, std::vector<hsize_t> dims, hid_t type = H5T_STD_I32LE) {
        std::size_t items = 1;
        for (const auto d : dims) items *= d;
        make_dataset(file_, path, {type, dims, {}, H5P_DEFAULT},
                     pattern(items * H5Tget_size(type)));
    }
    // What lib/io sees from now on.
    file opened() {
        if (file_ >= 0) H5Fclose(file_);
        file_ = -1;
        return file::open(folder_ / "in.h5");
    }
    template <class Function>
    std::string message_of(Function&& function) {
        try {
            function();
        } catch (const error& failure) {
            EXPECT_EQ(failure.kind(), error_kind::invalid_argument) << failure.what();
            return failure.what();
        }
        return "no error";
    }
    test::folder folder_;
    hid_t file_ = -1;
};

void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' lacks '" << part << "'";
}

hid_t row_type() {
    const hid_t type = H5Tcreate(H5T_COMPOUND, 14);
    H5Tinsert(type, "id", 0, H5T_STD_U16BE);
    H5Tinsert(type, "energy", 2, H5T_IEEE_F64LE);
    H5Tinsert(type, "count", 10, H5T_STD_I32BE);
    return type;
}

TEST_F(Tables, AGroupOfEqualColumns) {
    make("/events/time", {100}, H5T_IEEE_F64LE);
    make("/events/image", {100, 4, 3});
    make("/events/id", {100});
    const table rows = table::open(opened(), "events/");
    EXPECT_EQ(rows.kind(), table_kind::group);
    EXPECT_EQ(rows.path(), "/events");
    EXPECT_EQ(rows.rows(), 100U);
    EXPECT_EQ(rows.column_names(), strings({"id", "image", "time"}));
    EXPECT_EQ(rows.datasets()[1].row_bytes(form::stored), 48U);
    EXPECT_EQ(rows.type(rows.find("time")).key, data_type::f64);
    expect_part(message_of([&] { rows.find("mass"); }), "the columns are id, image, time");
}

TEST_F(Tables, UnequalColumnsAreListedAndCanBeChosen) {
    make("/g/a", {100});
    make("/g/b", {100});
    make("/g/offsets", {11});
    make("/g/scale", {});
    make("/g/sub/deep", {5});
    const file in = opened();
    const std::string message = message_of([&] { table::open(in, "/g"); });
    expect_part(message, "a has 100, b has 100, offsets has 11, scale is a scalar");
    expect_part(message, "in.h5:/g");
    expect_part(message, "--columns");
    const table rows = table::open(in, "/g", {"b", "a"});
    EXPECT_EQ(rows.column_names(), strings({"b", "a"}));
    ASSERT_EQ(rows.rest().size(), 3U);

    output_file output(folder_ / "out.h5");
    const auto made = output.create_table_like(rows, "/h", 100, {}, true);
    ASSERT_EQ(made.size(), 2U);
    EXPECT_EQ(made[0].path(), "/h/b");
    for (std::size_t i = 0; i < 2; ++i) write(made[i], form::stored, pattern(400).data());
    output.commit();
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/h/offsets"), pattern(44));
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/h/sub/deep"), pattern(20));
    expect_part(message_of([&] { table::open(in, "/g", {"c"}); }), "a, b, offsets, scale");
}

TEST_F(Tables, CompoundRowsGiveTheirFields) {
    make("/t", {1000}, row_type());
    const table rows = table::open(opened(), "/t");
    EXPECT_EQ(rows.kind(), table_kind::compound);
    EXPECT_EQ(rows.column_names(), strings({"id", "energy", "count"}));
    const dataset& stored = rows.datasets()[0];
    std::vector<std::byte> bytes(stored.bytes(form::stored));
    read(stored, form::stored, bytes.data());
    const auto place = rows.find("count");
    ASSERT_TRUE(place.field.has_value());
    std::vector<std::int32_t> count(1000);
    extract_field(stored.type().fields[*place.field], bytes.data(), 14, 1000, count.data(), 2);

    const hid_t plain = H5Fopen((folder_ / "in.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t id = H5Dopen2(plain, "/t", H5P_DEFAULT);
    const hid_t one = H5Tcreate(H5T_COMPOUND, 4);
    H5Tinsert(one, "count", 0, H5T_NATIVE_INT32);
    std::vector<std::int32_t> expected(1000);
    H5Dread(id, one, H5S_ALL, H5S_ALL, H5P_DEFAULT, expected.data());
    H5Dclose(id);
    H5Fclose(plain);
    EXPECT_EQ(count, expected);
}

TEST_F(Tables, ChosenFieldsMakeNarrowerRows) {
    make("/t", {1000}, row_type());
    const table rows = table::open(opened(), "/t", {"count", "id"});
    const dataset& narrow = rows.datasets()[0];
    EXPECT_EQ(narrow.description(),
              "compound of 6 bytes {count: i32 (big-endian), id: u16 (big-endian)}[1000]");
    std::vector<std::byte> bytes(narrow.bytes(form::stored));
    read(narrow, form::stored, bytes.data());
    output_file output(folder_ / "out.h5");
    const auto made = output.create_table_like(rows, "/t", 1000);
    write(made[0], form::stored, bytes.data());
    output.commit();
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/t"), bytes);
    const auto all = plain_read(folder_ / "in.h5", "/t");
    for (std::size_t row = 0; row < 1000; ++row) {
        ASSERT_EQ(std::memcmp(&bytes[row * 6], &all[row * 14 + 10], 4), 0) << row;
        ASSERT_EQ(std::memcmp(&bytes[row * 6 + 4], &all[row * 14], 2), 0) << row;
    }
}

TEST_F(Tables, APandasGroupIsItsTableAndItsIndexIsHidden) {
    make("/frame/table", {50}, row_type());
    make("/frame/_i_table/index/sorted", {7});
    const file in = opened();
    EXPECT_EQ(find_only_table(in), "/frame/table");
    const table rows = table::open(in, "/frame");
    EXPECT_EQ(rows.kind(), table_kind::compound);
    EXPECT_EQ(rows.path(), "/frame/table");
}

TEST_F(Tables, ReplacingATableRemovesPyTablesIndexes) {
    make("/frame/table", {50}, row_type());
    make("/frame/_i_table/index/sorted", {7});
    const table rows = table::open(opened(), "/frame/table");
    std::vector<std::byte> bytes(rows.datasets()[0].bytes(form::stored));
    output_file output(folder_ / "in.h5", {.overwrite = true});
    const auto made = output.create_table_like(rows, "/frame/table", 50);
    write(made[0], form::stored, bytes.data());
    ASSERT_EQ(output.notices().size(), 1U);
    expect_part(output.notices()[0], "/frame/_i_table");
    output.commit();
    EXPECT_EQ(kind_of(file::open(folder_ / "in.h5"), "/frame/_i_table"), object_kind::missing);
}

TEST_F(Tables, TheOnlyTableIsFoundWhereverItIs) {
    make("/deep/er/a", {10});
    make("/deep/er/b", {10});
    EXPECT_EQ(find_only_table(opened()), "/deep/er");
}

TEST_F(Tables, SeveralTablesAreListed) {
    make("/a", {10});
    make("/g/b", {10});
    make("/g/c", {10});
    const file in = opened();
    const std::string message = message_of([&] { find_only_table(in); });
    expect_part(message, "/a, /g");
    expect_part(message, "in.h5:/path");
}

TEST_F(Tables, AFileWithoutDatasetsAndAGroupWithout) {
    H5Gclose(H5Gcreate2(file_, "/empty", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Lcreate_soft("/nowhere", file_, "/dangling", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file_, "/", file_, "/empty/cycle", H5P_DEFAULT, H5P_DEFAULT);
    const file in = opened();
    expect_part(message_of([&] { find_only_table(in); }), "no dataset");
    expect_part(message_of([&] { table::open(in, "/empty"); }), "no dataset in this group");
}

TEST_F(Tables, TheRootGroupCanBeATable) {
    make("/a", {10});
    make("/b", {10});
    const table rows = table::open(opened(), "/");
    output_file output(folder_ / "out.h5");
    for (const auto& made : output.create_table_like(rows, "/", 10)) {
        write(made, form::stored, pattern(40).data());
    }
    output.commit();
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/b"), pattern(40));
}

TEST_F(Tables, ArrayItemsAreDescribed) {
    const hsize_t three = 3;
    make("/t", {10}, H5Tarray_create2(H5T_IEEE_F64BE, 1, &three));
    const dataset source = dataset::open(opened(), "/t");
    EXPECT_EQ(source.type().kind, element_kind::array);
    EXPECT_EQ(source.type().elements, 3U);
    ASSERT_EQ(source.type().fields.size(), 1U);
    EXPECT_EQ(source.type().fields[0].type.key, data_type::f64);
    EXPECT_TRUE(source.type().fields[0].type.swapped);
    EXPECT_FALSE(source.type().key.has_value());
}

TEST_F(Tables, AnotherElementTypeKeepsTheRest) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 100;
    const std::int32_t fill = -3;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 2);
    H5Pset_fill_value(properties, H5T_NATIVE_INT32, &fill);
    make_dataset(file_, "/x", {H5T_STD_I32BE, {1000}, {H5S_UNLIMITED}, properties}, pattern(4000));
    const dataset source = dataset::open(opened(), "/x");
    std::vector<std::int64_t> values(1000);
    std::iota(values.begin(), values.end(), -500);
    output_file output(folder_ / "out.h5");
    storage_options storage;
    storage.type = data_type::i64;
    const dataset made = output.create_like(source, "/x", 1000, storage);
    EXPECT_EQ(made.description(), "i64[1000], chunks of 100, shuffle, gzip 2");
    EXPECT_EQ(made.shape().max_dims[0], shape::unlimited);
    write(made, form::native, values.data());
    std::int64_t kept = 0;
    H5Pget_fill_value(H5Dget_create_plist(made.id().id()), H5T_NATIVE_INT64, &kept);
    EXPECT_EQ(kept, fill);
    storage.type = data_type::f16;
    EXPECT_EQ(output.create_like(source, "/half", 10, storage).type().key, data_type::f16);
    output.commit();
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), bytes_of(values));
}

}  // namespace
}  // namespace lookback::io
