// See training_loop.h.
#include "samples/data/training_loop.h"

#include "ir/author/text/units.h"
#include "samples/data/lesson.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace dfc::lesson {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

} // namespace

double Trained::lastLoss(size_t count) const {
  const auto last = static_cast<std::ptrdiff_t>(std::min(count, losses.size()));
  return std::accumulate(losses.end() - last, losses.end(), 0.0) / static_cast<double>(last);
}

void TrainingLoop::step(const NamedLiterals& feeds) {
  auto next = orGiveUp(session_.submit(feeds));
  readLoss();
  underWay_ = std::move(next);
}

Trained TrainingLoop::end() {
  readLoss();
  return std::move(trained_);
}

void TrainingLoop::readLoss() {
  if (!underWay_) {
    return;
  }
  trained_.losses.push_back(underWay_->wait().at("loss").data<float>()[0]);
  underWay_.reset();
  const auto done = static_cast<int64_t>(trained_.losses.size());
  if (done == 1) {
    begin_ = Clock::now(); // the first step may compile kernels and touches all memory for the first time
  } else {
    trained_.secondsPerStep = since(begin_) / static_cast<double>(done - 1);
  }
  if (counted_.reportEvery > 0 && (done == 1 || done % counted_.reportEvery == 0)) {
    report(done);
  }
}

void TrainingLoop::report(int64_t done) const {
  std::printf("step %5ld: loss %.4f", done, static_cast<double>(trained_.losses.back()));
  if (done > 2) { // one step is too short to time
    std::printf(", %.0f %s/s", static_cast<double>(counted_.perStep) / trained_.secondsPerStep,
                counted_.unit.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void printSpeed(const Trained& trained, const Executable& plan, int64_t perStep, const std::string& unit) {
  if (trained.secondsPerStep > 0) {
    std::printf("%s, %s each but the first (predicted %s on '%s'), %.0f %s/s\n",
                counted(trained.losses.size(), "step").c_str(), humanSeconds(trained.secondsPerStep).c_str(),
                humanSeconds(plan.predictedSeconds()).c_str(), plan.machine().name.c_str(),
                static_cast<double>(perStep) / trained.secondsPerStep, unit.c_str());
  }
}

} // namespace dfc::lesson
