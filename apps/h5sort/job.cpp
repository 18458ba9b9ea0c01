#include "h5sort/job.hpp"

#include "common/columns.hpp"
#include "common/output_table.hpp"
#include "common/placed.hpp"
#include "common/visit_type.hpp"
#include "h5sort/check.hpp"
#include "h5sort/key_values.hpp"
#include "h5sort/sorted_sink.hpp"

#include <lookback/error.hpp>
#include <lookback/order.hpp>
#include <lookback/sort_stream.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps::h5sort {
namespace {

class sort_job {
public:
    sort_job(const plan& planned, const request& wanted, const context& work, const context& host,
             session& session);
    void run();

private:
    void run_keys();
    bool stream_keys();
    void run_pairs();
    template <class Index>
    void run_index();
    template <class Index>
    void find_order(std::vector<sort_key> keys, std::span<const std::int64_t> segments,
                    std::span<Index> index) const;
    template <class Index>
    void write_columns(std::span<const Index> index, key_values& keys, const held_column& rows);

    void sort_keys_in_place(void* values);
    void sort_with_payload(void* keys, held_column& payload);
    held_column read_column(std::size_t c, io::form form);
    void make_targets(std::uint64_t rows);
    std::uint64_t cut(std::uint64_t rows) const {
        return wanted_.head ? std::min(*wanted_.head, rows) : rows;
    }
    buffer<std::uint8_t> find_heads(std::span<const sort_key> keys, std::uint64_t rows) const;

