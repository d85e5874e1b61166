// Progress of long work on stderr: a bar that redraws itself on a terminal, plain lines elsewhere, nothing
// for work that ends soon and nothing with --json.
#pragma once

#include "tools/dfc/console.h"
#include "tools/dfc/run/running_rate.h"

#include <chrono>
#include <cstdint>

namespace dfc::tool {

class Progress {
 public:
  /// `total` units of work called `unit` ("steps"), of which `begun` were done before.
  Progress(const Console& console, const std::string& title, int64_t total, std::string unit,
           int64_t begun = 0);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }
  /// `done` units have ended; `remark` is shown beside them.
  void update(int64_t done, const std::string& remark = {});
  /// Takes the bar off the terminal, before other text is written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string barText(int64_t done, const std::string& remark) const;
  /// "120 steps/s, 2.50 s left"; empty until the rate is known
  std::string speedText(int64_t done) const;
  std::FILE* stream_; ///< null where nothing is shown
  bool terminal_;
  bool shown_ = false;
  std::string title_, unit_;
  int64_t total_;
  int64_t tenth_ = 0; ///< tenths of the work that a plain line was written for
  RunningRate rate_;
  Clock::time_point begin_, next_;
};

} // namespace dfc::tool
