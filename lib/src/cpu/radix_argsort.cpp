#include "cpu/radix_argsort.hpp"

#include "cpu/digit_map.hpp"
#include "cpu/key_words.hpp"
#include "cpu/leaf_sort.hpp"
#include "cpu/radix_partition.hpp"
#include "cpu/row_order.hpp"
#include "cpu/tickets.hpp"

#include <lookback/buffer.hpp>

#include <algorithm>
#include <bit>
#include <mutex>
#include <numeric>
#include <vector>

namespace lookback::cpu {
namespace {

constexpr std::size_t iota_items = std::size_t{1} << 16;

// The rows of out[begin, begin + count), sorted by words before `word`, equal so far.
struct region {
    std::size_t begin;
    std::size_t count;
    std::size_t word;
    bool filled;  // whether the rows stand in out; else they are begin, begin + 1, ...
};

// How the words of a region become items: bits from `used` on, relative to the least word.
struct window {
    std::size_t word;
    std::uint64_t base;
    int unused;
    const digit_map* digits;
    int row_bits;
    int cut;  // key bits below those that fit an item

    std::uint64_t aligned(std::uint64_t number) const { return (number - base) << unused; }
};

// Gives the rows of a region, packed below their keys, to the partition.
template <class Index>
struct row_source {
    const key_word* word;
    window view;
    region part;
    const Index* out;

    void load(std::size_t first, std::size_t count, std::uint64_t* items,
              std::uint16_t* bucket) const {
        const std::size_t begin = part.begin + first;
        if (part.filled) {
            word->load_at(out + begin, count, items);
        } else {
            word->load(begin, count, items);
        }
        for (std::size_t i = 0; i < count; ++i) items[i] = view.aligned(items[i]);
        (*view.digits)(items, count, bucket);
        const int resolved = view.digits->resolved_bits();
        const auto pack = [&](std::size_t i, std::uint64_t row) {
            items[i] = items[i] << resolved >> view.row_bits << view.row_bits | row;
        };
        if (part.filled) {
            for (std::size_t i = 0; i < count; ++i) {
                pack(i, static_cast<std::uint64_t>(out[begin + i]));
            }
        } else {
            for (std::size_t i = 0; i < count; ++i) pack(i, begin + i);
        }
    }
};

template <class Index>
class row_argsort {
public:
    row_argsort(executor& executor, memory_resource& memory, std::span<const key_word> words,
                std::span<Index> out)
        : executor_(executor),
          memory_(memory),
          words_(words),
          out_(out),
          row_bits_(std::max(1, static_cast<int>(std::bit_width(out.size() - 1)))),
          leaf_rows_(std::min(leaf_rows, out.size())),
          scratch_(memory, static_cast<std::size_t>(executor.threads()) *
                               leaf_sorter::scratch_items(leaf_rows_)) {}

    leaf_sorter leaf(int worker) const {
        const std::size_t items = leaf_sorter::scratch_items(leaf_rows_);
        return leaf_sorter(words_, scratch_.data() + static_cast<std::size_t>(worker) * items,
                           leaf_rows_);
    }

    /// Sorts a region by its word and those that follow.
    void sort(const region& whole) {
        std::vector<region> waiting{whole};
        while (!waiting.empty()) {
            const region next = waiting.back();
            waiting.pop_back();
            if (next.count <= leaf_rows) {
                sort_leaf(next);
            } else {
                split(next, waiting);
            }
        }
    }

private:
    void sort_leaf(const region& part) {
        leaf_sorter sorter = leaf(0);
        Index* out = out_.data() + part.begin;
        if (part.filled) {
            sorter.sort_rows(part.word, out, part.count);
        } else {
            sorter.sort_range(part.begin, part.count, out);
        }
    }

    void fill_rows(const region& part) {
        executor_.for_each(part.count / iota_items + 1, [&](std::size_t task) {
            const std::size_t begin = part.begin + task * iota_items;
            const std::size_t end = std::min(begin + iota_items, part.begin + part.count);
            for (std::size_t row = begin; row < end; ++row) out_[row] = static_cast<Index>(row);
        });
    }

