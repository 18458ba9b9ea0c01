// lookback-bench: measures the project against its peers, in turn, in one run.
#include "bench_commit.hpp"
#include "harness.hpp"
#include "python_peer.hpp"
#include "vqsort_peer.hpp"

#include <lookback/context.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <string>

#include <benchmark/benchmark.h>
#include <boost/program_options.hpp>
#include <oneapi/tbb/version.h>
#include <unistd.h>

namespace lookback::bench {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

// Every contestant, also the scratch that a peer takes from malloc, gets huge pages: glibc reads
// this once, at the start of the process.
void restart_with_huge_pages(char** arguments) {
    constexpr const char* name = "GLIBC_TUNABLES";
    if (std::getenv(name) != nullptr) return;
    setenv(name, "glibc.malloc.hugetlb=1", 0);
    execv("/proc/self/exe", arguments);
}

// Python peers inherit the environment in which numpy is fastest on this processor.
void prepare_python(const settings& settings) {
    const std::string answer = ask_python(settings.python, settings.peers_script, "settings");
    const std::size_t equals = answer.find('=');
    if (equals == std::string::npos) return;
    setenv(answer.substr(0, equals).c_str(), answer.substr(equals + 1).c_str(), 0);
}

std::string first_line_with(const char* file, const std::string& key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(key)) return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

void describe_run(const settings& settings) {
    const context all_cores({.backend = backend::cpu});
    benchmark::AddCustomContext("lookback", std::string(version()));
    benchmark::AddCustomContext("commit", LOOKBACK_BENCH_COMMIT);
    benchmark::AddCustomContext("compiler", LOOKBACK_BENCH_COMPILER);
    benchmark::AddCustomContext("cpu", first_line_with("/proc/cpuinfo", "model name"));
    benchmark::AddCustomContext("cores", std::to_string(all_cores.threads()));
    benchmark::AddCustomContext("memory", first_line_with("/proc/meminfo", "MemTotal"));
    benchmark::AddCustomContext("highway", LOOKBACK_BENCH_HIGHWAY);
    benchmark::AddCustomContext("oneTBB", TBB_runtime_version());
    benchmark::AddCustomContext("vqsort", vqsort_target());
    const std::string python = ask_python(settings.python, settings.peers_script, "versions");
    benchmark::AddCustomContext("python", python.empty() ? "none" : python);
    benchmark::AddCustomContext("folder", settings.folder);
    benchmark::AddCustomContext("quick", settings.quick ? "yes" : "no");
}

// In memory where there is room, so that a disk's speed decides nothing.
fs::path default_folder() {
    std::error_code failed;
    const fs::space_info memory = fs::space("/dev/shm", failed);
    const bool roomy = !failed && memory.available >= (std::uintmax_t{8} << 30);
    return roomy ? "/dev/shm" : fs::temp_directory_path();
}

std::vector<job> all_jobs() {
    std::vector<job> jobs;
    for (auto make : {key_jobs, pair_jobs, scan_jobs, compact_jobs, file_jobs}) {
        for (job& one : make()) jobs.push_back(std::move(one));
    }
    return jobs;
}

int run(int count, char** arguments) {
    const fs::path self = fs::read_symlink("/proc/self/exe");
    const fs::path build = self.parent_path().parent_path();  // .../apps
    settings settings;
    std::string pattern;
    std::string json;
    po::options_description options("lookback-bench [options]");
    const auto text = [](std::string& target, const std::string& initial) {
        return po::value(&target)->default_value(initial);
    };
    options.add_options()("help", "this text")("list", "names the jobs")(
        "jobs", text(pattern, ""), "run the jobs whose name this expression finds; all by default")(
        "quick", po::bool_switch(&settings.quick), "small sizes, 2 rounds: a smoke test")(
        "rounds", po::value(&settings.rounds)->default_value(settings.rounds),
        "rounds of each contestant")(
        "slow-rounds", po::value(&settings.slow_rounds)->default_value(settings.slow_rounds),
        "rounds of contestants that take many seconds")("json", text(json, ""),
                                                        "write every round to this file")(
        "python", text(settings.python, build.parent_path() / "peers/bin/python"),
        "interpreter with numpy >= 2 and h5py, made by apps/bench/peers.sh")(
        "h5sort", text(settings.h5sort, build / "h5sort"), "program to measure")(
        "folder", text(settings.folder, default_folder()), "where files are written");
    po::variables_map given;
    po::store(po::parse_command_line(count, arguments, options), given);
    po::notify(given);
    if (given.contains("help")) return std::cout << options << "\n", 0;
    settings.peers_script = LOOKBACK_BENCH_FOLDER "/peers.py";
    if (settings.quick) {
        settings.rounds = settings.slow_rounds = 2;
        settings.warm_up_seconds = 0;
    }

    std::vector<job> jobs = all_jobs();
    const std::regex wanted(pattern);
    std::erase_if(jobs, [&](const job& job) { return !std::regex_search(job.name, wanted); });
    if (given.contains("list")) {
        for (const job& job : jobs) std::cout << job.name << ": " << job.description << "\n";
        return 0;
    }
    if (jobs.empty()) throw std::runtime_error("no job is called " + pattern + "; see --list");
    int one = 1;
    benchmark::Initialize(&one, arguments);
    prepare_python(settings);
    describe_run(settings);
    return run_jobs(jobs, settings, json) ? 0 : 2;
}

}  // namespace
}  // namespace lookback::bench

int main(int count, char** arguments) {
    lookback::bench::restart_with_huge_pages(arguments);
    try {
        return lookback::bench::run(count, arguments);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "lookback-bench: error: %s\n", failure.what());
        return 2;
    }
}
