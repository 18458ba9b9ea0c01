#include "common/session.hpp"

#include "common/input.hpp"
#include "common/progress.hpp"
#include "common/size.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace lookback::apps {
namespace {

void print_line(const std::string& app, const std::string& line) {
    std::fprintf(stderr, "%s: %s\n", app.c_str(), line.c_str());
}

}  // namespace

session::session(std::string_view app, const common_options& common)
    : common_(common), begin_(std::chrono::steady_clock::now()) {
    told.app = app;
}

void session::describe(const std::vector<io::table>& inputs, const context& context,
                       std::string_view why) {
    told.inputs.clear();
    told.rows_in = 0;
    for (const io::table& table : inputs) {
        told.inputs.push_back(address_of(table));
        told.rows_in += table.rows();
    }
    told.backend = context.active_backend() == backend::cuda ? "cuda" : "cpu";
    if (why.empty()) why = context.reason();
    told.backend_reason = common_.backend != backend::automatic ? "asked for by name" : why;
    told.threads = context.threads();
}

void session::work(const std::function<void()>& body) const {
    const progress_bar bar(told.app, timed, common_.quiet ? progress_mode::off : common_.progress);
    body();
}

void session::say(const std::string& line) const {
    if (common_.verbose) print_line(told.app, line);
}

void session::note(const std::string& line) const {
    if (!common_.quiet) print_line(told.app, "note: " + line);
}

void session::finish() const {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    say(fmt::format("{} rows in, {} rows out{}, {:.3f} s, at most {} of memory, {}, strategy {}",
                    told.rows_in, told.rows_out, told.output.empty() ? "" : " to " + told.output,
                    seconds, size_text(peak_memory()), told.backend, told.strategy));
    if (!common_.json.empty()) write_text(common_.json, json_text(to_json(told, timed, seconds)));
}

}  // namespace lookback::apps
