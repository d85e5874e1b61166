// The training loop of a lesson: steps with their feeds, the loss of each, and time.
#pragma once

#include "runtime/session.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dfc::lesson {

/// What a training came to.
struct Trained {
  std::vector<float> losses; ///< of each step
  double secondsPerStep = 0; ///< without the first step; 0 for a single one

  /// The mean of the last `count`, which has less noise than one step's; of all where there are fewer.
  double lastLoss(size_t count) const;
};

/// Submits steps and reads each one's fetch "loss" when the next is on its way, so that the device never
/// waits for the host.
class TrainingLoop {
 public:
  /// What is counted for the speed: so many `unit` ("tokens") a step. Reports every `reportEvery`-th step; 0:
  /// none.
  struct Counted {
    std::string unit;
    int64_t perStep = 1, reportEvery = 0;
  };
  TrainingLoop(Session& session, Counted counted) : session_(session), counted_(std::move(counted)) {}

  void step(const NamedLiterals& feeds);
  /// Waits for the last step.
  Trained end();

 private:
  void readLoss();
  void report(int64_t done) const;

  Session& session_;
  Counted counted_;
  std::optional<Session::Pending> underWay_;
  std::chrono::steady_clock::time_point begin_; // the end of the first step
  Trained trained_;
};

/// A line: the time of a step, beside the plan's prediction, and `unit` a second.
void printSpeed(const Trained& trained, const Executable& plan, int64_t perStep, const std::string& unit);

} // namespace dfc::lesson
