#include "h5scan/job.hpp"

#include "common/columns.hpp"
#include "common/placed.hpp"
#include "common/refuse.hpp"
#include "common/visit_type.hpp"
#include "h5scan/convert.hpp"
#include "h5scan/overflow.hpp"
#include "h5scan/text_runs.hpp"

#include <lookback/error.hpp>
#include <lookback/order.hpp>
#include <lookback/segmented_scan.hpp>

#include <charconv>
#include <concepts>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps::h5scan {
namespace {

template <class T>
std::optional<T> parse_init(const std::string& text) {
    if (text.empty()) return std::nullopt;
    T value{};
    const bool plus = text.starts_with('+') && !text.starts_with("+-");
    const char* const begin = text.data() + (plus ? 1 : 0);
    const char* const end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(begin, end, value);
    if (failure != std::errc() || rest != end) {
        refuse(fmt::format("option '--init': '{}' is no value of type {}", text,
                           name_of(type_of<T>())));
    }
    return value;
}

class scan_job {
public:
    scan_job(const plan& planned, const request& wanted, const context& work, session& session);
    void run();

private:
    std::vector<std::int64_t> read_integers(const io::dataset& source);
    std::vector<std::int64_t> read_offsets();
    std::vector<std::int64_t> runs_of(const io::dataset& by);
    void run_conversion();

    template <class T>
    void run_column(const scanned_column& column);
    template <class T>
    buffer<T> read_values(const io::dataset& source, bool may_wrap, std::string_view advice);
    template <class T>
    void scan_values(const scanned_column& column, std::span<T> values);
    template <class T>
    void reduce_values(const scanned_column& column, std::span<const T> values,
                       std::span<T> reduced);
    template <class T>
    scan_options<T> options() const {
        return {wanted_.op, parse_init<T>(wanted_.init), wanted_.reproducible, wanted_.strategy};
    }
    template <class T, class Work>
    void for_each_lane(std::span<T> values, std::uint64_t lanes, const Work& work);
    template <class T>
    void write_values(const scanned_column& column, std::span<const T> values, std::uint64_t rows);

