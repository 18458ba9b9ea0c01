#include "io/huffman_code.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace lookback::io {
namespace {

constexpr unsigned most_code_bits = 15;
// Four literals and the seven bits that may wait fit 64 bits; a fifteenth would gain nothing.
constexpr unsigned most_literal_bits = 14;
constexpr unsigned most_told_bits = 7;
constexpr std::size_t end_of_block = 256;
constexpr unsigned dynamic_block = 0b100;  // not the last, then the type
// Two distance codes of one bit, which no literal needs and every decoder takes.
constexpr std::size_t distances = 2;

constexpr std::array<std::uint8_t, 19> told_order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};

// Depths of the leaves in the tree that two queues build, from ascending frequencies.
std::vector<unsigned> leaf_depths(const std::vector<std::uint64_t>& ascending) {
    const std::size_t leaves = ascending.size();
    std::vector<std::uint64_t> weight(ascending);
    std::vector<std::size_t> parent(2 * leaves - 1);
    weight.resize(2 * leaves - 1);
    std::size_t leaf = 0;
    std::size_t inner = leaves;
    for (std::size_t made = leaves; made < weight.size(); ++made) {
        for (int child = 0; child < 2; ++child) {
            const bool take_leaf =
                leaf < leaves && (inner == made || weight[leaf] <= weight[inner]);
            const std::size_t taken = take_leaf ? leaf++ : inner++;
            weight[made] += weight[taken];
            parent[taken] = made;
        }
    }
    std::vector<unsigned> depth(weight.size(), 0);
    for (std::size_t node = weight.size() - 1; node-- > 0;) depth[node] = depth[parent[node]] + 1;
    depth.resize(leaves);
    return depth;
}

// Codes of ascending length and symbol, their bits reversed: deflate sends the highest first.
template <std::size_t N>
std::array<std::uint16_t, N> codes_of(const std::array<std::uint8_t, N>& lengths) {
    std::array<unsigned, most_code_bits + 2> next{};
    for (const std::uint8_t length : lengths) {
        if (length != 0) ++next[length + std::size_t{1}];
    }
    for (std::size_t bits = 1; bits < next.size(); ++bits) {
        next[bits] = (next[bits] + next[bits - 1]) << 1;
    }
    std::array<std::uint16_t, N> codes{};
    for (std::size_t symbol = 0; symbol < N; ++symbol) {
        const unsigned length = lengths[symbol];
        if (length == 0) continue;
        unsigned code = next[length]++;
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < length; ++bit, code >>= 1) {
            reversed = reversed << 1 | (code & 1);
        }
        codes[symbol] = static_cast<std::uint16_t>(reversed);
    }
    return codes;
}

}  // namespace

void huffman_lengths(std::span<const std::uint32_t> frequencies, unsigned most_bits,
                     std::span<std::uint8_t> lengths) {
    std::vector<std::size_t> symbols;
    for (std::size_t symbol = 0; symbol < frequencies.size(); ++symbol) {
        lengths[symbol] = 0;
        if (frequencies[symbol] != 0) symbols.push_back(symbol);
    }
    std::stable_sort(symbols.begin(), symbols.end(),
                     [&](std::size_t a, std::size_t b) { return frequencies[a] < frequencies[b]; });
    std::vector<std::uint64_t> ascending;
    ascending.reserve(symbols.size());
    for (const std::size_t symbol : symbols) ascending.push_back(frequencies[symbol]);

    // Codes above the limit are cut to it; others are lengthened until the code has room for all.
    std::vector<std::uint64_t> of_length(most_bits + std::size_t{1}, 0);
    for (const unsigned depth : leaf_depths(ascending)) ++of_length[std::min(depth, most_bits)];
    std::uint64_t taken = 0;
    for (unsigned bits = 1; bits <= most_bits; ++bits) {
        taken += of_length[bits] << (most_bits - bits);
    }
    for (; taken > std::uint64_t{1} << most_bits; --taken) {
        --of_length[most_bits];
        unsigned bits = most_bits - 1;
        while (of_length[bits] == 0) --bits;
        --of_length[bits];
        of_length[bits + 1] += 2;
    }
    auto symbol = symbols.begin();
    for (unsigned bits = most_bits; bits > 0; --bits) {
        for (std::uint64_t i = 0; i < of_length[bits]; ++i) {
            lengths[*symbol++] = static_cast<std::uint8_t>(bits);
        }
    }
}

