// Apps: what stands around the work of every app: progress bar, -v, the report of --json.
#pragma once

#include "common/options.hpp"
#include "common/report.hpp"
#include "common/stages.hpp"
#include "io/table.hpp"
#include "io/transfer.hpp"

#include <lookback/context.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lookback::apps {

class session {
public:
    /// The clock of the report starts here.
    session(std::string_view app, const common_options& common);

    stages timed;
    /// Of all transfers of the run; stages may count by them.
    io::transfer_counters counters;
    report told;

    /// Fills in inputs, rows in, backend and threads of the report.
    void describe(const std::vector<io::table>& inputs, const context& context,
                  std::string_view why = {});
    /// Runs `body` under the progress bar.
    void work(const std::function<void()>& body) const;
    /// A line on stderr, with --verbose.
    void say(const std::string& line) const;
    /// A line on stderr, unless --quiet.
    void note(const std::string& line) const;
    /// The closing line of --verbose and the report of --json. The work is done when it is called.
    void finish() const;

private:
    common_options common_;
    std::chrono::steady_clock::time_point begin_;
};

}  // namespace lookback::apps
