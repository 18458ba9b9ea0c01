#include "h5select/job.hpp"

#include "common/output_table.hpp"
#include "h5select/decide.hpp"
#include "h5select/explain.hpp"
#include "h5select/move.hpp"
#include "io/output.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace lookback::apps::h5select {
namespace {

/// The output file, and the one of --rest, which may be the same.
class outputs {
public:
    outputs(const plan& planned, const request& wanted) : plan_(planned), wanted_(wanted) {
        if (!wanted.output.target.file.empty()) {
            kept_ =
                std::make_unique<io::output_file>(wanted.output.target.file, wanted.output.mode);
            require_absent_table(*kept_, planned.input, planned.output_path);
            if (!planned.indices_path.empty()) kept_->require_absent(planned.indices_path);
        }
        if (!wanted.rest) return;
        const bool shared = kept_ && same_file(wanted.rest->file, wanted.output.target.file);
        if (!shared) {
            other_ = std::make_unique<io::output_file>(wanted.rest->file, wanted.output.mode);
        }
        require_absent_table(rest_file(), planned.input, planned.rest_path);
    }

    void create(const row_bits& kept) {
        const io::storage_options& storage = wanted_.output.storage;
        if (kept_) {
            kept_targets = create_table(*kept_, plan_.input, plan_.output_path, kept.kept(),
                                        storage, wanted_.copy_rest);
            if (!plan_.indices_path.empty()) {
                indices = kept_->create(plan_.indices_path, data_type::i64, kept.kept(), storage,
                                        &plan_.input.datasets().front());
            }
        }
        if (wanted_.rest) {
            rest_targets = create_table(rest_file(), plan_.input, plan_.rest_path,
                                        kept.rows() - kept.kept(), storage, wanted_.copy_rest);
        }
    }

    void commit(session& session) {
        kept_targets.clear();
        rest_targets.clear();
        indices.reset();
        for (io::output_file* const file : {other_.get(), kept_.get()}) {
            if (file == nullptr) continue;
            file->commit();
            for (const std::string& notice : file->notices()) session.note(notice);
        }
    }

    std::vector<io::dataset> kept_targets;
    std::vector<io::dataset> rest_targets;
    std::optional<io::dataset> indices;

private:
    io::output_file& rest_file() { return other_ ? *other_ : *kept_; }

    const plan& plan_;
    const request& wanted_;
    std::unique_ptr<io::output_file> kept_;
    std::unique_ptr<io::output_file> other_;
};

// Where rows too many for memory would be noted: --tmp, or beside the output.
std::string temporary_folder(const request& wanted) {
    if (!wanted.common.tmp.empty()) return wanted.common.tmp;
    const std::string& file = wanted.rest ? wanted.rest->file : wanted.output.target.file;
    if (file.empty()) return std::filesystem::temp_directory_path().string();
    return std::filesystem::path(file).parent_path().string();
}

// LOOKBACK_MARK_MEMORY, in bytes, lets tests reach the file without 2^28 rows.
std::size_t mark_memory() {
    const char* const text = std::getenv("LOOKBACK_MARK_MEMORY");
    const std::uint64_t bytes = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
    return bytes != 0 ? bytes : row_bits::usual_memory;
}

std::optional<io::dataset> target(const std::vector<io::dataset>& targets, std::size_t c) {
    if (targets.empty()) return std::nullopt;
    return targets[c];
}

}  // namespace

void run_select(const plan& planned, const request& wanted, const context& host,
                const context* device, session& session) {
    const io::transfer_options deciding{host.threads(), nullptr, {}, {}};
    const io::transfer_options moving{host.threads(), &session.counters, {}, {}};
    stage& decide_stage = session.timed.add("decide", planned.decision_bytes());
    stage& move_stage = session.timed.add("move", wanted.writes() ? planned.table_bytes() : 0,
                                          &session.counters.bytes_in);
    stage& commit_stage = session.timed.add("write", 0, &session.counters.bytes_out);

    // What exists already is found now, not after the rows have been read.
    outputs out(planned, wanted);
    row_bits kept(temporary_folder(wanted), mark_memory());
    held_rows held(planned, host, !wanted.output.target.file.empty(), wanted.rest.has_value());
    {
        const stage_scope scope(decide_stage);
        io::transfer_counters counters;
        io::transfer_options counted = deciding;
        counted.counters = &counters;
        const row_strategy used = decide(planned, wanted, device, counted, kept, held);
        session.told.strategy = used == row_strategy::terms   ? "terms"
                                : used == row_strategy::steps ? "steps"
                                                              : "lookback";
        decide_stage.done() += counters.bytes_in;
    }
    session.told.rows_out = kept.kept();
    if (wanted.explain) write_text("-", explain(planned, kept, host));
    if (wanted.writes()) {
        const stage_scope scope(move_stage);
        out.create(kept);
        for (std::size_t c = 0; c < planned.input.datasets().size(); ++c) {
            move_rows(host, planned.input.datasets()[c], c, held, kept, target(out.kept_targets, c),
                      target(out.rest_targets, c), moving);
        }
        if (out.indices) write_row_numbers(kept, *out.indices, moving);
    }
    {
        const stage_scope scope(commit_stage);
        out.commit(session);
    }
    session.told.bytes_in = session.counters.bytes_in + decide_stage.bytes();
    session.told.bytes_out = session.counters.bytes_out;
    if (!planned.output_path.empty()) {
        session.told.output = address{wanted.output.target.file, planned.output_path}.text();
    }
    if (wanted.rest) {
        session.told.more["rest"] = address{wanted.rest->file, planned.rest_path}.text();
        session.told.more["rows_rest"] = kept.rows() - kept.kept();
    }
}

}  // namespace lookback::apps::h5select
