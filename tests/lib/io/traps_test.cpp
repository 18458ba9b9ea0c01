// What HDF5 files hold in practice beside plain numbers: each trap once, checked by plain HDF5.
#include "io/dataset.hpp"
#include "io/output.hpp"
#include "io/transfer.hpp"
#include "lib/io/h5_fixture.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace lookback::io {
namespace {

using test::bytes_of;
using test::make_dataset;
using test::make_file;
using test::pattern;
using test::plain_read;

class Traps : public testing::Test {
protected:
    dataset open(const std::string& path = "/x") {
        return dataset::open(file::open(folder_ / "in.h5"), path);
    }
    template <class T>
    std::vector<T> read_as(const dataset& source, form form) {
        std::vector<T> values(source.rows() * source.row_items());
        read(source, form, values.data());
        return values;
    }
    // Copies a dataset as it is, through the parallel paths.
    dataset copy(const dataset& source, std::uint64_t rows) {
        output_file output(folder_ / "out.h5", {.truncate = true});
        const dataset made = output.create_like(source, "/x", rows);
        std::vector<std::byte> bytes(rows * source.row_bytes(form::stored));
        read_rows(source, 0, rows, form::stored, bytes.data());
        write(made, form::stored, bytes.data());
        output.commit();
        reclaim(source.type(), bytes.data(), rows * source.row_items());
        return dataset::open(file::open(folder_ / "out.h5"), "/x");
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

TEST_F(Traps, UnallocatedChunksAreTheFillValue) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {100, 4};
    const std::int32_t fill = -7;
    H5Pset_chunk(properties, 2, chunk);
    H5Pset_deflate(properties, 4);
    H5Pset_fill_value(properties, H5T_NATIVE_INT32, &fill);
    make_dataset(file, "/x", {H5T_STD_I32BE, {1000, 10}, {}, properties}, {});
    const hid_t id = H5Dopen2(file, "/x", H5P_DEFAULT);
    const hid_t space = H5Dget_space(id);
    const hsize_t start[] = {250, 3};
    const hsize_t count[] = {30, 2};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    const hid_t memory = H5Screate_simple(2, count, nullptr);
    std::vector<std::int32_t> part(60);
    std::iota(part.begin(), part.end(), 1);
    H5Dwrite(id, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, part.data());
    H5Dclose(id);
    H5Fclose(file);

    const auto values = read_as<std::int32_t>(open(), form::native);
    EXPECT_EQ(values[0], fill);
    EXPECT_EQ(values[250 * 10 + 3], 1);
    EXPECT_EQ(values[279 * 10 + 4], 60);
    EXPECT_EQ(values[999 * 10 + 9], fill);
    const dataset copied = copy(open(), 950);
    EXPECT_EQ(read_as<std::int32_t>(copied, form::native)[949 * 10], fill);
    std::vector<std::int32_t> filled(1);
    const hid_t own = H5Dget_create_plist(copied.id().id());
    H5Pget_fill_value(own, H5T_NATIVE_INT32, filled.data());
    EXPECT_EQ(filled[0], fill);
}

TEST_F(Traps, EdgeChunksHoldTheFillValueForLaterExtension) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 64;
    const double fill = 2.5;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 1);
    H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &fill);
    make_dataset(file, "/x", {H5T_IEEE_F64LE, {100}, {H5S_UNLIMITED}, properties},
                 bytes_of(std::vector<double>(100, 1.0)));
    H5Fclose(file);
    copy(open(), 70);

    const hid_t out = H5Fopen((folder_ / "out.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t id = H5Dopen2(out, "/x", H5P_DEFAULT);
    const hsize_t longer = 128;
    ASSERT_GE(H5Dset_extent(id, &longer), 0);
    std::vector<double> values(128);
    H5Dread(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(id);
    H5Fclose(out);
    EXPECT_EQ(std::count(values.begin(), values.begin() + 70, 1.0), 70);
    EXPECT_EQ(std::count(values.begin() + 70, values.end(), fill), 58);
}

TEST_F(Traps, ChunksThatSkippedAFilterAreRead) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 50;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 4);
    const auto bytes = pattern(200 * 4);
    make_dataset(file, "/x", {H5T_STD_U32LE, {200}, {}, properties}, bytes);
    const hid_t id = H5Dopen2(file, "/x", H5P_DEFAULT);
    const hsize_t second = 50;
    // Neither shuffled nor compressed: both bits of the mask are set.
    ASSERT_GE(H5Dwrite_chunk(id, H5P_DEFAULT, 3, &second, 200, bytes.data() + 200), 0);
    H5Dclose(id);
    H5Fclose(file);
    const auto values = read_as<std::uint32_t>(open(), form::stored);
    EXPECT_EQ(bytes_of(values), bytes);
}