    // The least and the greatest word of a region.
    std::pair<std::uint64_t, std::uint64_t> range_of(const region& part) {
        constexpr std::size_t block = 256;
        std::mutex mutex;
        std::uint64_t least = ~std::uint64_t{0};
        std::uint64_t most = 0;
        executor_.for_each(part.count / iota_items + 1, [&](std::size_t task) {
            std::uint64_t low = ~std::uint64_t{0};
            std::uint64_t high = 0;
            const std::size_t end = std::min(part.count, (task + 1) * iota_items);
            std::uint64_t numbers[block];
            for (std::size_t row = task * iota_items; row < end; row += block) {
                const std::size_t count = std::min(block, end - row);
                if (part.filled) {
                    words_[part.word].load_at(&out_[part.begin + row], count, numbers);
                } else {
                    words_[part.word].load(part.begin + row, count, numbers);
                }
                for (std::size_t i = 0; i < count; ++i) {
                    low = std::min(low, numbers[i]);
                    high = std::max(high, numbers[i]);
                }
            }
            const std::scoped_lock lock(mutex);
            least = std::min(least, low);
            most = std::max(most, high);
        });
        return {least, most};
    }

    // Words of evenly spread rows of a region, aligned.
    std::vector<std::uint64_t> sample(const region& part, const window& view) const {
        std::vector<std::uint64_t> rows = sample_rows(part.count);
        for (std::uint64_t& row : rows) {
            row += part.begin;
            if (part.filled) row = static_cast<std::uint64_t>(out_[row]);
        }
        std::vector<std::uint64_t> words(rows.size());
        words_[part.word].load_at(rows.data(), rows.size(), words.data());
        for (std::uint64_t& word : words) word = view.aligned(word);
        return words;
    }

    void split(const region& part, std::vector<region>& waiting) {
        const key_word& word = words_[part.word];
        window view{part.word, 0, 0, nullptr, row_bits_, 0};
        // All rows together span their first word as it was measured.
        if (part.filled || part.count != out_.size() || part.word != 0) {
            const auto [least, most] = range_of(part);
            if (least == most) {
                if (part.word + 1 < words_.size()) {
                    if (!part.filled) fill_rows(part);
                    waiting.push_back({part.begin, part.count, part.word + 1, true});
                } else if (!part.filled) {
                    fill_rows(part);
                }
                return;
            }
            view.base = least;
            view.unused = std::countl_zero(most - least);
        }
        const int bits = word.bits() - view.unused;
        const digit_map digits(sample(part, view), bits, bucket_bits(part.count));
        view.digits = &digits;
        view.cut = std::max(0, bits - digits.resolved_bits() - (64 - row_bits_));
        bucket_blocks<std::uint64_t> blocks(memory_, part.count, executor_.threads(),
                                            digits.buckets());
        std::vector<row_source<Index>> sources(static_cast<std::size_t>(executor_.threads()),
                                               {&word, view, part, out_.data()});
        blocks.fill(executor_, std::span<row_source<Index>>(sources));
        finish_buckets(part, view, blocks, waiting);
    }

    void finish_buckets(const region& part, const window& view,
                        const bucket_blocks<std::uint64_t>& blocks, std::vector<region>& waiting) {
        std::vector<std::size_t> begin(blocks.bucket_count() + 1, part.begin);
        for (std::size_t b = 0; b < blocks.bucket_count(); ++b) {
            begin[b + 1] = begin[b] + blocks.size(b);
        }
        std::mutex mutex;
        for_each_ticket(executor_, blocks.bucket_count(), [&](int worker) {
            return [&, sorter = leaf(worker)](std::size_t b) mutable {
                const std::size_t count = begin[b + 1] - begin[b];
                if (count == 0) return;
                if (count <= leaf_rows) {
                    std::uint64_t* to = sorter.items();
                    blocks.for_each_chunk(b, [&](std::span<const std::uint64_t> chunk) {
                        to = std::copy(chunk.begin(), chunk.end(), to);
                    });
                    sorter.sort_items(view.word, view.cut == 0, row_bits_, count, &out_[begin[b]]);
                } else if (const auto rest = unpack(blocks, b, view, begin[b])) {
                    const std::scoped_lock lock(mutex);
                    waiting.push_back({begin[b], count, *rest, true});
                }
            };
        });
    }

