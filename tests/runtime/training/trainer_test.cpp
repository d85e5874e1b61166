// Trainings in C++: stopped and resumed, evaluated, logged.
#include "runtime/training/trainer.h"

#include "ir/base/atomic_file.h"
#include "tests/runtime/session_support.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include <cmath>
#include <limits>

using namespace dfc;
using namespace dfc::test;

namespace {

/// w <- w + x each step; fetches the sum of the new w.
std::unique_ptr<Session> counter() {
  Builder g("counter");
  const Tensor x = g.input("x", f32({2})), w = g.parameter("w", f32({2}));
  g.fetch("total", reduceSum(g.assign(w, w + x)));
  return opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
}

/// Fetches the sum of w times y.
std::unique_ptr<Session> judge() {
  Builder g("judge");
  const Tensor y = g.input("y", f32({})), w = g.parameter("w", f32({2}));
  g.fetch("score", reduceSum(w) * y);
  return opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
}

TrainingOptions optionsOf(int64_t steps) {
  TrainingOptions options;
  options.steps = steps;
  options.stepsPerEpoch = 4;
  options.feeds = [](int64_t step) { // 1 and the step's number
    return NamedLiterals{{"x", floats({2}, {1, static_cast<float>(step)})}};
  };
  return options;
}

void finish(Trainer& trainer) {
  while (!trainer.done()) {
    REQUIRE(trainer.advance().ok());
  }
  REQUIRE(trainer.finish().ok());
}

std::string text(const std::string& path) { return *readTextFile(path, 1 << 20); }

} // namespace

TEST_CASE("trainer: 3 + 4 steps are 7, on disk too") {
  const TemporaryFolder folder;
  TrainingOptions options = optionsOf(3);
  options.checkpoint = options.resume = (folder.path() / "c.safetensors").string();
  options.log = (folder.path() / "log.csv").string();
  const auto first = counter();
  Trainer begun = Trainer::start(*first, options).orThrow();
  finish(begun);
  CHECK(begun.begun() == 0);
  options.steps = 7;
  const auto second = counter();
  Trainer resumed = Trainer::start(*second, options).orThrow();
  CHECK(resumed.begun() == 3);
  finish(resumed);
  CHECK(resumed.state().step == 7);
  CHECK(valuesOf(second->state().at("w")) == Floats{7, 21}); // 0 + 1 + … + 6
  // Sums of w after step s: s + s (s - 1) / 2; four steps an epoch.
  CHECK(text(options.log) == "step,epoch,total\n1,1,1\n2,1,3\n3,1,6\n4,1,10\n5,2,15\n6,2,21\n7,2,28\n");
}

TEST_CASE("trainer: parameters that became NaN are not written over a checkpoint") {
  const TemporaryFolder folder;
  TrainingOptions options = optionsOf(8);
  options.checkpoint = (folder.path() / "c.safetensors").string();
  options.checkpointEvery = 2;
  options.feeds = [](int64_t step) {
    return NamedLiterals{{"x", floats({2}, {1, step < 5 ? 1.0F : std::nanf("")})}};
  };
  const auto session = counter();
  Trainer trainer = Trainer::start(*session, options).orThrow();
  Status status = success();
  while (status && !trainer.done()) {
    status = trainer.advance();
  }
  REQUIRE(!status.ok());
  CHECK_THAT(render(status.errors()),
             startingWith(options.checkpoint + ": error: is left as it was: 1 of 1 parameters hold NaN "
                                               "behind step 6: 'w'\n  hint: "));
  const auto fresh = counter();
  REQUIRE(loadTraining(*fresh, options.checkpoint).ok());
  CHECK(valuesOf(fresh->state().at("w")) == Floats{4, 4});
}