TEST_F(Traps, DatasetsThatWereNeverWrittenAreTheFillValue) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const std::int16_t fill = 0x0102;
    H5Pset_fill_value(properties, H5T_NATIVE_INT16, &fill);
    make_dataset(file, "/x", {H5T_STD_I16BE, {1000}, {}, properties}, {});
    H5Fclose(file);
    EXPECT_EQ(read_as<std::int16_t>(open(), form::native), std::vector<std::int16_t>(1000, fill));
    EXPECT_EQ(read_as<std::int16_t>(open(), form::stored), std::vector<std::int16_t>(1000, 0x0201));
}

TEST_F(Traps, EmptyResultsOfFixedSizeDropChunksAndFilters) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 50;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_deflate(properties, 4);
    make_dataset(file, "/x", {H5T_STD_U32LE, {200}, {}, properties}, pattern(800));
    make_dataset(file, "/unlimited", {H5T_STD_U32LE, {200}, {H5S_UNLIMITED}, properties},
                 pattern(800));
    H5Fclose(file);
    EXPECT_EQ(copy(open(), 0).description(), "u32[0]");
    EXPECT_EQ(copy(open("/unlimited"), 0).description(), "u32[0], chunks of 50, gzip 4");
    EXPECT_EQ(copy(open(), 20).description(), "u32[20], chunks of 20, gzip 4");
}

TEST_F(Traps, NullAndScalarDatasetsStayThat) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t space = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(file, "/x", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    make_dataset(file, "/scalar", {H5T_STD_I32LE, {}, {}, H5P_DEFAULT},
                 bytes_of<std::int32_t>({5}));
    H5Fclose(file);
    EXPECT_EQ(open().rows(), 0U);
    EXPECT_EQ(copy(open(), 0).description(), "f32, empty (null)");
    EXPECT_EQ(copy(open("/scalar"), 1).description(), "i32, scalar");
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), bytes_of<std::int32_t>({5}));
    EXPECT_EQ(copy(open("/scalar"), 0).description(), "i32[0]");
}

TEST_F(Traps, TwentyThousandChunksAreReadAndWrittenInNoTime) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 16;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 1);
    const auto bytes = pattern(320000 * 4);
    make_dataset(file, "/x", {H5T_STD_U32LE, {320000}, {}, properties}, bytes);
    H5Fclose(file);
    const auto start = std::chrono::steady_clock::now();
    copy(open(), 320000);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), bytes);
    // 0.2 s; HDF5's walk over all chunks at each call would take 5 s and more.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(spent.count(), 4.0);
#endif
}

TEST_F(Traps, ScaleOffsetGoesThroughHdf5) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 100;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_scaleoffset(properties, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT);
    std::vector<std::int32_t> values(1000);
    std::iota(values.begin(), values.end(), -500);
    make_dataset(file, "/x", {H5T_STD_I32LE, {1000}, {}, properties}, bytes_of(values));
    H5Fclose(file);
    EXPECT_EQ(read_as<std::int32_t>(open(), form::native), values);
    EXPECT_EQ(copy(open(), 1000).description(), open().description());
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), bytes_of(values));
}

TEST_F(Traps, UnknownFiltersAreNamedByTheirNumber) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 100;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_filter(properties, 32004, H5Z_FLAG_OPTIONAL, 0, nullptr);
    make_dataset(file, "/x", {H5T_STD_U64LE, {1000}, {}, properties}, {});
    H5Fclose(file);
    if (H5Zfilter_avail(32004) > 0) GTEST_SKIP() << "the lz4 plugin is installed";
    const std::string message = message_of([&] { open(); });
    EXPECT_NE(message.find("32004 (lz4)"), std::string::npos) << message;
    EXPECT_NE(message.find("hdf5-filter-plugin"), std::string::npos) << message;
}

class VirtualDatasets : public Traps {
protected:
    void make() {
        hid_t file = make_file(folder_ / "source.h5");
        make_dataset(file, "/part", {H5T_STD_I32LE, {100}, {}, H5P_DEFAULT}, pattern(400));
        H5Fclose(file);
        file = make_file(folder_ / "in.h5");
        const hsize_t size = 100;
        const hid_t space = H5Screate_simple(1, &size, nullptr);
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_virtual(properties, space, "source.h5", "/part", space);
        make_dataset(file, "/x", {H5T_STD_I32LE, {100}, {}, properties}, {});
        H5Fclose(file);
    }
};

TEST_F(VirtualDatasets, AreReadAndBecomeOrdinaryOnes) {
    make();
    EXPECT_EQ(copy(open(), 100).description(), "i32[100]");
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), pattern(400));
}

TEST_F(VirtualDatasets, AreRefusedWithoutTheirSource) {
    make();
    std::filesystem::remove(folder_ / "source.h5");
    std::string message = message_of([&] { open(); });
    EXPECT_NE(message.find("source.h5"), std::string::npos) << message;
    const hid_t file = make_file(folder_ / "source.h5");
    H5Fclose(file);
    message = message_of([&] { open(); });
    EXPECT_NE(message.find("/part"), std::string::npos) << message;
}

