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

/// Steps until the first error.
Status advanced(Trainer& trainer) {
  Status status = success();
  while (status && !trainer.done()) {
    status = trainer.advance();
  }
  return status;
}

NamedLiterals nanFromStepSix(int64_t step) {
  return NamedLiterals{{"x", floats({2}, {1, step < 5 ? 1.0F : std::nanf("")})}};
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
  options.feeds = nanFromStepSix;
  const auto session = counter();
  Trainer trainer = Trainer::start(*session, options).orThrow();
  const Status status = advanced(trainer);
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
  REQUIRE(trainer.advance().ok());
  const Status ended = trainer.finish(); // the fetch is infinite, too, which is told with all saved
  REQUIRE(!ended.ok());
  CHECK_THAT(render(ended.errors()), startingWith("error: fetch 'total' is infinite in the last step, 1\n"));
  CHECK(trainer.diverged());
  CHECK(loadTraining(*session, options.checkpoint).ok());
}

TEST_CASE("trainer: without a checkpoint, too, parameters that became NaN end it, with the log written") {
  const TemporaryFolder folder;
  TrainingOptions options = optionsOf(1000);
  options.log = (folder.path() / "log.csv").string();
  options.feeds = nanFromStepSix;
  const auto session = counter();
  Trainer trainer = Trainer::start(*session, options).orThrow();
  const Status status = advanced(trainer);
  REQUIRE(!status.ok());
  CHECK_THAT(render(status.errors()),
             startingWith("error: the training has failed: 1 of 1 parameters hold NaN behind step "));
  CHECK(trainer.diverged());
  CHECK(trainer.submitted() < 10);
  CHECK_THAT(text(options.log), containing("\n6,2,nan\n"));
}

TEST_CASE("trainer: parameters that became NaN end it between evaluations of every step, too") {
  TrainingOptions options = optionsOf(1000);
  options.feeds = nanFromStepSix;
  Builder g("evaluation");
  g.fetch("size", reduceSum(relu(g.parameter("w", f32({2})))));
  const auto evaluation = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  options.evaluation.session = evaluation.get();
  options.evaluation.every = 1;
  const auto session = counter();
  Trainer trainer = Trainer::start(*session, options).orThrow();
  REQUIRE(!advanced(trainer).ok());
  CHECK(trainer.diverged());
  CHECK(trainer.state().step == 6);
}

TEST_CASE("trainer: losses that are infinite for a while end nothing, and a graph that trains nothing may") {
  const auto feeds = [](int64_t step) {
    const float infinity = std::numeric_limits<float>::infinity();
    return NamedLiterals{{"y", Literal::scalar(step < 5 ? infinity : 1.0F)}};
  };
  TrainingOptions options;
  options.steps = 8;
  options.feeds = feeds;
  Builder g("spiking");
  const Tensor y = g.input("y", f32({})), w = g.parameter("w", f32({}));
  g.assign(w, w + 1);
  g.fetch("loss", w + y);
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  Trainer trainer = Trainer::start(*session, options).orThrow();
  finish(trainer);
  CHECK(!trainer.diverged());
  options.steps = 3; // the last of which is infinite
  const auto evaluation = judge();
  Trainer judging = Trainer::start(*evaluation, options).orThrow();
  finish(judging);
}

TEST_CASE("trainer: an evaluation that would train is refused") {
  const auto session = counter(), evaluation = counter();
  TrainingOptions options = optionsOf(2);
  options.evaluation.session = evaluation.get();
  const auto refused = Trainer::start(*session, options);
  REQUIRE(!refused.ok());
  CHECK(
      render(refused.errors()) ==
      "error: the graph of the evaluation changes 1 of its parameters: 'w': it would train on the data that "
      "is to judge the training\n"
      "  hint: give a graph without updates, whose batch norms take the running statistics\n");
}

TEST_CASE("trainer: a checkpoint with a bit turned is refused") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "c.safetensors").string();
  const auto session = counter();
  REQUIRE(saveTraining(*session, TrainingState{12, 5, {}, {}}, path).ok());
  std::string bytes = text(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  REQUIRE(writeFileAtomically(path, bytes).ok());
  const auto refused = loadTraining(*session, path);
  REQUIRE(!refused.ok());
  CHECK_THAT(render(refused.errors()),
             startingWith(path + ": error: its parameters are not those that were saved: their checksum "
                                 "differs\n  hint: "));
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
