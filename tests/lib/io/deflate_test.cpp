// Deflate streams that begin with stored blocks and blocks of literals: what zlib, inside HDF5,
// reads from them, and how long they are beside its own.
#include "io/chunk_codec.hpp"
#include "io/huffman_code.hpp"
#include "io/output.hpp"
#include "io/transfer.hpp"
#include "lib/io/h5_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>

namespace lookback::io {
namespace {

using test::plain_read;

// The bits of the best code without a limit: the sum of the inner nodes of Huffman's tree.
std::uint64_t best_bits(const std::vector<std::uint32_t>& frequencies) {
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> open;
    for (const std::uint32_t frequency : frequencies) {
        if (frequency != 0) open.push(frequency);
    }
    std::uint64_t bits = 0;
    while (open.size() > 1) {
        const std::uint64_t least = open.top();
        open.pop();
        const std::uint64_t both = least + open.top();
        open.pop();
        bits += both;
        open.push(both);
    }
    return bits;
}

void check_lengths(const std::vector<std::uint32_t>& frequencies, unsigned most_bits) {
    std::vector<std::uint8_t> lengths(frequencies.size(), 99);
    huffman_lengths(frequencies, most_bits, lengths);
    std::uint64_t taken = 0;
    std::uint64_t bits = 0;
    unsigned longest = 0;
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
        ASSERT_EQ(lengths[symbol] == 0, frequencies[symbol] == 0) << symbol;
        if (lengths[symbol] == 0) continue;
        longest = std::max<unsigned>(longest, lengths[symbol]);
        taken += std::uint64_t{1} << (most_bits - lengths[symbol]);
        bits += std::uint64_t{frequencies[symbol]} * lengths[symbol];
    }
    ASSERT_LE(longest, most_bits);
    EXPECT_EQ(taken, std::uint64_t{1} << most_bits) << "the code is not complete";
    const std::uint64_t best = best_bits(frequencies);
    EXPECT_GE(bits, best);
    if (longest < most_bits) {
        EXPECT_EQ(bits, best);
    }
}

TEST(HuffmanLengths, AreCompleteWithinTheLimitAndTheBestWithoutIt) {
    for (const unsigned most_bits : {9U, 14U, 15U}) {
        check_lengths({1, 1}, most_bits);
        check_lengths({0, 7, 0, 1000000, 0}, most_bits);
        check_lengths({1, 2, 3}, most_bits);
        check_lengths(std::vector<std::uint32_t>(256, 5), most_bits);
        check_lengths(std::vector<std::uint32_t>(257, 1), most_bits);
        std::vector<std::uint32_t> steep{1, 1};  // each as frequent as the two before together
        while (steep.size() < 40) steep.push_back(steep.end()[-1] + steep.end()[-2]);
        check_lengths(steep, most_bits);
        std::reverse(steep.begin(), steep.end());
        check_lengths(steep, most_bits);
    }
    check_lengths({9, 0, 4, 4, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 300}, 7);
}

/// Bytes of `values` different values without order, the first ones more frequent.
std::vector<std::byte> uneven_bytes(std::size_t size, unsigned values, double ratio,
                                    std::uint32_t seed) {
    std::vector<double> weights;
    for (unsigned v = 0; v < values; ++v) weights.push_back(std::pow(ratio, v));
    std::discrete_distribution<unsigned> choose(weights.begin(), weights.end());
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(size);
    for (std::byte& each : bytes) each = static_cast<std::byte>(choose(random) * 37);
    return bytes;
}

class Deflate : public ::testing::Test {
protected:
    /// Writes the bytes as one chunk, lets HDF5 read them back, and returns their stored size.
    std::uint64_t stored_bytes(const std::vector<std::byte>& bytes, unsigned level) {
        const std::string path = folder_ / "out.h5";
        {
            output_file output(path, {.truncate = true});
            storage_options storage;
            storage.chunk_rows = bytes.size();
            storage.filters = {*parse_filter("GZIP=" + std::to_string(level))};
            {
                const dataset target = output.create("/x", data_type::u8, bytes.size(), storage);
                write(target, form::stored, bytes.data());
            }
            output.commit();
        }
        EXPECT_EQ(plain_read(path, "x"), bytes) << bytes.size() << ", level " << level;
        return storage_size(path);
    }
    /// The same by HDF5's own filter.
    std::uint64_t zlib_bytes(const std::vector<std::byte>& bytes, unsigned level) {
        const std::string path = folder_ / "zlib.h5";
        const hid_t file = test::make_file(path);
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        const hsize_t size = bytes.size();
        H5Pset_chunk(properties, 1, &size);
        H5Pset_deflate(properties, level);
        test::make_dataset(file, "x", {H5T_STD_U8LE, {size}, {}, properties}, bytes);
        H5Pclose(properties);
        H5Fclose(file);
        return storage_size(path);
    }
    static std::uint64_t storage_size(const std::string& path) {
        const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
        const hid_t id = H5Dopen2(file, "x", H5P_DEFAULT);
        const std::uint64_t size = H5Dget_storage_size(id);
        H5Dclose(id);
        H5Fclose(file);
        return size;
    }

    test::folder folder_;
};

TEST_F(Deflate, UnevenBytesAreReadByZlibAndNoLongerThanItsOwn) {
    for (const std::size_t size : {1U, 32767U, 32768U, 65536U, 98305U}) {
        for (const auto& [values, ratio] :
             {std::pair(1U, 1.0), std::pair(2U, 1.0), std::pair(2U, 0.01), std::pair(3U, 0.5),
              std::pair(16U, 1.0), std::pair(60U, 0.5), std::pair(200U, 0.97),
              std::pair(256U, 1.0)}) {
            const auto bytes = uneven_bytes(size, values, ratio, 5);
            for (const unsigned level : {1U, 6U}) {
                const std::uint64_t ours = stored_bytes(bytes, level);
                const std::uint64_t theirs = zlib_bytes(bytes, level);
                EXPECT_LE(static_cast<double>(ours), 1.1 * static_cast<double>(theirs) + 16)
                    << size << " bytes of " << values << " values, level " << level;
            }
        }
    }
}

// Blocks of either kind next to each other, in front and behind, at sizes around their borders.
TEST_F(Deflate, PlanesOfEveryKindFollowEachOther) {
    std::mt19937 random(11);
    for (int round = 0; round < 40; ++round) {
        std::vector<std::byte> bytes;
        const int planes = 1 + static_cast<int>(random() % 6);
        for (int plane = 0; plane < planes; ++plane) {
            const std::size_t size = 32768 * (random() % 4) + (random() % 2) * (random() % 40000);
            const unsigned values = 1U << random() % 9;
            auto part = uneven_bytes(size, values, random() % 2 != 0 ? 1.0 : 0.9,
                                     static_cast<std::uint32_t>(random()));
            // Some have repeats.
            if (random() % 3 == 0) {
                for (std::size_t i = 100; i < part.size(); ++i) part[i] = part[i - 100];
            }
            bytes.insert(bytes.end(), part.begin(), part.end());
        }
        if (bytes.empty()) continue;
        const std::uint64_t ours = stored_bytes(bytes, 4);
        EXPECT_LE(static_cast<double>(ours), 1.05 * static_cast<double>(zlib_bytes(bytes, 4)) + 64);
    }
}

}  // namespace
}  // namespace lookback::io
