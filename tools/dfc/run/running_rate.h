// RunningRate: how many units of work end per second at present, by the last seconds and at most the last
// half of the time: the first units, with buffers and files that are touched for the first time, take longer
// than the others, or, while steps are submitted ahead, seem to take less.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

namespace dfc::tool {

class RunningRate {
 public:
  /// `done` units have ended by the time `seconds`, both at least those of the call before.
  void add(double seconds, int64_t done) {
    if (samples_.empty() || seconds - samples_.back().seconds >= window / mostSamples) {
      samples_.push_back({seconds, done});
    }
    last_ = {seconds, done};
    begin_ = begin_ ? begin_ : seconds;
    const double wanted = std::min(window, (seconds - *begin_) / 2);
    while (samples_.size() > 2 && seconds - samples_[1].seconds >= wanted &&
           done - samples_[1].done >= leastUnits) {
      samples_.pop_front();
    }
  }

  /// Units per second. None while fewer than `leastUnits` units have ended behind the first call, or these
  /// took less than `leastSeconds`.
  std::optional<double> perSecond() const {
    const int64_t units = samples_.empty() ? 0 : last_.done - samples_.front().done;
    const double seconds = units == 0 ? 0 : last_.seconds - samples_.front().seconds;
    return units >= leastUnits && seconds >= leastSeconds
               ? std::optional(static_cast<double>(units) / seconds)
               : std::nullopt;
  }

 private:
  static constexpr double window = 8, leastSeconds = 1, mostSamples = 64;
  static constexpr int64_t leastUnits = 4;
  struct Sample {
    double seconds = 0;
    int64_t done = 0;
  };
  std::deque<Sample> samples_; // the first: where the window begins
  Sample last_;
  std::optional<double> begin_;
};

} // namespace dfc::tool