    const plan& plan_;
    const request& wanted_;
    const context& work_;  // sorts
    const context& host_;  // memory and helpers of the host, whatever the backend
    session& session_;
    io::transfer_options transfer_;
    io::output_file output_;
    std::vector<io::dataset> targets_;
    stage& read_;
    stage& sort_;
    stage& write_;
};

std::uint64_t bytes_to_write(const plan& planned, const request& wanted) {
    const std::uint64_t index =
        planned.index_path.empty() ? 0 : planned.rows * sizeof(std::int64_t);
    return index + (wanted.index_only ? 0 : planned.table_bytes());
}

std::uint64_t bytes_to_read(const plan& planned, const request& wanted) {
    std::uint64_t bytes = wanted.index_only ? 0 : planned.table_bytes();
    for (const key_column& key : planned.keys) {
        const bool read_with_rows = !wanted.index_only && (key.is_column() || planned.hold_rows);
        if (!read_with_rows) bytes += planned.rows * key.bytes();
    }
    return bytes;
}

sort_job::sort_job(const plan& planned, const request& wanted, const context& work,
                   const context& host, session& session)
    : plan_(planned),
      wanted_(wanted),
      work_(work),
      host_(host),
      session_(session),
      transfer_{host.threads(), &session.counters, {}},
      output_(wanted.output.target.file, wanted.output.mode),
      read_(session.timed.add("read", bytes_to_read(planned, wanted), &session.counters.bytes_in)),
      sort_(session.timed.add("sort", planned.key_bytes())),
      write_(session.timed.add("write", bytes_to_write(planned, wanted),
                               &session.counters.bytes_out)) {
    // What exists already is found now, not after an hour of sorting.
    if (!plan_.index_path.empty()) output_.require_absent(plan_.index_path);
    if (wanted_.index_only) return;
    require_absent_table(output_, plan_.first(), plan_.output_path);
}

void sort_job::run() {
    switch (plan_.how) {
        case strategy::keys:
            run_keys();
            break;
        case strategy::pairs:
            run_pairs();
            break;
        case strategy::index:
            if (plan_.wide_index()) {
                run_index<std::int64_t>();
            } else {
                run_index<std::uint32_t>();
            }
            break;
    }
    const stage_scope scope(write_);
    targets_.clear();
    output_.commit();
    session_.told.output = address{wanted_.output.target.file,
                                   wanted_.index_only ? plan_.index_path : plan_.output_path}
                               .text();
    session_.told.strategy = name_of(plan_.how);
    session_.told.bytes_in = session_.counters.bytes_in;
    session_.told.bytes_out = session_.counters.bytes_out;
    for (const std::string& notice : output_.notices()) session_.note(notice);
}

held_column sort_job::read_column(std::size_t c, io::form form) {
    const stage_scope scope(read_);
    held_column column(host_, plan_.first().datasets()[c], form, plan_.rows);
    for (const io::table& table : plan_.inputs) column.append(table.datasets()[c], transfer_);
    return column;
}

void sort_job::make_targets(std::uint64_t rows) {
    const io::table& first = plan_.first();
    session_.told.rows_out = rows;
    if (wanted_.index_only) return;
    targets_ = create_table(output_, first, plan_.output_path, rows, wanted_.output.storage,
                            wanted_.copy_rest);
}

buffer<std::uint8_t> sort_job::find_heads(std::span<const sort_key> keys,
                                          std::uint64_t rows) const {
    buffer<std::uint8_t> heads(host_, rows);
    mark_heads(host_, keys, heads.span());
    return heads;
}

// Moves the rows that `heads` marks to the front; returns how many they are.
std::uint64_t keep_heads(const buffer<std::uint8_t>& heads, std::byte* rows,
                         std::size_t row_bytes) {
    std::uint64_t kept = 0;
    for (std::uint64_t row = 0; row < heads.size(); ++row) {
        if (heads[row] == 0) continue;
        if (row != kept) std::memcpy(rows + kept * row_bytes, rows + row * row_bytes, row_bytes);
        ++kept;
    }
    return kept;
}

void sort_job::sort_keys_in_place(void* values) {
    const key_column& key = plan_.keys.front();
    const auto rows = static_cast<std::size_t>(plan_.rows);
    visit_type(key.number(), [&]<class T>() {
        const placed<T> there(work_, std::span<T>(static_cast<T*>(values), rows));
        lookback::sort(work_, there.span(), sort_options{key.order, 0, 0});
        there.fetch();
    });
}

// Rows flow from the input into the sort and from there into the output. False, with nothing
// written, where they have to be sorted as an array.
bool sort_job::stream_keys() {
    const key_column& key = plan_.keys.front();
    const io::dataset& source = key.parts.front();
    const std::uint64_t rows = cut(plan_.rows);
    // The sort's threads read and write, each for itself; what is peeked at is read again.
    io::transfer_options own = transfer_;
    own.threads = 1;
    io::transfer_options uncounted = own;
    uncounted.counters = nullptr;
    // On the CPU the sort works while keys are read and written, on a GPU between the two.
    const bool between = work_.active_backend() == backend::cuda;
    std::atomic<std::uint64_t> rows_read = 0;
    std::once_flag begun;
    std::unique_ptr<sorted_sink> sink;
    const auto begin = [&] {
        if (between) sort_.finish();
        write_.start();
        make_targets(rows);
        sink = std::make_unique<sorted_sink>(host_, targets_.front(), transfer_);
    };
    key_stream stream{key.number(), key.order, static_cast<std::size_t>(plan_.rows), plan_.block()};
    stream.read = [&](std::size_t first, std::size_t count, void* into) {
        io::read_rows(source, first, count, io::form::native, into, own);
        if (rows_read.fetch_add(count) + count != plan_.rows) return;
        read_.finish();
        if (between) sort_.start();
    };
    stream.peek = [&](std::size_t first, std::size_t count, void* into) {
        io::read_rows(source, first, count, io::form::native, into, uncounted);
    };
    stream.write = [&](std::size_t first, std::size_t count, const void* keys) {
        std::call_once(begun, begin);
        if (first < rows) sink->write(first, std::min<std::uint64_t>(count, rows - first), keys);
    };
    const stage_scope reading(read_);
    std::optional<stage_scope> sorting;
    if (!between) sorting.emplace(sort_);
    if (!sort_stream(work_, stream)) return false;
    sink->finish();
    write_.finish();
    sort_.done() += plan_.key_bytes();
    return true;
}

void sort_job::run_keys() {
    if (plan_.streamed) {
        if (stream_keys()) return;
        session_.counters.bytes_in = 0;  // read once more
    }
    const key_column& key = plan_.keys.front();
    held_column column = read_column(0, io::form::native);
    std::uint64_t rows = plan_.rows;
    {
        const stage_scope scope(sort_);
        const sort_key whole{column.data(), key.number(), 0, key.order};
        if (wanted_.merge) {
            require_sorted_inputs(plan_, host_, {whole});
        }
        sort_keys_in_place(column.data());
        if (wanted_.unique) {
            rows = keep_heads(find_heads({&whole, 1}, rows), column.data(), column.row_bytes());
        }
        sort_.done() += plan_.key_bytes();
    }
    rows = cut(rows);
    make_targets(rows);
    const stage_scope scope(write_);
    if (rows != 0) io::write(targets_.front(), io::form::native, column.data(), transfer_);
}

void sort_job::sort_with_payload(void* keys, held_column& payload) {
    const key_column& key = plan_.keys.front();
    const auto rows = static_cast<std::size_t>(plan_.rows);
    visit_type(key.number(), [&]<class T>() {
        const placed<T> keys_there(work_, std::span<T>(static_cast<T*>(keys), rows));
        const placed<std::byte> there(
            work_, std::span<std::byte>(payload.data(), rows * payload.row_bytes()));
        sort_pairs(work_, keys_there.span(), there.span().data(), payload.row_bytes(),
                   sort_options{key.order, 0, 0});
        keys_there.fetch();
        there.fetch();
    });
}

void sort_job::run_pairs() {
    const key_column& key = plan_.keys.front();
    const std::size_t payload_column = key.payload();
    held_column payload = read_column(payload_column, io::form::stored);
    key_values keys(plan_, host_, plan_.rows);
    {
        const stage_scope scope(read_);
        keys.load(key.field ? &payload : nullptr, transfer_);
    }
    std::uint64_t rows = plan_.rows;
    {
        const stage_scope scope(sort_);
        const std::vector<sort_key> whole = keys.sort_keys();
        if (wanted_.merge) require_sorted_inputs(plan_, host_, whole);
        sort_with_payload(keys.data(0), payload);
        if (wanted_.unique) {
            const buffer<std::uint8_t> heads = find_heads(whole, rows);
            keep_heads(heads, payload.data(), payload.row_bytes());
            rows = keep_heads(heads, keys.data(0), key.bytes());
        }
        sort_.done() += plan_.key_bytes();
    }
    rows = cut(rows);
    make_targets(rows);
    const stage_scope scope(write_);
    if (rows == 0) return;
    io::write(targets_[payload_column], io::form::stored, payload.data(), transfer_);
    if (!key.field) {
        io::write(targets_[1 - payload_column], io::form::native, keys.data(0), transfer_);
    }
}

template <class Index>
void sort_job::find_order(std::vector<sort_key> keys, std::span<const std::int64_t> segments,
                          std::span<Index> index) const {
    std::vector<placed<const std::byte>> columns;
    columns.reserve(keys.size());
    for (sort_key& key : keys) {
        const std::size_t bytes = key.string_bytes != 0 ? key.string_bytes : size_of(key.type);
        columns.emplace_back(
            work_, std::span(static_cast<const std::byte*>(key.data), index.size() * bytes));
        key.data = columns.back().span().data();
    }
    const placed<Index> there(work_, index, false);
    if (plan_.segments) {
        const placed<const std::int64_t> offsets(work_, segments);
        argsort_segments<Index>(work_, keys, offsets.span(), there.span());
    } else {
        argsort<Index>(work_, keys, there.span());
    }
    there.fetch();
}

template <class Index>
void sort_job::run_index() {
    held_column rows;
    if (plan_.hold_rows) rows = read_column(0, io::form::stored);
    key_values keys(plan_, host_, plan_.rows);
    {
        const stage_scope scope(read_);
        keys.load(plan_.hold_rows ? &rows : nullptr, transfer_);
    }
    std::vector<std::int64_t> segments;
    if (plan_.segments) segments = read_segments(*plan_.segments, plan_.rows, {});
    buffer<Index> index(host_, plan_.rows);
    std::uint64_t kept = plan_.rows;
    if (kept != 0) {
        const stage_scope scope(sort_);
        const std::vector<sort_key> all = keys.sort_keys();
        if (wanted_.merge) require_sorted_inputs(plan_, host_, all);
        find_order<Index>(all, segments, index.span());
        if (wanted_.unique) {
            const buffer<std::uint8_t> heads(host_, kept);
            mark_heads<Index>(host_, all, kept, index.span(), heads.span());
            kept = keep_heads(heads, reinterpret_cast<std::byte*>(index.data()), sizeof(Index));
        }
        sort_.done() += plan_.key_bytes();
    }
    kept = cut(kept);
    make_targets(kept);
    write_columns<Index>(index.span().first(kept), keys, rows);
}

// Columns that are keys are in memory already and go first; each is given back when written.
template <class Index>
void sort_job::write_columns(std::span<const Index> index, key_values& keys,
                             const held_column& rows) {
    if (!plan_.index_path.empty()) {
        const stage_scope scope(write_);
        const io::dataset& beside =
            plan_.keys.front().parts.front();  // an argsort is stored as the key is
        write_index<Index>(output_.create(plan_.index_path, data_type::i64, index.size(),
                                          wanted_.output.storage, &beside),
                           index, transfer_);
    }
    if (wanted_.index_only || index.empty()) return;
    std::vector<bool> written(targets_.size(), false);
    for (std::size_t k = 0; k < plan_.keys.size(); ++k) {
        const key_column& key = plan_.keys[k];
        const std::size_t column = key.column.value_or(0);
        if (key.is_column() && !written[column]) {
            const stage_scope scope(write_);
            write_gathered<Index>(targets_[column], keys.data(k), plan_.rows, key.bytes(),
                                  key.form(), index, transfer_);
            written[column] = true;
        }
        keys.release(k);
    }
    const auto write_column = [&](std::size_t c, const held_column& column) {
        const stage_scope scope(write_);
        write_gathered<Index>(targets_[c], column.data(), column.rows(), column.row_bytes(),
                              column.form(), index, transfer_);
    };
    if (plan_.hold_rows) {
        write_column(0, rows);
        return;
    }
    for (std::size_t c = 0; c < targets_.size(); ++c) {
        if (!written[c]) write_column(c, read_column(c, io::form::stored));
    }
}

}  // namespace

void run_sort(const plan& planned, const request& wanted, const context& work, const context& host,
              session& session) {
    sort_job(planned, wanted, work, host, session).run();
}

}  // namespace lookback::apps::h5sort
