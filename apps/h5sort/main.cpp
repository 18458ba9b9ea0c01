// h5sort: sorts the values of a dataset, or the rows of a table, stably.
#include "common/app.hpp"
#include "common/progress.hpp"
#include "common/size.hpp"
#include "h5sort/check.hpp"
#include "h5sort/job.hpp"
#include "h5sort/plan.hpp"

#include <lookback/error.hpp>

#include <chrono>
#include <cstdio>

#include <fmt/format.h>

namespace lookback::apps::h5sort {
namespace {

// A GPU is not chosen by itself: the library sorts on the CPU alone.
context_options options_of(const common_options& common) {
    const bool chosen = common.backend != backend::automatic;
    return {.backend = chosen ? common.backend : backend::cpu, .threads = common.threads};
}

void require_cpu(const context& context) {
    if (context.active_backend() == backend::cpu) return;
    throw error(error_kind::backend_error,
                "h5sort sorts on the CPU; leave out --backend or give --backend cpu");
}

report start_report(const plan& planned, const request& wanted, const context& context) {
    report told;
    told.app = "h5sort";
    for (const io::table& table : planned.inputs) {
        told.inputs.push_back(address{table.file_path(), table.path()}.text());
    }
    if (wanted.check == check_mode::off) {
        const std::string& path = wanted.index_only ? planned.index_path : planned.output_path;
        told.output = address{wanted.output.file, path}.text();
    }
    told.rows_in = planned.rows;
    told.backend = "cpu";
    told.backend_reason =
        wanted.common.backend == backend::cpu ? "asked for by name" : "h5sort sorts on the CPU";
    told.threads = context.threads();
    told.more["order"] = order_text(planned);
    return told;
}

exit_code run_check(const plan& planned, const request& wanted, const context& context,
                    stages& timed, report& told) {
    io::transfer_counters counters;
    stage& checked = timed.add("check", planned.key_bytes(), &counters.bytes_in);
    const stage_scope scope(checked);
    const auto found =
        find_disorder(planned, context, wanted.unique, {context.threads(), &counters, {}});
    told.strategy = "check";
    told.bytes_in = counters.bytes_in;
    told.more["sorted"] = !found.has_value();
    if (!found) return done;
    told.more["first_disorder_row"] = found->row;
    if (wanted.check == check_mode::tell && wanted.common.json != "-") {
        write_text("-", found->text + "\n");
    }
    return no;
}

void say(const request& wanted, const std::string& line) {
    if (wanted.common.verbose) std::fprintf(stderr, "h5sort: %s\n", line.c_str());
}

exit_code run(const command_line& line) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const request wanted = read_request(line);
    const context context(options_of(wanted.common));
    require_cpu(context);
    const plan planned = make_plan(wanted, context);
    if (wanted.common.dry_run) {
        write_text("-", plan_text(planned, wanted, context));
        return done;
    }
    stages timed;
    report told = start_report(planned, wanted, context);
    const bool check = wanted.check != check_mode::off;
    say(wanted, fmt::format("{} rows by {}; {} threads", planned.rows, order_text(planned),
                            context.threads()));
    exit_code answer = done;
    {
        const progress_mode mode =
            wanted.common.quiet ? progress_mode::off : wanted.common.progress;
        const progress_bar bar("h5sort", timed, mode);
        if (check) {
            answer = run_check(planned, wanted, context, timed, told);
        } else {
            require_memory(planned, wanted);
            run_sort(planned, wanted, context, timed, told);
        }
    }
    const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
    if (!told.output.empty()) {
        say(wanted, fmt::format("{} rows to {} in {:.3f} s, at most {} of memory, strategy {}",
                                told.rows_out, told.output, seconds, size_text(peak_memory()),
                                told.strategy));
    }
    if (!wanted.common.json.empty()) {
        write_text(wanted.common.json, json_text(to_json(told, timed, seconds)));
    }
    return answer;
}

}  // namespace
}  // namespace lookback::apps::h5sort

int main(int argc, char** argv) {
    using namespace lookback::apps;
    return run_app(h5sort::description(), argc, argv, h5sort::run);
}