    const plan& plan_;
    const request& wanted_;
    const context& work_;
    context host_;  // memory and helpers of the host, whatever the backend
    session& session_;
    io::transfer_options transfer_;
    io::output_file output_;
    std::vector<std::int64_t> offsets_;  // empty = one segment of all rows
    scan_strategy ran_ = scan_strategy::lookback;
    stage& read_;
    stage& scan_;
    stage& write_;
};

scan_job::scan_job(const plan& planned, const request& wanted, const context& work,
                   session& session)
    : plan_(planned),
      wanted_(wanted),
      work_(work),
      host_({.backend = backend::cpu, .threads = work.threads()}),
      session_(session),
      transfer_{work.threads(), &session.counters, {}},
      output_(wanted.output.target.file, wanted.output.mode),
      read_(session.timed.add("read", planned.bytes(), &session.counters.bytes_in)),
      scan_(session.timed.add("scan", planned.bytes())),
      write_(session.timed.add("write", planned.bytes(), &session.counters.bytes_out)) {
    for (const scanned_column& column : plan_.columns) output_.require_absent(column.path);
}

void scan_job::run() {
    if (wanted_.convert) {
        run_conversion();
    } else {
        offsets_ = read_offsets();
        for (const scanned_column& column : plan_.columns) {
            visit_type(column.type, [&]<class T>() {
                if constexpr (arithmetic_item<T>) run_column<T>(column);
            });
        }
    }
    const stage_scope scope(write_);
    output_.commit();
    session_.told.strategy = name_of(ran_);
    session_.told.bytes_in = session_.counters.bytes_in;
    session_.told.bytes_out = session_.counters.bytes_out;
    for (const std::string& notice : output_.notices()) session_.note(notice);
}

// Values of any key type as T, a batch at a time, so that no second copy of the column is held.
template <class T>
buffer<T> scan_job::read_values(const io::dataset& source, bool may_wrap, std::string_view advice) {
    const stage_scope scope(read_);
    const std::uint64_t items = source.rows() * source.row_items();
    buffer<T> values(host_, static_cast<std::size_t>(items));
    if (items == 0) return values;
    visit_type(*source.type().key, [&]<class From>() {
        if constexpr (std::same_as<From, T>) {
            io::read(source, io::form::native, values.data(), transfer_);
        } else {
            const std::uint64_t step =
                std::min(source.rows(), batch_rows(source, std::uint64_t{16} << 20));
            buffer<From> batch(host_, static_cast<std::size_t>(step * source.row_items()));
            for (std::uint64_t row = 0; row < source.rows(); row += step) {
                const std::uint64_t rows = std::min(step, source.rows() - row);
                io::read_rows(source, row, rows, io::form::native, batch.data(), transfer_);
                const std::span<const From> read(
                    batch.data(), static_cast<std::size_t>(rows * source.row_items()));
                const auto bad = convert(read, values.data() + row * source.row_items(), may_wrap);
                if (!bad) continue;
                refuse(fmt::format("{}: the value at row {} does not fit {}; {}", source.address(),
                                   row + *bad / source.row_items(), name_of(type_of<T>()), advice));
            }
        }
    });
    return values;
}

std::vector<std::int64_t> scan_job::read_integers(const io::dataset& source) {
    const buffer<std::int64_t> values =
        read_values<std::int64_t>(source, false, "segments and lengths are counted in 63 bits");
    return {values.begin(), values.end()};
}

std::vector<std::int64_t> scan_job::read_offsets() {
    if (plan_.by) return runs_of(*plan_.by);
    const auto rows = static_cast<std::int64_t>(plan_.rows());
    if (plan_.segments) {
        return to_offsets(wanted_.segments_as, read_integers(*plan_.segments), rows,
                          plan_.segments->address());
    }
    if (wanted_.reduce) return {0, rows};
    return {};
}

std::vector<std::int64_t> scan_job::runs_of(const io::dataset& by) {
    if (by.type().kind == io::element_kind::variable_string) {
        const stage_scope scope(read_);
        std::vector<std::int64_t> offsets = text_run_begins(by, transfer_);
        offsets.push_back(static_cast<std::int64_t>(by.rows()));
        return offsets;
    }
    const bool string = by.type().kind == io::element_kind::fixed_string;
    const held_column keys = [&] {
        const stage_scope scope(read_);
        held_column column(host_, by, string ? io::form::stored : io::form::native, by.rows());
        column.append(by, transfer_);
        return column;
    }();
    const sort_key key{
        keys.data(), string ? data_type::u8 : *by.type().key, string ? by.type().bytes : 0, {}};
    const buffer<std::uint8_t> heads(host_, static_cast<std::size_t>(by.rows()));
    if (!heads.empty()) mark_heads(host_, {&key, 1}, heads.span());
    std::vector<std::int64_t> offsets;
    for (std::size_t row = 0; row < heads.size(); ++row) {
        if (heads[row] != 0) offsets.push_back(static_cast<std::int64_t>(row));
    }
    offsets.push_back(static_cast<std::int64_t>(by.rows()));
    return offsets;
}

// Rows of several items are scanned item by item along the rows.
template <class T, class Work>
void scan_job::for_each_lane(std::span<T> values, std::uint64_t lanes, const Work& work) {
    if (lanes == 1) {
        work(values, std::uint64_t{0});
        return;
    }
    const auto rows = static_cast<std::size_t>(plan_.rows());
    const buffer<T> lane(host_, rows);
    for (std::uint64_t which = 0; which < lanes; ++which) {
        for (std::size_t row = 0; row < rows; ++row) lane[row] = values[row * lanes + which];
        work(lane.span(), which);
        for (std::size_t row = 0; row < rows; ++row) values[row * lanes + which] = lane[row];
    }
}

template <class T>
void scan_job::scan_values(const scanned_column& column, std::span<T> values) {
    const bool checked = std::integral<T> && !wanted_.wrap && can_overflow(wanted_.op);
    buffer<T> originals;
    if (checked && wanted_.op == scan_operator::multiplies) {
        originals = buffer<T>(host_, values.size());
        std::copy(values.begin(), values.end(), originals.begin());
    }
    const placed<T> items(work_, values);
    const std::span<const T> in = items.span();
    if (offsets_.empty()) {
        const auto scan = wanted_.exclusive ? exclusive_scan<T> : inclusive_scan<T>;
        ran_ = scan(work_, in, items.span(), options<T>());
    } else {
        const placed<const std::int64_t> offsets(work_, offsets_);
        const auto scan =
            wanted_.exclusive ? segmented_exclusive_scan<T> : segmented_inclusive_scan<T>;
        ran_ = scan(work_, in, offsets.span(), items.span(), options<T>());
    }
    items.fetch();
    if constexpr (std::integral<T>) {
        if (!checked) return;
        const auto bad = first_overflow(scanned<T>{wanted_.op, wanted_.exclusive, options<T>().init,
                                                   originals.data(), values, offsets_},
                                        work_.threads());
        if (!bad) return;
        refuse(
            fmt::format("{}: the result at row {} does not fit {}; --dtype i64 or f64 gives it "
                        "room, --overflow wrap lets it wrap",
                        column.source.address(), *bad, name_of(column.type)));
    }
}

template <class T>
void scan_job::reduce_values(const scanned_column& column, std::span<const T> values,
                             std::span<T> reduced) {
    const placed<const T> items(work_, values);
    const placed<const std::int64_t> offsets(work_, offsets_);
    const placed<T> results(work_, reduced, false);
    ran_ = segmented_reduce<T>(work_, items.span(), offsets.span(), results.span(), options<T>());
    results.fetch();
    if constexpr (std::integral<T>) {
        if (wanted_.wrap) return;
        const auto bad = first_overflowing_segment<T>(wanted_.op, values, offsets_,
                                                      options<T>().init, work_.threads());
        if (!bad) return;
        refuse(
            fmt::format("{}: the result of segment {} does not fit {}; --dtype i64 or f64 gives "
                        "it room, --overflow wrap lets it wrap",
                        column.source.address(), *bad, name_of(column.type)));
    }
}

template <class T>
void scan_job::write_values(const scanned_column& column, std::span<const T> values,
                            std::uint64_t rows) {
    const stage_scope scope(write_);
    io::storage_options storage = wanted_.output.storage;
    if (!column.keeps_type) storage.type = column.type;
    const io::dataset target = output_.create_like(column.source, column.path, rows, storage);
    if (!values.empty()) io::write(target, io::form::native, values.data(), transfer_);
    session_.told.rows_out = rows;
}

template <class T>
void scan_job::run_column(const scanned_column& column) {
    const buffer<T> values = read_values<T>(column.source, wanted_.wrap, "choose another --dtype");
    const std::uint64_t lanes = column.source.row_items();
    if (!wanted_.reduce) {
        {
            const stage_scope scope(scan_);
            for_each_lane(values.span(), lanes,
                          [&](std::span<T> lane, std::uint64_t) { scan_values<T>(column, lane); });
            scan_.done() += values.size() * sizeof(T);
        }
        write_values<T>(column, values.span(), plan_.rows());
        return;
    }
    const std::size_t segments = offsets_.size() - 1;
    const buffer<T> reduced(host_, segments * static_cast<std::size_t>(lanes));
    {
        const stage_scope scope(scan_);
        const buffer<T> results(host_, segments);
        for_each_lane(values.span(), lanes, [&](std::span<T> lane, std::uint64_t which) {
            reduce_values<T>(column, lane, results.span());
            for (std::size_t s = 0; s < segments; ++s) reduced[s * lanes + which] = results[s];
        });
        scan_.done() += values.size() * sizeof(T);
    }
    write_values<T>(column, reduced.span(), segments);
}

void scan_job::run_conversion() {
    const scanned_column& column = plan_.columns.front();
    const convention from = wanted_.convert->first;
    const convention to = wanted_.convert->second;
    const std::vector<std::int64_t> given = read_integers(column.source);
    const std::vector<std::int64_t> values = [&] {
        const stage_scope scope(scan_);
        return from_offsets(to, to_offsets(from, given, wanted_.length, column.source.address()));
    }();
    scan_.done() += values.size() * sizeof(std::int64_t);
    visit_type(column.type, [&]<class T>() {
        if constexpr (arithmetic_item<T>) {
            const buffer<T> narrow(host_, values.size());
            const auto bad =
                convert(std::span<const std::int64_t>(values), narrow.data(), wanted_.wrap);
            if (bad) {
                refuse(
                    fmt::format("{}: {} of segment {} is {}, which does not fit {}; add --dtype "
                                "i64",
                                column.source.address(), name_of(to), *bad, values[*bad],
                                name_of(column.type)));
            }
            write_values<T>(column, narrow.span(), values.size());
        }
    });
}

}  // namespace

void run_scan(const plan& planned, const request& wanted, const context& work, session& session) {
    scan_job(planned, wanted, work, session).run();
}

}  // namespace lookback::apps::h5scan
