#include "common/app.hpp"

#include "common/report.hpp"
#include "io/output.hpp"

#include <lookback/context.hpp>
#include <lookback/error.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <new>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace lookback::apps {
namespace {

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void end_by_signal(int number) {
    io::discard_unfinished_output();
    std::signal(number, SIG_DFL);
    std::raise(number);
}

// HDF5 1.10 follows some damaged files out of its memory. What it takes with it is this process,
// but neither the previous output nor the promise of one line and status 2. Sanitizers and the
// core files of debug builds tell more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr bool tells_crashes = false;
#else
constexpr bool tells_crashes = true;
#endif
constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<char, 256> crash_line;
// The handler's, in the main thread, which opens and describes files: where types or groups are
// nested too deep, nothing is left of its own.
std::array<char, std::size_t{64} << 10> crash_stack;
std::size_t crash_line_bytes = 0;

void end_by_crash(int) {
    io::discard_unfinished_output();
    [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, crash_line.data(), crash_line_bytes);
    _exit(failed);
}

void tell_crashes(std::string_view app) {
    const auto line = fmt::format_to_n(
        crash_line.begin(), crash_line.size(),
        "{}: error: it crashed, most likely in HDF5 on a damaged file; the output is as it was, or "
        "complete; check the input with h5dump, or copy it again\n",
        app);
    crash_line_bytes = std::min(line.size, crash_line.size());
    stack_t stack = {};
    stack.ss_sp = crash_stack.data();
    stack.ss_size = crash_stack.size();
    sigaltstack(&stack, nullptr);
    for (const int number : crash_signals) {
        struct sigaction action = {};
        action.sa_handler = end_by_crash;
        action.sa_flags = SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(number, &action, nullptr);
    }
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
    if (tells_crashes) tell_crashes(app.name);
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
