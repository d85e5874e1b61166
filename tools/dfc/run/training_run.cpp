#include "tools/dfc/run/training_run.h"

#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/run/finite_watch.h"
#include "tools/dfc/run/progress.h"

#include <fmt/format.h>

#include <chrono>

namespace dfc::tool {
namespace {

constexpr int64_t tracedSteps = 10; ///< at the end of a long run: a trace of thousands opens in no viewer

class Runner {
 public:
  Runner(const RunArguments& arguments, Setting& setting, const Interruption& interruption, Console& console)
      : arguments_(arguments), setting_(setting), interruption_(interruption), console_(console),
        several_(setting.feeds->batchesPerEpoch() > 1) {}

  Result<Outcome> run() {
    auto trainer = Trainer::start(*setting_.session, options());
    if (!trainer) {
      return trainer.errors();
    }
    begin(*trainer);
    const auto start = std::chrono::steady_clock::now();
    Status status = steps(*trainer);
    if (status) {
      status = trainer->finish();
    } else {
      trainer->drain();
    }
    outcome_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() -
                       trainer->pausedSeconds();
    progress_->clear();
    end(*trainer);
    (trainer->diverged() ? outcome_.refused : outcome_.failed) = status.errors();
    for (Diagnostic& error : outcome_.refused) {
      error.where = error.where.file.empty() ? placeOfFetch(finiteWatch_.fetch()) : error.where;
    }
    return std::move(outcome_);
  }

 private:
  TrainingOptions options() {
    TrainingOptions options;
    options.steps = setting_.steps;
    options.feeds = [this](int64_t step) { return setting_.feeds->at(step); };
    options.stepsPerEpoch = setting_.feeds->batchesPerEpoch();
    options.shuffleSeed = arguments_.seed;
    options.checkpoint = arguments_.checkpoint;
    options.checkpointEvery = everyEpochUnless(arguments_.every);
    options.best = arguments_.bestBy.empty() ? "" : bestFileOf(arguments_.checkpoint);
    options.bestBy = arguments_.bestBy;
    options.largestIsBest = arguments_.largestIsBest;
    options.log = arguments_.log;
    options.resume = arguments_.resume;
    options.evaluation = evaluationOptions();
    options.afterStep = [this](int64_t step, const NamedLiterals& results) { afterStep(step, results); };
    options.afterEvaluation = [this](int64_t step, const EvaluatedMeans& means) {
      afterEvaluation(step, means);
    };
    return options;
  }

  /// Where the author wrote what the fetch is of.
  SourceLocation placeOfFetch(const std::string& name) const {
    const Graph& graph = setting_.plan->graph();
    for (const Fetch& fetch : graph.fetches()) {
      if (graph.text(fetch.name) == name) {
        return graph.locationOf(graph[fetch.value].producer);
      }
    }
    return {};
  }

  EvaluationOptions evaluationOptions() {
    EvaluationOptions options;
    if (setting_.evaluation.session) {
      options.session = setting_.evaluation.session.get();
      options.feeds = [this](int64_t batch) { return setting_.evaluation.feeds->at(batch); };
      options.batches = setting_.evaluation.feeds->batchesPerEpoch();
      options.every = everyEpochUnless(arguments_.evalEvery);
    }
    return options;
  }

  int64_t everyEpochUnless(int64_t every) const {
    return every > 0 ? every : several_ ? setting_.feeds->batchesPerEpoch() : 0;
  }

  void begin(const Trainer& trainer) {
    outcome_.begun = trainer.begun();
    if (!arguments_.resume.empty()) {
      console_.note(resumedText(trainer.begun()));
    }
    if (trainer.begun() > 0 && !arguments_.log.empty() && !arguments_.curve.empty()) {
      if (auto earlier = readLearningCurve(arguments_.log)) { // drawn whole; without it, from here
        outcome_.curve = *std::move(earlier);
      }
    }
    watch_.emplace(several_ ? setting_.feeds->batchesPerEpoch() : setting_.steps, trainer.begun());
    progress_.emplace(console_, "running", setting_.steps, "steps", trainer.begun());
  }

  std::string resumedText(int64_t begun) const {
    if (begun == 0) {
      return fmt::format("{}: is not there yet: the training begins", arguments_.resume);
    }
    return begun < setting_.steps
               ? fmt::format("{}: goes on behind step {}", arguments_.resume, begun)
               : fmt::format(
                     "{}: nothing is left to do: it is behind step {}, and the whole training is to have {}; "
                     "a larger --steps or --epochs goes on",
                     arguments_.resume, begun, counted(setting_.steps, "step"));
  }

  Status steps(Trainer& trainer) {
    while (!trainer.done() && (trainer.submitted() == trainer.begun() || !interruption_.asked())) {
      if (trainer.submitted() == setting_.steps - tracedSteps) {
        trainer.drain();
        setting_.session->takeTrace(); // the last steps are the ones to keep
      }
      if (Status status = trainer.advance(); !status) {
        return status;
      }
    }
    return success();
  }

  void afterStep(int64_t step, const NamedLiterals& results) {
    watch_->add(results);
    if (!finiteWatch_.add(results, step)) {
      progress_->clear();
      console_.note(finiteWatch_.warning());
    }
    for (const auto& [name, value] : results) {
      if (!arguments_.curve.empty() && value.type().shape.elements() == 1) {
        outcome_.curve.add(name, static_cast<double>(step), value.at(0));
      }
    }
    progress_->update(step, watch_->text(/*means=*/false));
    reportEpoch();
  }

  void reportEpoch() {
    if (several_ && watch_->atEndOfEpoch() && !watch_->rows().empty()) {
      progress_->clear();
      console_.print(fmt::format("epoch {}: {} (mean of {})\n", watch_->epoch(), watch_->text(/*means=*/true),
                                 counted(watch_->rows().begin()->second.count, "step")));
    }
  }

  void afterEvaluation(int64_t step, const EvaluatedMeans& means) {
    std::string text;
    for (const auto& [name, mean] : means) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, realText(mean));
      if (!arguments_.curve.empty()) {
        outcome_.curve.add("eval." + name, static_cast<double>(step), mean);
      }
    }
    progress_->clear();
    console_.print(fmt::format("evaluation after {}: {}\n", counted(step, "step"), text));
  }

  void end(const Trainer& trainer) {
    outcome_.steps = trainer.state().step - trainer.begun();
    outcome_.last = trainer.last();
    outcome_.scalars = watch_->rows();
    outcome_.evaluated = trainer.evaluated();
    outcome_.best = trainer.state().best;
    outcome_.trace = setting_.session->takeTrace();
  }

  const RunArguments& arguments_;
  Setting& setting_;
  const Interruption& interruption_;
  Console& console_;
  bool several_; ///< batches in an epoch
  std::optional<ScalarWatch> watch_;
  FiniteWatch finiteWatch_;
  std::optional<Progress> progress_;
  Outcome outcome_;
};

} // namespace

Result<Outcome> runTraining(const RunArguments& arguments, Setting& setting, const Interruption& interruption,
                            Console& console) {
  return Runner(arguments, setting, interruption, console).run();
}

} // namespace dfc::tool
