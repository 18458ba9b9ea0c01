#include "harness.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>

namespace lookback::bench {
namespace {

using run = benchmark::BenchmarkReporter::Run;

// Takes what Google Benchmark reports of one round.
class collector final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context& context) override {
        context_ = std::make_unique<Context>(context);
        return true;
    }
    void ReportRuns(const std::vector<run>& runs) override {
        runs_.insert(runs_.end(), runs.begin(), runs.end());
    }
    run take() {
        if (runs_.empty()) throw std::logic_error("a contestant reported nothing");
        run last = std::move(runs_.back());
        runs_.clear();
        return last;
    }
    const Context& context() const { return *context_; }

private:
    std::unique_ptr<Context> context_;
    std::vector<run> runs_;
};

class json_report {
public:
    explicit json_report(const std::string& path) : file_(path) {
        if (!file_) throw std::runtime_error("cannot write " + path);
        reporter_.SetOutputStream(&file_);
        reporter_.SetErrorStream(&file_);
    }
    void add(const benchmark::BenchmarkReporter::Context& context, const std::vector<run>& runs) {
        if (!started_) started_ = reporter_.ReportContext(context);
        reporter_.ReportRuns(runs);
        file_.flush();
    }
    ~json_report() {
        if (started_) reporter_.Finalize();
    }

private:
    std::ofstream file_;
    benchmark::JSONReporter reporter_;
    bool started_ = false;
};

double median(std::vector<double> values) {
    const std::size_t half = values.size() / 2;
    std::sort(values.begin(), values.end());
    return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// One Google Benchmark run of one iteration, timed by the contestant itself.
void register_contestant(const std::string& name, const contestant& contestant, const job& job,
                         const settings& settings) {
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) {
            for (auto _ : state) {
                try {
                    state.SetIterationTime(contestant.round());
                } catch (const std::exception& failure) {
                    state.SkipWithError(failure.what());
                    return;
                }
            }
            state.counters["items"] = static_cast<double>(settings.items(job.items));
            state.counters["item_bytes"] = static_cast<double>(job.item_bytes);
            state.SetLabel(job.description);
        })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

class match {
public:
    match(const job& job, const settings& settings)
        : job_(job), settings_(settings), contestants_(job.prepare(settings)) {
        std::erase_if(contestants_, [&](const contestant& contestant) {
            if (contestant.absent.empty()) return false;
            std::printf("  %-14s SKIPPED: %s\n", contestant.name.c_str(),
                        contestant.absent.c_str());
            return true;
        });
        for (const contestant& one : contestants_) {
            register_contestant(name_of(one), one, job, settings);
        }
    }
    ~match() { benchmark::ClearRegisteredBenchmarks(); }

    bool play(collector& collector) {
        warm_up();
        for (int round = 0; round < settings_.rounds; ++round) {
            for (std::size_t turn = 0; turn < contestants_.size(); ++turn) {
                const std::size_t who =
                    (turn + static_cast<std::size_t>(round)) % contestants_.size();
                if (round < rounds_of(contestants_[who])) play_one(collector, who, round);
            }
        }
        return right_;
    }
    const std::vector<run>& runs() const { return runs_; }

    void print() const {
        const auto ours =
            std::find_if(contestants_.begin(), contestants_.end(),
                         [](const auto& one) { return one.name.starts_with("lookback"); });
        for (const contestant& one : contestants_) {
            const auto times = times_.find(one.name);
            if (times == times_.end()) continue;
            std::printf("  %-14s %10.2f ms  %2zu rounds", one.name.c_str(), median(times->second),
                        times->second.size());
            for (auto other = ours; other != contestants_.end(); ++other) {
                if (!other->name.starts_with("lookback") || one.name.starts_with("lookback") ||
                    !times_.contains(other->name)) {
                    continue;
                }
                std::printf("  %6.2f x %s", median(times->second) / median(times_.at(other->name)),
                            other->name.c_str());
            }
            std::printf("\n");
        }
        std::fflush(stdout);
    }

private:
    std::string name_of(const contestant& one) const { return job_.name + "/" + one.name; }
    int rounds_of(const contestant& one) const {
        return one.many_seconds ? std::min(settings_.slow_rounds, settings_.rounds)
                                : settings_.rounds;
    }

    void warm_up() {
        for (const contestant& one : contestants_) {
            if (one.many_seconds) continue;
            try {
                double spent = 0;
                do {
                    spent += one.round();
                } while (spent < settings_.warm_up_seconds);
            } catch (const std::exception&) {
                continue;  // the rounds that follow meet it again, and report it
            }
        }
    }

    void play_one(collector& collector, std::size_t who, int round) {
        const contestant& one = contestants_[who];
        std::string exactly_this = "^";
        exactly_this += name_of(one);
        exactly_this += "/iterations";
        benchmark::RunSpecifiedBenchmarks(&collector, exactly_this);
        run result = collector.take();
        result.run_name.iterations.clear();
        result.run_name.time_type.clear();
        result.repetitions = rounds_of(one);
        result.repetition_index = round;
        if (result.error_occurred) {
            right_ = false;
            std::printf("  %-14s %s\n", one.name.c_str(), result.error_message.c_str());
        } else {
            times_[one.name].push_back(result.GetAdjustedRealTime());
        }
        runs_.push_back(std::move(result));
    }

    const job& job_;
    const settings& settings_;
    std::vector<contestant> contestants_;
    std::map<std::string, std::vector<double>> times_;
    std::vector<run> runs_;
    bool right_ = true;
};

}  // namespace

bool run_jobs(const std::vector<job>& jobs, const settings& settings,
              const std::string& json_file) {
    bool right = true;
    collector collector;
    std::unique_ptr<json_report> report;
    if (!json_file.empty()) report = std::make_unique<json_report>(json_file);
    for (const job& job : jobs) {
        std::printf("%s: %s\n", job.name.c_str(), job.description.c_str());
        std::fflush(stdout);
        match match(job, settings);
        right = match.play(collector) && right;
        match.print();
        if (report) report->add(collector.context(), match.runs());
    }
    return right;
}

}  // namespace lookback::bench
