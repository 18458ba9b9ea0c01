// Shuffle, LZF and the threads of a transfer, by themselves.
#include "io/chunk_codec.hpp"
#include "io/dataset.hpp"
#include "io/lzf.hpp"
#include "io/ordered_queue.hpp"
#include "io/output.hpp"
#include "io/shuffle.hpp"
#include "io/transfer.hpp"
#include "io/workers.hpp"
#include "lib/io/h5_fixture.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <stop_token>
#include <thread>

namespace lookback::io {
namespace {

using test::pattern;

TEST(Shuffle, EqualsTheDefinitionForEverySizeAndCount) {
    for (std::size_t item = 1; item <= 33; ++item) {
        for (const std::size_t items : {0U, 1U, 15U, 16U, 17U, 64U, 333U}) {
            const std::size_t bytes = items * item + (item > 1 ? item / 2 : 0);
            const auto in = pattern(bytes, static_cast<std::uint32_t>(item));
            for (const auto order : {plane_order::as_stored, plane_order::swapped}) {
                std::vector<std::byte> expected = in;
                for (std::size_t i = 0; i < items; ++i) {
                    for (std::size_t b = 0; b < item; ++b) {
                        const std::size_t plane = order == plane_order::swapped ? item - 1 - b : b;
                        expected[plane * items + i] = in[i * item + b];
                    }
                }
                std::vector<std::byte> out(bytes);
                shuffle(in.data(), bytes, item, order, out.data());
                ASSERT_EQ(out, expected) << item << " x " << items;
                std::vector<std::byte> back(bytes);
                unshuffle(out.data(), bytes, item, order, back.data());
                ASSERT_EQ(back, in) << item << " x " << items;
            }
        }
    }
}

TEST(Lzf, GivesBackWhatItTook) {
    for (const std::size_t size : {1U, 2U, 3U, 31U, 32U, 33U, 264U, 1000U, 70000U, 300000U}) {
        for (int kind = 0; kind < 3; ++kind) {
            auto in = pattern(size, 3);
            if (kind == 1) std::fill(in.begin(), in.end(), std::byte{7});
            if (kind == 2) {
                for (std::size_t i = 9000; i < size; ++i) in[i] = in[i - 8190 - i % 3];
            }
            std::vector<std::byte> packed(size + size / 16 + 16);
            const std::size_t packed_size = lzf_encode(in, packed);
            ASSERT_GT(packed_size, 0U);
            std::vector<std::byte> back(size);
            ASSERT_EQ(lzf_decode({packed.data(), packed_size}, back), size);
            EXPECT_EQ(back, in);
            EXPECT_EQ(lzf_decode({packed.data(), packed_size}, std::span(back).first(size - 1)),
                      0U);
        }
    }
}

TEST(Lzf, DamagedBytesNeverReachOutside) {
    const auto in = pattern(5000, 5);
    std::vector<std::byte> packed(6000);
    packed.resize(lzf_encode(in, packed));
    std::vector<std::byte> back(5000);
    std::uint32_t state = 3;
    for (int trial = 0; trial < 2000; ++trial) {
        auto damaged = packed;
        state = state * 1664525U + 1013904223U;
        damaged[(state >> 8) % damaged.size()] = static_cast<std::byte>(state);
        damaged.resize(damaged.size() - trial % 7);
        EXPECT_LE(lzf_decode(damaged, back), back.size());
    }
}

// A random front part of so many bytes, then zeros.
std::vector<std::byte> half_random(std::size_t size, std::size_t random) {
    std::vector<std::byte> data(size);
    std::uint64_t state = 88172645463325252U;
    for (std::size_t i = 0; i < std::min(size, random); ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        data[i] = static_cast<std::byte>(state >> 24);
    }
    return data;
}

std::size_t gzip_size(const std::vector<std::byte>& data, unsigned level) {
    chunk_codec codec("test", {filter{filter::deflate, 0, {level}, ""}}, data.size(), 0);
    const auto bytes = codec.encode(data.data()).bytes;
    const std::vector<std::byte> packed(bytes.begin(), bytes.end());
    std::vector<std::byte> back(data.size());
    codec.decode(packed, 0, back.data());
    EXPECT_EQ(back, data) << data.size() << ", level " << level;
    return packed.size();
}

TEST(Gzip, RandomBytesInFrontAreKeptAsTheyAre) {
    for (const std::size_t size : {1U, 32767U, 32768U, 32769U, 65535U, 65536U, 131071U, 400000U}) {
        for (const std::size_t random : {0U, 1U, 32767U, 32768U, 98304U, 131070U, 400000U}) {
            const auto data = half_random(size, random);
            for (const unsigned level : {0U, 1U, 4U, 6U, 7U, 9U}) {
                const std::size_t packed = gzip_size(data, level);
                const std::size_t kept = level == 0 ? size : std::min(size, random);
                EXPECT_LE(packed, kept + kept / 1000 + (size - kept) / 100 + 64)
                    << size << ", " << random << ", level " << level;
            }
        }
    }
}

// Every byte as often as every other, and yet deflate finds much: nothing may be taken for random.
TEST(Gzip, RepeatsAmongEvenBytesAreFound) {
    std::vector<std::byte> counter(300000);
    for (std::size_t i = 0; i < counter.size(); ++i) counter[i] = static_cast<std::byte>(i);
    EXPECT_LT(gzip_size(counter, 4), counter.size() / 50);
    auto far = half_random(300000, 300000);
    for (std::size_t i = 20000; i < far.size(); ++i) far[i] = far[i - 20000];
    EXPECT_LT(gzip_size(far, 4), 32768U + far.size() / 50);
    auto seldom = half_random(300000, 300000);
    for (std::size_t i = 1000; i + 32 < far.size(); i += 1000) {
        std::copy_n(&seldom[i - 500], 32, &seldom[i]);
    }
    EXPECT_LT(gzip_size(seldom, 4), seldom.size() - seldom.size() / 50);
}

TEST(OrderedQueue, LeavesInOrderFromAnyNumberOfThreads) {
    for (const int threads : {1, 2, 7}) {
        ordered_queue<std::uint64_t> queue(4);
        std::vector<std::uint64_t> seen;
        transfer_options options;
        options.threads = threads;
        for_each_item(1000, options, [&] {
            return [&](std::uint64_t item) {
                queue.submit(item, item * 3, [&](std::uint64_t value) { seen.push_back(value); });
            };
        });
        ASSERT_EQ(seen.size(), 1000U);
        for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(seen[i], i * 3);
    }
}

class Transfers : public testing::Test {
protected:
    dataset make(output_file& output, const char* filter_text) {
        storage_options storage;
        storage.chunk_rows = 1000;
        if (*filter_text != 0) storage.filters = {*parse_filter(filter_text)};
        if (*filter_text == 0) storage.chunk_rows.reset();
        return output.create("/x", data_type::u64, 300000, storage);
    }
    test::folder folder_;
};

TEST_F(Transfers, AProducersExceptionEndsAllAndIsRethrown) {
    for (const char* filter_text : {"", "GZIP=1", "NBIT"}) {
        output_file output(folder_ / "out.h5");
        const dataset target = make(output, filter_text);
        transfer_options options;
        options.threads = 4;
        const auto produce = [&](std::uint64_t first, std::uint64_t rows, std::byte* into) {
            if (first + rows == 300000) throw std::runtime_error("no more");
            std::memset(into, static_cast<int>(first & 0xff), rows * 8);
        };
        try {
            write(target, form::stored, produce, options);
            FAIL() << "no exception";
        } catch (const std::runtime_error& failure) {
            EXPECT_STREQ(failure.what(), "no more");
        }
    }
    EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(Transfers, AStopRequestEndsReadingAndWriting) {
    std::stop_source stop;
    stop.request_stop();
    transfer_options options;
    options.stop = stop.get_token();
    output_file output(folder_ / "out.h5");
    const dataset target = make(output, "GZIP=1");
    std::vector<std::uint64_t> values(300000);
    EXPECT_THROW(write(target, form::native, values.data(), options), error);
    write(target, form::native, values.data());
    EXPECT_THROW(read(target, form::native, values.data(), options), error);
}

TEST_F(Transfers, RowsOutsideAreRefused) {
    output_file output(folder_ / "out.h5");
    const dataset target = make(output, "");
    std::uint64_t value = 0;
    EXPECT_THROW(read_rows(target, 300000, 1, form::native, &value), error);
    EXPECT_THROW(read_rows(target, ~std::uint64_t{0}, 2, form::native, &value), error);
    read_rows(target, 300000, 0, form::native, &value);
}

TEST_F(Transfers, TheSameFileWhateverTheThreads) {
    const auto bytes = pattern(2400000);
    std::vector<std::vector<std::byte>> raw;
    for (const int threads : {1, 2, 5}) {
        output_file output(folder_ / "out.h5", {.truncate = true});
        const dataset target = make(output, "GZIP=3");
        transfer_options options;
        options.threads = threads;
        write(target, form::native, bytes.data(), options);
        output.commit();
        raw.push_back(test::file_bytes(folder_ / "out.h5"));
    }
    EXPECT_EQ(raw[0].size(), raw[1].size());
    // The times in the object headers differ, the chunks do not: compare behind the metadata.
    EXPECT_TRUE(std::equal(raw[0].begin() + 8192, raw[0].end(), raw[1].begin() + 8192));
    EXPECT_TRUE(std::equal(raw[0].begin() + 8192, raw[0].end(), raw[2].begin() + 8192));
}

TEST(Filters, H5repacksNotationIsRead) {
    EXPECT_FALSE(parse_filter("NONE").has_value());
    EXPECT_EQ(parse_filter("GZIP=3")->parameters, std::vector<unsigned>{3});
    EXPECT_EQ(parse_filter("SHUF")->id, filter::shuffle);
    EXPECT_EQ(parse_filter("UD=32004,1,2,7,8")->parameters, (std::vector<unsigned>{7, 8}));
    for (const char* wrong :
         {"GZIP=10", "GZIP=x", "gzip", "SZIP=7,NN", "SZIP=8", "UD=1,0,2,3", ""}) {
        EXPECT_THROW(parse_filter(wrong), error) << wrong;
    }
}

}  // namespace
}  // namespace lookback::io