    // Writes the rows of a large bucket, in input order, and says by which word they still differ.
    std::optional<std::size_t> unpack(const bucket_blocks<std::uint64_t>& blocks, std::size_t b,
                                      const window& view, std::size_t begin) {
        const std::uint64_t rows = (std::uint64_t{1} << row_bits_) - 1;
        Index* to = out_.data() + begin;
        std::uint64_t first = 0;
        std::uint64_t differ = 0;
        bool any = false;
        blocks.for_each_chunk(b, [&](std::span<const std::uint64_t> chunk) {
            if (!any) first = chunk.front();
            any = true;
            for (const std::uint64_t item : chunk) {
                differ |= item ^ first;
                *to++ = static_cast<Index>(item & rows);
            }
        });
        if (differ >> row_bits_ != 0 || view.cut != 0) return view.word;
        if (view.word + 1 < words_.size()) return view.word + 1;
        return std::nullopt;
    }

    executor& executor_;
    memory_resource& memory_;
    std::span<const key_word> words_;
    std::span<Index> out_;
    int row_bits_;
    std::size_t leaf_rows_;
    buffer<std::uint64_t> scratch_;
};

}  // namespace

template <class Index>
void argsort(executor& executor, memory_resource& memory, std::span<const key_column> columns,
             std::span<Index> index) {
    const std::size_t n = index.size();
    if (n == 0) return;
    std::vector<key_word> words;
    if (first_disorder(executor, columns, n, false) < n) {
        words = make_key_words(executor, columns, n);
    }
    if (words.empty()) {
        executor.for_each(n / iota_items + 1, [&](std::size_t task) {
            const std::size_t begin = task * iota_items;
            const std::size_t end = std::min(begin + iota_items, n);
            std::iota(index.begin() + begin, index.begin() + end, static_cast<Index>(begin));
        });
        return;
    }
    row_argsort<Index>(executor, memory, words, index).sort({0, n, 0, false});
}

template <class Index>
void argsort_segments(executor& executor, memory_resource& memory,
                      std::span<const key_column> columns, std::span<const std::int64_t> offsets,
                      std::span<Index> index) {
    const std::size_t n = index.size();
    if (n == 0) return;
    const std::vector<key_word> words = make_key_words(executor, columns, n);
    row_argsort<Index> sorter(executor, memory, words, index);
    // Tasks of equal numbers of rows; a segment belongs to the task in which it starts.
    const std::size_t tasks = n / leaf_rows + 1;
    std::mutex mutex;
    std::vector<region> large;
    for_each_ticket(executor, tasks, [&](int worker) {
        return [&, leaf = sorter.leaf(worker)](std::size_t task) mutable {
            const auto first = static_cast<std::int64_t>(task * leaf_rows);
            const auto last = static_cast<std::int64_t>((task + 1) * leaf_rows);
            auto at = std::lower_bound(offsets.begin(), offsets.end() - 1, first);
            for (; at + 1 < offsets.end() && *at < last; ++at) {
                const auto begin = static_cast<std::size_t>(at[0]);
                const auto count = static_cast<std::size_t>(at[1]) - begin;
                if (count <= leaf_rows) {
                    leaf.sort_range(begin, count, index.data() + begin);
                } else {
                    const std::scoped_lock lock(mutex);
                    large.push_back({begin, count, 0, false});
                }
            }
        };
    });
    for (const region& segment : large) sorter.sort(segment);
}

std::size_t argsort_memory(std::size_t n, int threads) {
    const std::size_t scratch = static_cast<std::size_t>(threads) *
                                leaf_sorter::scratch_items(std::min(n, leaf_rows)) *
                                sizeof(std::uint64_t);
    if (n <= leaf_rows) return scratch;
    return scratch + partition_memory<std::uint64_t>(n, threads, bucket_bits(n));
}

template void argsort(executor&, memory_resource&, std::span<const key_column>,
                      std::span<std::uint32_t>);
template void argsort(executor&, memory_resource&, std::span<const key_column>,
                      std::span<std::int64_t>);
template void argsort_segments(executor&, memory_resource&, std::span<const key_column>,
                               std::span<const std::int64_t>, std::span<std::uint32_t>);
template void argsort_segments(executor&, memory_resource&, std::span<const key_column>,
                               std::span<const std::int64_t>, std::span<std::int64_t>);

}  // namespace lookback::cpu
