#include "cpu/radix_pairs.hpp"

#include "cpu/digit_map.hpp"
#include "cpu/key_words.hpp"
#include "cpu/leaf_sort.hpp"
#include "cpu/radix_partition.hpp"
#include "cpu/row_order.hpp"
#include "cpu/tickets.hpp"

#include <lookback/buffer.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

namespace lookback::cpu {
namespace {

// A key and its value on their way through the buckets; narrower ones fill the first bytes.
// Aligned to four bytes at most: twelve bytes move faster than sixteen.
template <std::size_t KeyBytes, std::size_t ValueBytes>
struct alignas(std::min({KeyBytes, ValueBytes, std::size_t{4}})) pair_item {
    static constexpr std::size_t key_bytes = KeyBytes;
    static constexpr std::size_t value_bytes = ValueBytes;
    std::byte key[KeyBytes];
    std::byte value[ValueBytes];
};

// The two arrays that are sorted.
struct pair_arrays {
    std::byte* keys;
    std::size_t key_bytes;
    std::byte* values;
    std::size_t value_bytes;

    pair_arrays from(std::size_t i) const {
        return {keys + i * key_bytes, key_bytes, values + i * value_bytes, value_bytes};
    }
};

// body(bytes as a constant) for a power of two of at most Most bytes.
template <std::size_t Most, class Body>
void with_bytes(std::size_t bytes, const Body& body) {
    if constexpr (Most > 1) {
        if (bytes < Most) return with_bytes<Most / 2>(bytes, body);
    }
    body(std::integral_constant<std::size_t, Most>{});
}

// items[i] = pair i of the arrays, for count pairs.
template <class Item>
void load_items(const pair_arrays& from, std::size_t count, Item* items) {
    with_bytes<Item::key_bytes>(from.key_bytes, [&](auto bytes) {
        for (std::size_t i = 0; i < count; ++i) {
            std::memcpy(items[i].key, from.keys + i * bytes, bytes);
        }
    });
    with_bytes<Item::value_bytes>(from.value_bytes, [&](auto bytes) {
        for (std::size_t i = 0; i < count; ++i) {
            std::memcpy(items[i].value, from.values + i * bytes, bytes);
        }
    });
}

// Pair i of the arrays = items[at(i)], for count pairs.
template <class Item, class At>
void store_items(const Item* items, const At& at, std::size_t count, const pair_arrays& to) {
    with_bytes<Item::key_bytes>(to.key_bytes, [&](auto key_bytes) {
        with_bytes<Item::value_bytes>(to.value_bytes, [&](auto value_bytes) {
            for (std::size_t i = 0; i < count; ++i) {
                const Item& item = items[at(i)];
                std::memcpy(to.keys + i * key_bytes, item.key, key_bytes);
                std::memcpy(to.values + i * value_bytes, item.value, value_bytes);
            }
        });
    });
}

// Gives pairs and their buckets to the partition.
template <class Item>
struct pair_source {
    pair_arrays from;
    const key_word* word;
    const digit_map* digits;

    void load(std::size_t first, std::size_t count, Item* items, std::uint16_t* bucket) const {
        std::uint64_t numbers[partition_batch];
        word->load(first, count, numbers);
        (*digits)(numbers, count, bucket);
        load_items(from.from(first), count, items);
    }
};

// One worker's scratch: a leaf sorts row numbers of the items, then takes the items by them.
template <class Item>
class pair_leaf {
public:
    static std::size_t scratch_bytes(std::size_t rows) {
        const std::size_t bytes = leaf_sorter::scratch_items(rows) * sizeof(std::uint64_t) +
                                  rows * (sizeof(Item) + sizeof(std::uint32_t));
        return (bytes + 63) / 64 * 64;
    }
    pair_leaf(std::byte* scratch, std::size_t rows)
        : rows_(rows),
          numbers_(reinterpret_cast<std::uint64_t*>(scratch)),
          order_(reinterpret_cast<std::uint32_t*>(numbers_ + leaf_sorter::scratch_items(rows))),
          items_(reinterpret_cast<Item*>(order_ + rows)) {}

    Item* items() const { return items_; }

    /// Sorts the first `count` items by `word`, which reads keys from items(), into the arrays;
    /// their words have the same `resolved` upper bits.
    void sort(const key_word& word, int resolved, std::size_t count, const pair_arrays& to) {
        leaf_sorter sorter({&word, 1}, numbers_, rows_);
        word.load(0, count, sorter.items());
        const std::uint64_t* order = sorter.sort_positions(resolved, count, order_);
        const std::uint64_t positions = leaf_sorter::position_mask(count);
        store_items(
            items_, [=](std::size_t i) { return order[i] & positions; }, count, to);
    }

private:
    std::size_t rows_;
    std::uint64_t* numbers_;
    std::uint32_t* order_;
    Item* items_;
};

struct pair_region {
    std::size_t begin;
    std::size_t count;
};

template <class Item>
class pair_sort {
public:
    pair_sort(executor& executor, memory_resource& memory, const pair_arrays& arrays,
              const key_column& column, std::size_t n)
        : executor_(executor),
          memory_(memory),
          arrays_(arrays),
          column_(column),
          leaf_rows_(std::min(leaf_rows, n)),
          scratch_(memory, memory_bytes(n, executor.threads())) {}

