// lookback-bench: a Python process that sorts with numpy on request, in turn with the C++ rounds.
// Invariant: it times numpy's call alone; copies in and out of the shared memory are not timed, and
// it sleeps on its pipe while others run.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <sys/types.h>

namespace lookback::bench {

class python_peer {
public:
    /// Starts `python script worker` over `bytes` of shared memory. Where the interpreter or numpy
    /// >= 2 is absent, absent() says so and nothing else may be called.
    python_peer(const std::string& python, const std::string& script, std::size_t bytes);
    python_peer(const python_peer&) = delete;
    python_peer& operator=(const python_peer&) = delete;
    ~python_peer();

    const std::string& absent() const { return absent_; }
    void* memory() const { return memory_; }
    /// Sends a request such as "sort uint32 1024" over memory(); returns the seconds it took there.
    double request(const std::string& line);

private:
    std::string read_line();

    std::string absent_;
    std::size_t bytes_ = 0;
    void* memory_ = nullptr;
    pid_t process_ = -1;
    std::FILE* to_ = nullptr;
    std::FILE* from_ = nullptr;
};

/// The script's answer to a command, of one line; empty where the interpreter cannot say.
std::string ask_python(const std::string& python, const std::string& script,
                       const std::string& command);

/// Runs a program to its end with its output going to ours; throws unless it exits with 0.
void run_program(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace lookback::bench
