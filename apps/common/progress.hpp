// Apps: the progress bar: stage, share done, rate, time left, on stderr.
// Invariant: one line that is repainted and wiped at the end; nothing is painted where it is off.
#pragma once

#include "common/options.hpp"
#include "common/stages.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lookback::apps {

/// The line for this state of the stages, `elapsed` seconds into the run.
std::string progress_line(std::string_view app, const stages& watched, double elapsed);

class progress_bar {
public:
    /// Watches `watched` until destruction. automatic: on where stderr is a terminal.
    progress_bar(std::string_view app, const stages& watched, progress_mode mode);
    ~progress_bar();
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

private:
    void paint_until_stopped();

    std::string app_;
    const stages& watched_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread painter_;
};

}  // namespace lookback::apps
