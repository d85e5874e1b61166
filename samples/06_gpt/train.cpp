// See train.h.
#include "samples/06_gpt/train.h"

#include "samples/data/lesson.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <optional>

namespace dfc::gpt {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Submits steps and reads each one's loss when the next is on its way, so that the device never waits for
/// the host.
class Loop {
 public:
  Loop(Session& session, int64_t tokensPerStep, int64_t reportEvery)
      : session_(session), tokensPerStep_(tokensPerStep), reportEvery_(reportEvery) {}

  void step(const Literal& windows) {
    auto next = lesson::orGiveUp(session_.submit({{"tokens", windows}}));
    readLoss();
    underWay_ = std::move(next);
  }

  Trained end() {
    readLoss();
    return std::move(trained_);
  }

 private:
  void readLoss() {
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
    if (reportEvery_ > 0 && (done == 1 || done % reportEvery_ == 0)) {
      report(done);
    }
  }

  void report(int64_t done) const {
    std::printf("step %5ld: loss %.4f", done, static_cast<double>(trained_.losses.back()));
    if (done > 2) { // one step is too short to time
      std::printf(", %.0f tokens/s", static_cast<double>(tokensPerStep_) / trained_.secondsPerStep);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  Session& session_;
  int64_t tokensPerStep_, reportEvery_;
  std::optional<Session::Pending> underWay_;
  Clock::time_point begin_;
  Trained trained_;
};

} // namespace

double Trained::lastLoss(size_t count) const {
  const auto last = static_cast<std::ptrdiff_t>(std::min(count, losses.size()));
  return std::accumulate(losses.end() - last, losses.end(), 0.0) / static_cast<double>(last);
}

Trained train(Session& session, const Text& text, const Sizes& sizes, const Training& training, int64_t steps,
              bool report) {
  Loop loop(session, training.batch * sizes.context, report ? std::max<int64_t>(1, steps / 10) : 0);
  std::mt19937 random(static_cast<uint32_t>(training.seed));
  for (int64_t step = 0; step < steps; ++step) {
    loop.step(text.windows(training.batch, sizes.context + 1, random));
  }
  return loop.end();
}

} // namespace dfc::gpt
