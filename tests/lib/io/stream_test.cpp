// Batches that are read ahead and written behind, against plain HDF5.
#include "io/stream.hpp"

#include "io/output.hpp"
#include "io/range_writer.hpp"
#include "lib/io/h5_fixture.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

namespace lookback::io {
namespace {

using test::make_dataset;
using test::make_file;
using test::pattern;
using test::plain_read;

// Several batches of 8 MiB, in chunks that do not divide them.
constexpr std::uint64_t rows = 3'000'001;

class Streams : public testing::Test {
protected:
    void SetUp() override {
        const hid_t file = make_file(folder_ / "in.h5");
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        const hsize_t chunk = 100'003;
        H5Pset_chunk(properties, 1, &chunk);
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 1);
        bytes_ = pattern(rows * 8);
        make_dataset(file, "/gzip", {H5T_STD_I64LE, {rows}, {}, properties}, bytes_);
        make_dataset(file, "/plain", {H5T_STD_I64LE, {rows}, {}, H5P_DEFAULT}, bytes_);
        H5Pclose(properties);
        H5Fclose(file);
    }
    dataset open(const std::string& name) {
        return dataset::open(file::open(folder_ / "in.h5"), name);
    }
    test::folder folder_;
    std::vector<std::byte> bytes_;
};

TEST_F(Streams, WhatIsReadInBatchesAndWrittenInPiecesIsTheSame) {
    for (const std::string name : {"/gzip", "/plain"}) {
        const dataset source = open(name);
        output_file output(folder_ / "out.h5", {.truncate = true});
        row_writer writer(output.create_like(source, name, rows), form::native);
        row_reader reader(source, form::native, 0, rows);
        int batches = 0;
        while (const auto batch = reader.next()) {
            const std::uint64_t half = batch->rows / 3;
            writer.append(batch->data, half);
            writer.append(batch->data + half * 8, batch->rows - half);
            ++batches;
        }
        EXPECT_GE(batches, 3);
        writer.finish();
        output.commit();
        EXPECT_EQ(plain_read(folder_ / "out.h5", name), bytes_) << name;
    }
}

TEST_F(Streams, ARangeOfRowsIsRead) {
    row_reader reader(open("/gzip"), form::stored, 1'234'567, 1'000'000);
    std::vector<std::byte> read;
    while (const auto batch = reader.next()) {
        EXPECT_EQ(batch->first_row, 1'234'567 + read.size() / 8);
        read.insert(read.end(), batch->data, batch->data + batch->rows * 8);
    }
    const auto begin = bytes_.begin() + 1'234'567 * 8;
    EXPECT_TRUE(std::equal(read.begin(), read.end(), begin, begin + 1'000'000 * 8));
}

TEST_F(Streams, TooFewTooManyAndWrongRowsAreRefused) {
    output_file output(folder_ / "out.h5");
    const dataset target = output.create_like(open("/gzip"), "/x", 1000);
    row_writer writer(target, form::stored);
    writer.append(bytes_.data(), 600);
    EXPECT_THROW(writer.append(bytes_.data(), 401), error);
    EXPECT_THROW(writer.finish(), error);
    EXPECT_THROW(row_reader(open("/gzip"), form::stored, rows, 1), error);
    const dataset larger = output.create_like(open("/gzip"), "/y", rows);
    EXPECT_THROW(write_rows(larger, 5, 100, form::stored, bytes_.data()), error);
}

TEST_F(Streams, AStopRequestReachesTheCaller) {
    std::stop_source stop;
    transfer_options options;
    options.stop = stop.get_token();
    row_reader reader(open("/gzip"), form::stored, 0, rows, options);
    stop.request_stop();
    EXPECT_THROW(
        {
            while (reader.next()) {
            }
        },
        error);
}

// Pieces of odd lengths, taken by threads in rising order: the file is the one of a single write.
TEST_F(Streams, RangesFromThreadsMakeTheSameFile) {
    for (const std::string name : {"/gzip", "/plain"}) {
        const dataset source = open(name);
        {
            output_file whole(folder_ / "whole.h5", {.truncate = true});
            write(whole.create_like(source, name, rows), form::native, bytes_.data());
            whole.commit();
        }
        for (const std::uint64_t piece : {7'001U, 100'003U, 700'000U}) {
            output_file output(folder_ / "out.h5", {.truncate = true});
            {
                range_writer writer(output.create_like(source, name, rows), form::native);
                std::atomic<std::uint64_t> next{0};
                const auto work = [&] {
                    for (std::uint64_t at = next.fetch_add(piece); at < rows;
                         at = next.fetch_add(piece)) {
                        writer.write(at, std::min(piece, rows - at), bytes_.data() + at * 8);
                    }
                };
                std::vector<std::thread> threads;
                for (int i = 0; i < 3; ++i) threads.emplace_back(work);
                for (auto& thread : threads) thread.join();
                writer.finish();
            }
            output.commit();
            EXPECT_EQ(plain_read(folder_ / "out.h5", name), bytes_) << name << ", " << piece;
            // The times in the object headers differ.
            const auto whole = test::file_bytes(folder_ / "whole.h5");
            const auto ranges = test::file_bytes(folder_ / "out.h5");
            ASSERT_EQ(ranges.size(), whole.size()) << name << ", " << piece;
            EXPECT_TRUE(std::equal(ranges.begin() + 8192, ranges.end(), whole.begin() + 8192))
                << name << ", " << piece;
        }
    }
}

TEST_F(Streams, MissingRangesAndRowsOutsideAreRefused) {
    const dataset source = open("/gzip");
    output_file output(folder_ / "out.h5", {.truncate = true});
    range_writer writer(output.create_like(source, "/x", rows), form::native);
    EXPECT_THROW(writer.write(rows - 1, 2, bytes_.data()), error);
    writer.write(0, rows - 1, bytes_.data());
    writer.write(5, 0, nullptr);
    EXPECT_THROW(writer.finish(), error);
    writer.write(rows - 1, 1, bytes_.data());
    writer.finish();
}

}  // namespace
}  // namespace lookback::io
