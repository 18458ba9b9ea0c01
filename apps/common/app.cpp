#include "common/app.hpp"

#include "common/report.hpp"
#include "io/output.hpp"

#include <lookback/context.hpp>
#include <lookback/error.hpp>

#include <csignal>
#include <cstdio>
#include <new>

#include <fmt/format.h>
#include <sys/resource.h>

namespace lookback::apps {
namespace {

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void end_by_signal(int number) {
    io::discard_unfinished_output();
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void set_signals() {
    for (const int number : ending_signals) {
        struct sigaction action = {};
        sigaction(number, nullptr, &action);
        if (action.sa_handler == SIG_IGN) continue;  // nohup, or a shell's background job
        action.sa_handler = end_by_signal;
        sigemptyset(&action.sa_mask);
        action.sa_flags = 0;
        sigaction(number, &action, nullptr);
    }
    // A closed pipe or a file over the limit is an error of the write, with a message.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

// Every input of a merge stays open; the default of 1024 files is for programs that use select().
void allow_many_files() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int fail(const app_description& app, std::string_view message) {
    const std::string line = fmt::format("{}: error: {}\n", app.name, one_line(message));
    std::fwrite(line.data(), 1, line.size(), stderr);
    return failed;
}

}  // namespace

std::string one_line(std::string_view message) {
    std::string line(message);
    for (char& letter : line) {
        if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = ' ';
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

int run_app(const app_description& app, int argc, const char* const* argv, const app_body& body) {
    set_signals();
    allow_many_files();
    try {
        const command_line line = parse_command_line(app, argc, argv);
        if (line.flag("help")) {
            write_text("-", help_text(app));
            return done;
        }
        if (line.flag("version")) {
            write_text("-", fmt::format("{} {}\n", app.name, version()));
            return done;
        }
        return body(line);
    } catch (const std::bad_alloc&) {
        return fail(app, "out of memory; free some, or give less input");
    } catch (const std::exception& failure) {
        return fail(app, failure.what());
    }
}

}  // namespace lookback::apps
