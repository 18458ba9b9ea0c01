#include "common/progress.hpp"

#include "common/size.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace lookback::apps {
namespace {

using clock = std::chrono::steady_clock;
// Four repaints a second are smooth to the eye and cost nothing.
constexpr std::chrono::milliseconds repaint_period{250};
constexpr int bar_width = 24;

std::string time_text(double seconds) {
    const auto whole = static_cast<long long>(std::ceil(seconds));
    if (whole >= 3600) {
        return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    }
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(std::string_view app, const stages& watched, double elapsed) {
    double total = 0;
    double done = 0;
    std::string name;
    double rate = 0;
    watched.for_each([&](const stage& each) {
        const auto all = static_cast<double>(each.total());
        total += all;
        done += std::min(all, static_cast<double>(each.bytes()));
        if (!each.running()) return;
        name += (name.empty() ? "" : "+") + each.name();
        const double seconds = each.seconds();
        if (seconds > 0) rate = std::max(rate, static_cast<double>(each.bytes()) / seconds);
    });
    const double share = total > 0 ? done / total : 0;
    const int filled = static_cast<int>(share * bar_width);
    std::string line =
        fmt::format("{}: {:<10} [{}{}] {:3.0f}%", app, name, std::string(filled, '#'),
                    std::string(bar_width - filled, '-'), std::floor(share * 100));
    if (rate >= 1) line += fmt::format("  {}/s", size_text(static_cast<std::uint64_t>(rate)));
    if (share > 0) line += fmt::format("  {} left", time_text(elapsed * (1 - share) / share));
    return line;
}

progress_bar::progress_bar(std::string_view app, const stages& watched, progress_mode mode)
    : app_(app), watched_(watched) {
    const bool wanted = mode == progress_mode::on ||
                        (mode == progress_mode::automatic && isatty(STDERR_FILENO) != 0);
    if (wanted) painter_ = std::thread([this] { paint_until_stopped(); });
}

progress_bar::~progress_bar() {
    if (!painter_.joinable()) return;
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    painter_.join();
}

void progress_bar::paint_until_stopped() {
    const auto begin = clock::now();
    const bool terminal = isatty(STDERR_FILENO) != 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        const bool last = wake_.wait_for(lock, repaint_period, [this] { return stopping_; });
        const double elapsed = std::chrono::duration<double>(clock::now() - begin).count();
        const std::string line = progress_line(app_, watched_, elapsed);
        if (terminal) {
            std::fprintf(stderr, "\r%s\033[K%s", last ? "" : line.c_str(), last ? "\r" : "");
        } else {
            std::fprintf(stderr, "%s\n", line.c_str());
        }
        std::fflush(stderr);
        if (last) return;
    }
}

}  // namespace lookback::apps