TEST_F(Traps, ExternalDataAreReadAndMissingOnesNamed) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(properties, (folder_ / "raw.bin").c_str(), 0, 400);
    const auto bytes = pattern(400);
    make_dataset(file, "/x", {H5T_STD_I32LE, {100}, {}, properties}, bytes);
    H5Fclose(file);
    EXPECT_EQ(copy(open(), 100).description(), "i32[100]");
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), bytes);
    std::filesystem::remove(folder_ / "raw.bin");
    const std::string message = message_of([&] { read_as<std::int32_t>(open(), form::stored); });
    EXPECT_NE(message.find("external"), std::string::npos) << message;
}

TEST_F(Traps, VariableLengthStringsMoveAsPayload) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    std::vector<std::string> texts;
    for (int i = 0; i < 500; ++i)
        texts.push_back(std::string(static_cast<std::size_t>(i % 37), 'a'));
    std::vector<const char*> pointers;
    for (const auto& text : texts) pointers.push_back(text.c_str());
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 64;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_deflate(properties, 4);
    const hid_t file = make_file(folder_ / "in.h5");
    make_dataset(file, "/x", {type, {500}, {}, properties}, bytes_of(pointers));
    make_dataset(file, "/plain", {type, {500}, {}, H5P_DEFAULT}, bytes_of(pointers));
    H5Fclose(file);
    for (const std::string name : {"/x", "/plain"}) {
        const dataset copied = copy(open(name), 500);
        EXPECT_EQ(copied.description(), open(name).description());
        auto back = read_as<char*>(copied, form::stored);
        EXPECT_TRUE(std::equal(texts.begin(), texts.end(), back.begin()));
        reclaim(copied.type(), back.data(), back.size());
    }
}

TEST_F(Traps, PythonsBoolAndComplexAreKnown) {
    const hid_t boolean = H5Tenum_create(H5T_STD_I8LE);
    std::int8_t value = 0;
    H5Tenum_insert(boolean, "FALSE", &value);
    value = 1;
    H5Tenum_insert(boolean, "TRUE", &value);
    const hid_t complex = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(complex, "r", 0, H5T_IEEE_F64LE);
    H5Tinsert(complex, "i", 8, H5T_IEEE_F64LE);
    const hid_t file = make_file(folder_ / "in.h5");
    make_dataset(file, "/x", {boolean, {4}, {}, H5P_DEFAULT}, bytes_of<std::int8_t>({1, 0, 0, 1}));
    make_dataset(file, "/c", {complex, {2}, {}, H5P_DEFAULT}, bytes_of<double>({1, 2, 3, 4}));
    H5Fclose(file);
    EXPECT_EQ(open().type().kind, element_kind::boolean);
    EXPECT_EQ(open().type().key, data_type::i8);
    EXPECT_EQ(open("/c").type().kind, element_kind::complex);
    EXPECT_FALSE(open("/c").type().key.has_value());
    EXPECT_EQ(copy(open(), 4).type().kind, element_kind::boolean);
    EXPECT_EQ(copy(open("/c"), 2).type().kind, element_kind::complex);
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), bytes_of<double>({1, 2, 3, 4}));
}

TEST_F(Traps, NumbersOfOddSizesAreConvertedByHdf5) {
    const hid_t type = H5Tcopy(H5T_STD_I32LE);
    H5Tset_precision(type, 24);
    H5Tset_size(type, 3);
    const hid_t file = make_file(folder_ / "in.h5");
    make_dataset(file, "/x", {type, {3}, {}, H5P_DEFAULT}, {});
    const hid_t id = H5Dopen2(file, "/x", H5P_DEFAULT);
    const std::vector<std::int32_t> values = {-5, 70000, 8};
    H5Dwrite(id, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(id);
    H5Fclose(file);
    const dataset source = open();
    EXPECT_EQ(source.type().key, data_type::i32);
    EXPECT_FALSE(source.type().exact);
    EXPECT_EQ(source.type().bytes, 3U);
    EXPECT_EQ(read_as<std::int32_t>(source, form::native), values);
    const auto before = plain_read(folder_ / "in.h5", "/x");
    copy(source, 3);
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), before);
}

TEST_F(Traps, NativeFormNeedsAKey) {
    const hid_t file = make_file(folder_ / "in.h5");
    const hid_t type = H5Tcreate(H5T_OPAQUE, 5);
    make_dataset(file, "/x", {type, {3}, {}, H5P_DEFAULT}, pattern(15));
    H5Fclose(file);
    const std::string message = message_of([&] { open().bytes(form::native); });
    EXPECT_NE(message.find("opaque item of 5 bytes"), std::string::npos) << message;
    copy(open(), 3);
    EXPECT_EQ(plain_read(folder_ / "out.h5", "/x"), pattern(15));
}

}  // namespace
}  // namespace lookback::io