literal_code::literal_code(std::span<const std::uint32_t, 256> counts) {
    std::array<std::uint32_t, symbols> frequencies{};
    std::copy(counts.begin(), counts.end(), frequencies.begin());
    frequencies[end_of_block] = 1;
    huffman_lengths(frequencies, most_literal_bits, lengths_);
    codes_ = codes_of(lengths_);
    for (std::size_t symbol = 0; symbol < symbols; ++symbol) {
        data_bits_ += std::uint64_t{frequencies[symbol]} * lengths_[symbol];
    }
    std::array<std::uint8_t, symbols + distances> all{};
    std::copy(lengths_.begin(), lengths_.end(), all.begin());
    std::fill(all.begin() + symbols, all.end(), std::uint8_t{1});
    tell_lengths(all);
}

// Runs of lengths: 16 repeats the one before 3 to 6 times, 17 and 18 are 3 to 138 zeros.
void literal_code::tell_lengths(std::span<const std::uint8_t> lengths) {
    std::array<std::uint32_t, 19> frequencies{};
    const auto add = [&](unsigned symbol, std::size_t extra, unsigned extra_bits) {
        header_[header_items_++] = {static_cast<std::uint8_t>(symbol),
                                    static_cast<std::uint8_t>(extra),
                                    static_cast<std::uint8_t>(extra_bits)};
        ++frequencies[symbol];
    };
    for (std::size_t at = 0; at < lengths.size();) {
        const std::uint8_t value = lengths[at];
        std::size_t run = 1;
        while (at + run < lengths.size() && lengths[at + run] == value) ++run;
        at += run;
        if (value != 0) {
            add(value, 0, 0);
            --run;
        }
        while (run >= 3) {
            const std::size_t most = value != 0 ? 6 : 138;
            const std::size_t part = std::min(run, most);
            if (value != 0) {
                add(16, part - 3, 2);
            } else if (part <= 10) {
                add(17, part - 3, 3);
            } else {
                add(18, part - 11, 7);
            }
            run -= part;
        }
        for (; run > 0; --run) add(value, 0, 0);
    }
    huffman_lengths(frequencies, most_told_bits, told_lengths_);
    told_codes_ = codes_of(told_lengths_);
    told_ = told_order.size();
    while (told_ > 4 && told_lengths_[told_order[told_ - 1]] == 0) --told_;
    header_bits_ = 3 + 5 + 5 + 4 + 3 * told_;
    for (std::size_t i = 0; i < header_items_; ++i) {
        header_bits_ += std::uint64_t{told_lengths_[header_[i].symbol]} + header_[i].extra_bits;
    }
}

void literal_code::write(std::span<const std::byte> data, bit_sink& sink) const {
    sink.put(dynamic_block, 3);
    sink.put(symbols - 257, 5);
    sink.put(distances - 1, 5);
    sink.put(told_ - 4, 4);
    for (std::size_t i = 0; i < told_; ++i) {
        sink.put(told_lengths_[told_order[i]], 3);
        sink.drain();
    }
    for (std::size_t i = 0; i < header_items_; ++i) {
        const header_item& item = header_[i];
        sink.put(told_codes_[item.symbol], told_lengths_[item.symbol]);
        sink.put(item.extra, item.extra_bits);
        sink.drain();
    }
    // Code and length in one word: one load a literal.
    std::array<std::uint32_t, symbols> packed;
    for (std::size_t symbol = 0; symbol < symbols; ++symbol) {
        packed[symbol] = std::uint32_t{codes_[symbol]} << 8 | lengths_[symbol];
    }
    const auto put = [&](std::size_t symbol) {
        sink.put(packed[symbol] >> 8, packed[symbol] & 255);
    };
    std::size_t i = 0;
    for (; i + 4 <= data.size(); i += 4) {
        for (std::size_t k = 0; k < 4; ++k) put(std::to_integer<std::size_t>(data[i + k]));
        sink.drain();
    }
    for (; i < data.size(); ++i) {
        put(std::to_integer<std::size_t>(data[i]));
        sink.drain();
    }
    put(end_of_block);
    sink.drain();
}

}  // namespace lookback::io
