// h5select: keeps the rows of a dataset or table that pass a condition, in order.
#include "common/app.hpp"
#include "common/input.hpp"
#include "common/session.hpp"
#include "h5select/device.hpp"
#include "h5select/job.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>

namespace lookback::apps::h5select {
namespace {

exit_code run(const command_line& line) {
    const request wanted = read_request(line);
    session session("h5select", wanted.common);
    const context host({.backend = backend::cpu, .threads = wanted.common.threads});
    plan planned = make_plan(wanted, host);
    std::string why;
    const std::optional<context> device = open_device(planned, wanted, why);
    if (wanted.common.dry_run) {
        write_text("-", plan_text(planned, wanted, host));
        return done;
    }
    require_memory(planned, wanted);
    session.describe({planned.input}, device ? *device : host, why);
    session.told.more["condition"] = condition_text(wanted);
    session.say(fmt::format("{} rows, {}; {} threads; {}: {}", planned.rows(),
                            condition_text(wanted), host.threads(), session.told.backend,
                            session.told.backend_reason));
    session.work([&] { run_select(planned, wanted, host, device ? &*device : nullptr, session); });
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
