// The exit codes that every app shares.
#pragma once

namespace lookback::apps {

enum exit_code : int {
    done = 0,    ///< the work is done, or the answer is yes
    no = 1,      ///< the answer is no: --check found disorder, an invalid CSR
    failed = 2,  ///< anything else
};

}  // namespace lookback::apps
