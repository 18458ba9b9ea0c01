// h5select: keeps the rows of a dataset or table that pass a condition, in order.
#include "common/app.hpp"
#include "common/cpu_context.hpp"
#include "common/input.hpp"
#include "common/session.hpp"
#include "h5select/job.hpp"

#include <fmt/format.h>

namespace lookback::apps::h5select {
namespace {

exit_code run(const command_line& line) {
    const request wanted = read_request(line);
    session session("h5select", wanted.common);
    const context context = open_cpu_context(wanted.common, "h5select selects");
    const plan planned = make_plan(wanted, context);
    if (wanted.common.dry_run) {
        write_text("-", plan_text(planned, wanted, context));
        return done;
    }
    require_memory(planned, wanted);
    session.describe({planned.input}, context);
    session.told.more["condition"] = condition_text(wanted);
    session.say(fmt::format("{} rows, {}; {} threads", planned.rows(), condition_text(wanted),
                            context.threads()));
    session.work([&] { run_select(planned, wanted, context, session); });
    // With --json - stdout is the report's.
    if (wanted.count && wanted.common.json != "-") {
        write_text("-", fmt::format("{}\n", session.told.rows_out));
    }
    session.finish();
    return done;
}

}  // namespace
}  // namespace lookback::apps::h5select

int main(int argc, char** argv) {
    using namespace lookback::apps;
    return run_app(h5select::description(), argc, argv, h5select::run);
}