    static std::size_t memory_bytes(std::size_t n, int threads) {
        return static_cast<std::size_t>(threads) *
               pair_leaf<Item>::scratch_bytes(std::min(leaf_rows, n));
    }

    void sort(const pair_region& whole) {
        std::vector<pair_region> waiting{whole};
        while (!waiting.empty()) {
            const pair_region next = waiting.back();
            waiting.pop_back();
            const pair_arrays arrays = arrays_.from(next.begin);
            const key_column column = column_.at(arrays.keys, arrays.key_bytes);
            const auto words = make_key_words(executor_, {&column, 1}, next.count);
            if (words.empty()) continue;
            if (next.count <= leaf_rows) {
                pair_leaf<Item> sorter = leaf(0);
                load_items(arrays, next.count, sorter.items());
                sorter.sort(words[0].at(sorter.items(), sizeof(Item)), 0, next.count, arrays);
            } else {
                split(next, arrays, words[0], waiting);
            }
        }
    }

private:
    pair_leaf<Item> leaf(int worker) const {
        return pair_leaf<Item>(scratch_.data() + static_cast<std::size_t>(worker) *
                                                     pair_leaf<Item>::scratch_bytes(leaf_rows_),
                               leaf_rows_);
    }

    void split(const pair_region& part, const pair_arrays& arrays, const key_word& word,
               std::vector<pair_region>& waiting) {
        const std::vector<std::uint64_t> rows = sample_rows(part.count);
        std::vector<std::uint64_t> sample(rows.size());
        word.load_at(rows.data(), rows.size(), sample.data());
        const digit_map digits(sample, word.bits(), bucket_bits(part.count));
        bucket_blocks<Item> blocks(memory_, part.count, executor_.threads(), digits.buckets());
        std::vector<pair_source<Item>> sources(static_cast<std::size_t>(executor_.threads()),
                                               {arrays, &word, &digits});
        blocks.fill(executor_, std::span<pair_source<Item>>(sources));
        std::vector<std::size_t> begin(blocks.bucket_count() + 1, 0);
        for (std::size_t b = 0; b < blocks.bucket_count(); ++b) {
            begin[b + 1] = begin[b] + blocks.size(b);
        }
        std::mutex mutex;
        for_each_ticket(executor_, blocks.bucket_count(), [&](int worker) {
            pair_leaf<Item> sorter = leaf(worker);
            return [&, sorter,
                    local = word.at(sorter.items(), sizeof(Item))](std::size_t b) mutable {
                const std::size_t count = begin[b + 1] - begin[b];
                const pair_arrays to = arrays.from(begin[b]);
                if (count == 0) return;
                if (count <= leaf_rows) {
                    Item* next = sorter.items();
                    blocks.for_each_chunk(b, [&](std::span<const Item> chunk) {
                        next = std::copy(chunk.begin(), chunk.end(), next);
                    });
                    sorter.sort(local, digits.resolved_bits(), count, to);
                    return;
                }
                std::size_t done = 0;
                blocks.for_each_chunk(b, [&](std::span<const Item> chunk) {
                    store_items(
                        chunk.data(), [](std::size_t i) { return i; }, chunk.size(), to.from(done));
                    done += chunk.size();
                });
                const std::scoped_lock lock(mutex);
                waiting.push_back({part.begin + begin[b], count});
            };
        });
    }

    executor& executor_;
    memory_resource& memory_;
    pair_arrays arrays_;
    key_column column_;
    std::size_t leaf_rows_;
    buffer<std::byte> scratch_;
};

// The items that carry every key and value. Those of one byte beside a wider one get two: a line of
// such odd items in each bucket would not stay in the L1 cache.
template <class Body>
void with_item(std::size_t key_bytes, std::size_t value_bytes, const Body& body) {
    if (value_bytes > 8) return body(pair_item<8, 16>{});
    if (key_bytes == 1 && value_bytes == 1) return body(pair_item<1, 1>{});
    with_bytes<8>(key_bytes, [&](auto key) {
        with_bytes<8>(value_bytes, [&](auto value) {
            constexpr std::size_t least = 2;
            body(pair_item<std::max<std::size_t>(key, least),
                           std::max<std::size_t>(value, least)>{});
        });
    });
}

}  // namespace

void sort_pairs(executor& executor, memory_resource& memory, void* keys, data_type type,
                const sort_options& options, void* values, std::size_t value_bytes, std::size_t n) {
    const key_column column({keys, type, 0, options.order}, options.begin_bit, options.end_bit);
    if (first_disorder(executor, {&column, 1}, n, false) >= n) return;
    const pair_arrays arrays{static_cast<std::byte*>(keys), size_of(type),
                             static_cast<std::byte*>(values), value_bytes};
    with_item(size_of(type), value_bytes, [&]<class Item>(Item) {
        pair_sort<Item>(executor, memory, arrays, column, n).sort({0, n});
    });
}

std::size_t sort_pairs_memory(std::size_t n, std::size_t key_bytes, std::size_t value_bytes,
                              int threads) {
    std::size_t bytes = 0;
    with_item(key_bytes, value_bytes, [&]<class Item>(Item) {
        bytes = pair_sort<Item>::memory_bytes(n, threads);
        if (n > leaf_rows) {
            bytes += partition_memory<Item>(n, threads, bucket_bits(n));
        }
    });
    return bytes;
}

}  // namespace lookback::cpu