TEST_CASE("trainer: infinite parameters are saved: masks hold them") {
  const TemporaryFolder folder;
  TrainingOptions options = optionsOf(1);
  options.checkpoint = (folder.path() / "c.safetensors").string();
  options.feeds = [](int64_t) {
    return NamedLiterals{{"x", floats({2}, {1, -std::numeric_limits<float>::infinity()})}};
  };
  const auto session = counter();
  Trainer trainer = Trainer::start(*session, options).orThrow();
  finish(trainer);
  CHECK(loadTraining(*session, options.checkpoint).ok());
}

TEST_CASE("trainer: rows of a log behind the checkpoint are taken away, and a torn one") {
  const TemporaryFolder folder;
  TrainingOptions options = optionsOf(2);
  options.checkpoint = options.resume = (folder.path() / "c.safetensors").string();
  options.log = (folder.path() / "log.csv").string();
  const auto session = counter();
  Trainer begun = Trainer::start(*session, options).orThrow();
  finish(begun);
  REQUIRE(writeFileAtomically(options.log, "step,epoch,total\n1,1,1\n2,1,3\n3,1,9\n4,1,1").ok());
  options.steps = 3;
  Trainer resumed = Trainer::start(*session, options).orThrow();
  finish(resumed);
  CHECK(text(options.log) == "step,epoch,total\n1,1,1\n2,1,3\n3,1,6\n");
  REQUIRE(writeFileAtomically(options.log, "step,epoch,other\n1,1,1\n").ok());
  const auto refused = Trainer::start(*session, options);
  REQUIRE(!refused.ok());
  CHECK(render(refused.errors()) == options.log +
                                        ":1: error: is the log of another training: its columns are not "
                                        "step,epoch,total\n  hint: log to another file\n");
}

TEST_CASE("trainer: evaluations take the parameters of the moment, and the best is kept") {
  const TemporaryFolder folder;
  const auto session = counter(), evaluation = judge();
  TrainingOptions options = optionsOf(5);
  options.evaluation.session = evaluation.get();
  options.evaluation.feeds = [](int64_t batch) { // 1 and 3: the mean is twice the sum
    return NamedLiterals{{"y", Literal::scalar(batch == 0 ? 1.0F : 3.0F)}};
  };
  options.evaluation.batches = 2;
  options.evaluation.every = 2;
  options.checkpoint = (folder.path() / "c.safetensors").string();
  options.best = (folder.path() / "best.safetensors").string();
  options.bestBy = "score";
  options.log = (folder.path() / "log.csv").string();
  std::vector<std::pair<int64_t, double>> scores;
  options.afterEvaluation = [&](int64_t step, const EvaluatedMeans& means) {
    scores.emplace_back(step, means.at("score"));
  };
  Trainer trainer = Trainer::start(*session, options).orThrow();
  finish(trainer);
  // The sums are 3, 10 and 15 after 2, 4 and 5 steps.
  CHECK(scores == std::vector<std::pair<int64_t, double>>{{2, 6}, {4, 20}, {5, 30}});
  CHECK(trainer.state().best->step == 2); // the least
  const auto best = counter();
  const auto state = loadTraining(*best, options.best);
  REQUIRE(state.ok());
  CHECK(state->step == 2);
  CHECK(valuesOf(best->state().at("w")) == Floats{2, 1});
  CHECK(text(options.log) == "step,epoch,total,eval.score\n1,1,1,\n2,1,3,6\n3,1,6,\n4,1,10,20\n5,2,15,30\n");
  options.largestIsBest = true;
  const auto again = counter();
  Trainer upwards = Trainer::start(*again, options).orThrow();
  finish(upwards);
  CHECK(upwards.state().best->step == 5);
}

TEST_CASE("trainer: the bits of a best value that is no short decimal outlive the file") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "c.safetensors").string();
  const auto session = counter();
  TrainingState state{12, 5, 18446744073709551615ULL, BestValue{0.1 + 0.2, 10}};
  REQUIRE(saveTraining(*session, state, path).ok());
  const auto read = loadTraining(*session, path);
  REQUIRE(read.ok());
  CHECK(read->step == 12);
  CHECK(read->shuffleSeed == 18446744073709551615ULL);
  CHECK(read->best->value == 0.1 + 0.2);
}
