// h5scan: running sums and their kin along the rows of datasets, whole or by segments.
#include "common/app.hpp"
#include "common/session.hpp"
#include "h5scan/job.hpp"

#include <fmt/format.h>

namespace lookback::apps::h5scan {
namespace {

exit_code run(const command_line& line) {
    const request wanted = read_request(line);
    session session("h5scan", wanted.common);
    const context work({.backend = wanted.common.backend, .threads = wanted.common.threads});
    const plan planned = make_plan(wanted, work);
    if (wanted.common.dry_run) {
        write_text("-", plan_text(planned, wanted));
        return done;
    }
    require_memory(planned, wanted);
    session.describe({planned.input}, work);
    session.told.output = address{wanted.output.target.file, planned.columns.front().path}.text();
    session.told.more["work"] = work_text(planned, wanted);
    session.say(fmt::format("{} rows, {}; {} threads", planned.rows(), work_text(planned, wanted),
                            work.threads()));
    session.work([&] { run_scan(planned, wanted, work, session); });
    session.finish();
    return done;
}

}  // namespace
}  // namespace lookback::apps::h5scan

int main(int argc, char** argv) {
    using namespace lookback::apps;
    return run_app(h5scan::description(), argc, argv, h5scan::run);
}
