#include "python_peer.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lookback::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::vector<char*> argument_list(std::vector<std::string>& words) {
    std::vector<char*> list;
    list.reserve(words.size() + 1);
    for (auto& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    return list;
}

}  // namespace

python_peer::python_peer(const std::string& python, const std::string& script, std::size_t bytes)
    : bytes_(bytes) {
    if (access(python.c_str(), X_OK) != 0) {
        absent_ = "no " + python + "; run apps/bench/peers.sh, or give --python";
        return;
    }
    const int memory = memfd_create("lookback-bench", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, static_cast<off_t>(bytes)) != 0) fail("shared memory");
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (memory_ == MAP_FAILED) fail("shared memory");
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) fail("pipe");

    // 3 is the shared memory there; dup2 to itself would keep close-on-exec, so it must not be 3
    // here.
    const int elsewhere = fcntl(memory, F_DUPFD_CLOEXEC, 10);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    posix_spawn_file_actions_adddup2(&actions, elsewhere, 3);
    std::vector<std::string> words{python, script, "worker", "3", std::to_string(bytes)};
    const int failed = posix_spawn(&process_, python.c_str(), &actions, nullptr,
                                   argument_list(words).data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    for (const int end : {memory, elsewhere, to[0], from[1]}) close(end);
    to_ = fdopen(to[1], "w");
    from_ = fdopen(from[0], "r");
    if (failed != 0 || to_ == nullptr || from_ == nullptr) fail("cannot start " + python);
    const std::string hello = read_line();
    if (hello.empty()) absent_ = python + " ended at once; see its message above";
    if (!hello.starts_with("numpy ")) absent_ = hello;
}

python_peer::~python_peer() {
    if (to_ != nullptr) std::fclose(to_);  // the end of its input ends the worker
    if (from_ != nullptr) std::fclose(from_);
    if (process_ > 0) waitpid(process_, nullptr, 0);
    if (memory_ != nullptr) munmap(memory_, bytes_);
}

std::string python_peer::read_line() {
    std::string line;
    for (int c = std::fgetc(from_); c != EOF && c != '\n'; c = std::fgetc(from_)) {
        line.push_back(static_cast<char>(c));
    }
    return line;
}

double python_peer::request(const std::string& line) {
    std::fputs((line + "\n").c_str(), to_);
    std::fflush(to_);
    const std::string answer = read_line();
    char* end = nullptr;
    const double seconds = std::strtod(answer.c_str(), &end);
    if (answer.empty() || *end != '\0') throw std::runtime_error("numpy peer: " + answer);
    return seconds;
}

std::string ask_python(const std::string& python, const std::string& script,
                       const std::string& command) {
    if (access(python.c_str(), X_OK) != 0) return {};
    std::FILE* answer = popen(("'" + python + "' '" + script + "' " + command).c_str(), "r");
    if (answer == nullptr) return {};
    char line[256] = "";
    const bool said = std::fgets(line, sizeof(line), answer) != nullptr;
    pclose(answer);
    return said ? std::string(line, std::strcspn(line, "\n")) : std::string();
}

void run_program(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    pid_t process = -1;
    if (posix_spawn(&process, program.c_str(), nullptr, nullptr, argument_list(words).data(),
                    environ) != 0) {
        throw std::runtime_error("cannot start " + program);
    }
    int status = 0;
    if (waitpid(process, &status, 0) != process || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw std::runtime_error(program + " failed");
    }
}

}  // namespace lookback::bench
