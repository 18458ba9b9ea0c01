// lookback-bench: jobs, their contestants, and the rounds in which they take turns.
// Invariant: every contestant of a job runs once a round, in an order that rotates, so that drift
// of the machine falls on all alike; what prepares and what verifies stays outside the timed
// region.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lookback::bench {

struct settings {
    bool quick = false;  ///< small sizes and few rounds: does everything run and verify?
    int rounds = 11;     ///< of a contestant; those that take many seconds: slow_rounds
    int slow_rounds = 5;
    double warm_up_seconds = 0.3;
    std::string python;        ///< interpreter that has numpy >= 2 and h5py
    std::string peers_script;  ///< peers.py
    std::string h5sort;        ///< the program to measure
    std::string folder;        ///< where files are written

    /// `full` items, or a 2^-10 of them in a quick run.
    std::size_t items(std::size_t full) const { return quick ? full >> 10 : full; }
};

/// One way to do a job: ours with some number of threads, a peer, or the copy that bounds both.
struct contestant {
    std::string name;
    /// Prepares, runs, verifies; returns the seconds of the run alone. Throws where the output is
    /// wrong.
    std::function<double()> round;
    bool many_seconds = false;  ///< so slow that slow_rounds must do, without a warm-up of its own
    std::string absent = {};    ///< not empty: why it cannot take part here
};

struct job {
    std::string name;         ///< "sort/u32"
    std::string description;  ///< for people: items, type, distribution
    std::size_t items = 0;    ///< of a full run
    std::size_t item_bytes = 0;
    /// Makes the input and the contestants, which own it together.
    std::function<std::vector<contestant>(const settings&)> prepare;
};

/// Seconds that `work` takes.
template <class Work>
double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Runs the jobs one after the other; prints medians to stdout as they come. With a `json_file`
/// every round is written to it in Google Benchmark's format. Returns whether all outputs were
/// right.
bool run_jobs(const std::vector<job>& jobs, const settings& settings, const std::string& json_file);

std::vector<job> key_jobs();
std::vector<job> pair_jobs();
std::vector<job> scan_jobs();
std::vector<job> compact_jobs();
std::vector<job> file_jobs();

}  // namespace lookback::bench
