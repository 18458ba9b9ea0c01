// h5sort: sorts the values of a dataset, or the rows of a table, stably.
#include "common/app.hpp"
#include "common/input.hpp"
#include "common/session.hpp"
#include "h5sort/check.hpp"
#include "h5sort/job.hpp"
#include "h5sort/plan.hpp"

#include <lookback/error.hpp>

#include <optional>
#include <string>

#include <fmt/format.h>

namespace lookback::apps::h5sort {
namespace {

exit_code run_check(const plan& planned, const request& wanted, const context& context,
                    session& session) {
    stage& checked = session.timed.add("check", planned.key_bytes(), &session.counters.bytes_in);
    std::optional<disorder> found;
    session.work([&] {
        const stage_scope scope(checked);
        found = find_disorder(planned, context, wanted.unique,
                              {context.threads(), &session.counters, {}});
    });
    session.told.strategy = "check";
    session.told.bytes_in = session.counters.bytes_in;
    session.told.more["sorted"] = !found.has_value();
    if (!found) return done;
    session.told.more["first_disorder_row"] = found->row;
    // With --json - stdout is the report's.
    if (wanted.check == check_mode::tell && wanted.common.json != "-") {
        write_text("-", found->text + "\n");
    }
    return no;
}

exit_code run(const command_line& line) {
    const request wanted = read_request(line);
    session session("h5sort", wanted.common);
    const context chosen({.backend = wanted.common.backend, .threads = wanted.common.threads});
    std::optional<context> beside;  // a GPU needs a host for reading, checking and writing
    if (chosen.active_backend() != backend::cpu) {
        beside.emplace(context_options{.backend = backend::cpu, .threads = wanted.common.threads});
    }
    const context& host = beside ? *beside : chosen;
    plan planned = make_plan(wanted, host, chosen);
    std::string obstacle;
    if (beside && wanted.check == check_mode::off) obstacle = device_obstacle(planned, chosen);
    if (!obstacle.empty()) {
        if (wanted.common.backend != backend::automatic) {
            throw error(error_kind::out_of_memory, obstacle + "; give --backend cpu");
        }
        planned = make_plan(wanted, host, host);
    }
    const context& work = obstacle.empty() ? chosen : host;
    if (wanted.common.dry_run) {
        write_text("-", plan_text(planned, wanted, work));
        return done;
    }
    session.describe(planned.inputs, work, obstacle);
    session.told.more["order"] = order_text(planned);
    session.say(fmt::format("{} rows by {}; {} threads", planned.rows, order_text(planned),
                            work.threads()));
    exit_code answer = done;
    if (wanted.check != check_mode::off) {
        answer = run_check(planned, wanted, host, session);
    } else {
        require_memory(planned, wanted);
        session.work([&] { run_sort(planned, wanted, work, host, session); });
    }
    session.finish();
    return answer;
}

}  // namespace
}  // namespace lookback::apps::h5sort

int main(int argc, char** argv) {
    using namespace lookback::apps;
    return run_app(h5sort::description(), argc, argv, h5sort::run);
}
