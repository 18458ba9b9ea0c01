// Attributes of every kind, from file to file.
#include "io/output.hpp"
#include "io/transfer.hpp"
#include "lib/io/h5_fixture.hpp"

namespace lookback::io {
namespace {

using test::make_dataset;
using test::make_file;
using test::pattern;

void set_attribute(hid_t object, const char* name, hid_t type, hid_t space, const void* value) {
    const hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(id, 0) << name;
    if (value != nullptr) {
        ASSERT_GE(H5Awrite(id, type, value), 0) << name;
    }
    H5Aclose(id);
}

class Attributes : public testing::Test {
protected:
    void SetUp() override {
        file_ = make_file(folder_ / "in.h5");
        make_dataset(file_, "/g/x", {H5T_STD_I32LE, {10}, {}, H5P_DEFAULT}, pattern(40));
        make_dataset(file_, "/g/scale", {H5T_STD_I32LE, {10}, {}, H5P_DEFAULT}, pattern(40));
        object_ = H5Dopen2(file_, "/g/x", H5P_DEFAULT);
        scalar_ = H5Screate(H5S_SCALAR);
    }
    // The dataset in out.h5, after /g (or only /g/x) went there.
    hid_t transfer(bool whole_group, std::vector<std::string>* notices = nullptr) {
        H5Dclose(object_);
        H5Fclose(file_);
        const file in = file::open(folder_ / "in.h5");
        output_file output(folder_ / "out.h5");
        const table rows = table::open(in, whole_group ? "/g" : "/g/x");
        const auto made = output.create_table_like(rows, rows.path(), 10);
        for (const auto& column : made) write(column, form::stored, pattern(40).data());
        output.commit();
        if (notices != nullptr) *notices = output.notices();
        out_ = H5Fopen((folder_ / "out.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
        return H5Dopen2(out_, "/g/x", H5P_DEFAULT);
    }
    test::folder folder_;
    hid_t file_ = -1, object_ = -1, scalar_ = -1, out_ = -1;
};

TEST_F(Attributes, NumbersStringsNullAndVariableLengthOnes) {
    const std::int16_t number = 0x1234;
    set_attribute(object_, "number", H5T_NATIVE_INT16, scalar_, &number);
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    const char* const value = "some text";
    set_attribute(object_, "text", text, scalar_, &value);
    const hid_t fixed = H5Tcopy(H5T_C_S1);
    set_attribute(object_, "TITLE", fixed, H5Screate(H5S_NULL), nullptr);
    const hid_t list = H5Tvlen_create(H5T_NATIVE_DOUBLE);
    double items[] = {1.5, 2.5};
    const hvl_t sequence = {2, items};
    set_attribute(object_, "list", list, scalar_, &sequence);

    const hid_t copied = transfer(false);
    std::int16_t number_back = 0;
    hid_t id = H5Aopen(copied, "number", H5P_DEFAULT);
    H5Aread(id, H5T_NATIVE_INT16, &number_back);
    EXPECT_EQ(number_back, number);
    id = H5Aopen(copied, "text", H5P_DEFAULT);
    char* text_back = nullptr;
    H5Aread(id, text, &text_back);
    EXPECT_STREQ(text_back, value);
    H5free_memory(text_back);
    id = H5Aopen(copied, "TITLE", H5P_DEFAULT);
    EXPECT_EQ(H5Sget_simple_extent_type(H5Aget_space(id)), H5S_NULL);
    id = H5Aopen(copied, "list", H5P_DEFAULT);
    hvl_t list_back = {};
    H5Aread(id, list, &list_back);
    ASSERT_EQ(list_back.len, 2U);
    EXPECT_EQ(static_cast<const double*>(list_back.p)[1], 2.5);
    H5free_memory(list_back.p);
    EXPECT_EQ(H5Aget_num_attrs(copied), 4);
}

TEST_F(Attributes, ReferencesFollowTheirObjects) {
    hobj_ref_t reference = 0;
    H5Rcreate(&reference, file_, "/g/scale", H5R_OBJECT, -1);
    const hid_t list = H5Tvlen_create(H5T_STD_REF_OBJ);
    const hvl_t sequence = {1, &reference};
    set_attribute(object_, "DIMENSION_LIST", list, scalar_, &sequence);
    set_attribute(object_, "plain", H5T_STD_REF_OBJ, scalar_, &reference);
    std::vector<std::string> notices;
    const hid_t copied = transfer(true, &notices);
    EXPECT_TRUE(notices.empty());
    hvl_t back = {};
    H5Aread(H5Aopen(copied, "DIMENSION_LIST", H5P_DEFAULT), list, &back);
    ASSERT_EQ(back.len, 1U);
    char name[64] = {};
    H5Rget_name(copied, H5R_OBJECT, back.p, name, sizeof(name));
    EXPECT_STREQ(name, "/g/scale");
    H5free_memory(back.p);
    hobj_ref_t plain = 0;
    H5Aread(H5Aopen(copied, "plain", H5P_DEFAULT), H5T_STD_REF_OBJ, &plain);
    H5Rget_name(copied, H5R_OBJECT, &plain, name, sizeof(name));
    EXPECT_STREQ(name, "/g/scale");
}

TEST_F(Attributes, ReferencesToNothingAreLeftOutAndTold) {
    hobj_ref_t reference = 0;
    H5Rcreate(&reference, file_, "/g/scale", H5R_OBJECT, -1);
    set_attribute(object_, "plain", H5T_STD_REF_OBJ, scalar_, &reference);
    std::vector<std::string> notices;
    const hid_t copied = transfer(false, &notices);
    EXPECT_LE(H5Aexists(copied, "plain"), 0);
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_NE(notices[0].find("'plain'"), std::string::npos);
}

TEST_F(Attributes, PyTablesRowCountIsTheNewOne) {
    const std::int64_t rows = 99;
    set_attribute(object_, "NROWS", H5T_STD_I64BE, scalar_, &rows);
    set_attribute(object_, "CLASS", H5T_NATIVE_INT64, scalar_, &rows);
    const hid_t copied = transfer(false);
    std::int64_t back = 0;
    H5Aread(H5Aopen(copied, "NROWS", H5P_DEFAULT), H5T_NATIVE_INT64, &back);
    EXPECT_EQ(back, 10);
}

TEST_F(Attributes, GroupsKeepTheirs) {
    const hid_t group = H5Gopen2(file_, "/g", H5P_DEFAULT);
    const double value = 4.5;
    set_attribute(group, "unit", H5T_NATIVE_DOUBLE, scalar_, &value);
    H5Gclose(group);
    transfer(true);
    double back = 0;
    H5Aread(H5Aopen_by_name(out_, "/g", "unit", H5P_DEFAULT, H5P_DEFAULT), H5T_NATIVE_DOUBLE,
            &back);
    EXPECT_EQ(back, value);
}

}  // namespace
}  // namespace lookback::io
