// Trainings that can be interrupted and go on. The interpreter's lock is released while steps run; feeds and
// what is called after a step take it.
#include "runtime/training/trainer.h"

#include "ir/draw/learning_curve.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/custom.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/session/open_session.h"
#include "tools/python/module/training/training_feeds.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using Count = std::optional<int64_t>;

/// A training with all that must outlive it.
class Training {
 public:
  Training(std::shared_ptr<Session> session, std::shared_ptr<Session> evaluation, nb::object kept,
           const TrainingOptions& options)
      : session_(std::move(session)), evaluation_(std::move(evaluation)), kept_(std::move(kept)) {
    auto started = [&] {
      const nb::gil_scoped_release unlocked;
      return Trainer::start(*session_, options);
    }();
    trainer_ = std::make_unique<Trainer>(orRaise(std::move(started)));
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training() { // steps under way may call functions of Python
    const nb::gil_scoped_release unlocked;
    trainer_.reset();
  }
  const Trainer& trainer() const { return *trainer_; }
  void advance() {
    auto done = [&] {
      const nb::gil_scoped_release unlocked;
      return trainer_->advance();
    }();
    orRaise(std::move(done));
  }
  void finish() {
    auto done = [&] {
      const nb::gil_scoped_release unlocked;
      return trainer_->finish();
    }();
    orRaise(std::move(done));
  }
  void drain() {
    const nb::gil_scoped_release unlocked;
    trainer_->drain();
  }
  void run() {
    while (!trainer_->done()) {
      advance();
      if (PyErr_CheckSignals() != 0) { // Ctrl-C
        throw nb::python_error();
      }
    }
    finish();
  }

 private:
  std::shared_ptr<Session> session_, evaluation_;
  nb::object kept_; // data sets and callables
  std::unique_ptr<Trainer> trainer_;
};

template <class Results>
std::function<void(int64_t, const Results&)> callbackOf(const nb::object& callable) {
  if (callable.is_none()) {
    return {};
  }
  return [callable = sharedCallable(callable)](int64_t step, const Results& results) {
    const nb::gil_scoped_acquire lock;
    if constexpr (std::is_same_v<Results, NamedLiterals>) {
      (*callable)(step, resultsOf(results));
    } else {
      (*callable)(step, nb::cast(results));
    }
  };
}

void setFeeds(TrainingOptions& options, const nb::object& feeds, const nb::object& session,
              Count stepsPerEpoch) {
  const NumberedFeeds numbered = numberedFeeds(feeds, session, "feeds");
  options.feeds = numbered.at; // keeps the data
  options.data = numbered.data.get();
  options.shuffleSeed = numbered.seed;
  options.stepsPerEpoch = stepsPerEpoch.value_or(std::max<int64_t>(numbered.count, 1));
}

std::shared_ptr<Session> setEvaluation(EvaluationOptions& options, const nb::object& session,
                                       const nb::object& feeds, Count batches, int64_t every) {
  if (session.is_none()) {
    return nullptr;
  }
  const std::shared_ptr<Session> open = nb::cast<const OpenSession&>(session).session();
  const NumberedFeeds numbered = numberedFeeds(feeds, session, "evaluation_feeds");
  options.session = open.get();
  options.every = every;
  options.feeds = numbered.at;
  options.data = numbered.data.get();
  options.batches = batches.value_or(std::max<int64_t>(numbered.count, 1));
  return open;
}

void construct(Training* self, const nb::object& session, int64_t steps, const nb::object& feeds,
               Count stepsPerEpoch, const nb::object& evaluation, const nb::object& evaluationFeeds,
               Count evaluationBatches, int64_t evaluateEvery, const PathLike& checkpoint,
               int64_t checkpointEvery, const PathLike& resume, const PathLike& best,
               const std::string& bestBy, bool largestIsBest, const PathLike& log,
               const nb::object& afterStep, const nb::object& afterEvaluation) {
  TrainingOptions options;
  options.steps = steps;
  setFeeds(options, feeds, session, stepsPerEpoch);
  auto evaluated =
      setEvaluation(options.evaluation, evaluation, evaluationFeeds, evaluationBatches, evaluateEvery);
  options.checkpoint = pathOf(checkpoint);
  options.checkpointEvery = checkpointEvery;
  options.resume = pathOf(resume);
  options.best = pathOf(best);
  options.bestBy = bestBy;
  options.largestIsBest = largestIsBest;
  options.log = pathOf(log);
  options.afterStep = callbackOf<NamedLiterals>(afterStep);
  options.afterEvaluation = callbackOf<EvaluatedMeans>(afterEvaluation);
  new (self) Training(nb::cast<const OpenSession&>(session).session(), std::move(evaluated),
                      nb::make_tuple(feeds, evaluationFeeds), options);
}

constexpr const char* signature =
    "def __init__(self, session: Session, *, steps: int, feeds: Batches | collections.abc.Callable[[int], "
    "collections.abc.Mapping[str, numpy.typing.ArrayLike]] | "
    "collections.abc.Sequence[collections.abc.Mapping[str, numpy.typing.ArrayLike]] | "
    "collections.abc.Mapping[str, numpy.typing.ArrayLike] | None = None, steps_per_epoch: int | None = None, "
    "evaluation: Session | None = None, evaluation_feeds: Batches | collections.abc.Callable[[int], "
    "collections.abc.Mapping[str, numpy.typing.ArrayLike]] | "
    "collections.abc.Sequence[collections.abc.Mapping[str, numpy.typing.ArrayLike]] | "
    "collections.abc.Mapping[str, numpy.typing.ArrayLike] | None = None, evaluation_batches: int | None = "
    "None, evaluate_every: int = 0, checkpoint: str | os.PathLike[str] = '', checkpoint_every: int = 0, "
    "resume: str | os.PathLike[str] = '', best: str | os.PathLike[str] = '', best_by: str = 'loss', "
    "largest_is_best: bool = False, log: str | os.PathLike[str] = '', after_step: "
    "collections.abc.Callable[[int, dict[str, typing.Any]], None] | None = None, after_evaluation: "
    "collections.abc.Callable[[int, dict[str, float]], None] | None = None) -> None";

void bindState(nb::class_<Training>& trainer) {
  trainer.def_prop_ro(
      "begun", [](const Training& self) { return self.trainer().begun(); },
      "The step that it began at: 0, or that of the checkpoint.");
  trainer.def_prop_ro(
      "submitted", [](const Training& self) { return self.trainer().submitted(); },
      "Steps submitted so far, those before `begun` included.");
  trainer.def_prop_ro(
      "steps", [](const Training& self) { return self.trainer().steps(); }, "Steps of the whole training.");
  trainer.def_prop_ro(
      "done", [](const Training& self) { return self.trainer().done(); }, "Whether all steps are submitted.");
  trainer.def_prop_ro(
      "last", [](const Training& self) { return resultsOf(self.trainer().last()); },
      "Fetches of the last step that has ended; empty before the first.");
  trainer.def_prop_ro(
      "evaluated", [](const Training& self) { return self.trainer().evaluated(); },
      "Means of the last evaluation; empty before the first.");
  trainer.def_prop_ro(
      "best",
      [](const Training& self) -> std::optional<double> {
        const auto& best = self.trainer().state().best;
        return best ? std::optional(best->value) : std::nullopt;
      },
      "The best value of an evaluation so far; None before the first.");
}

} // namespace

void bindTrainer(nb::module_& module) {
  nb::class_<Training> trainer(
      module, "Trainer",
      "The steps of a training, in such a way that it can be interrupted and go on: killed at any moment and "
      "started again with resume=, it ends with the same parameters to the bit. Assumes that feeds depend on "
      "the step's number alone. The session takes no steps of others meanwhile. Used by one thread.");
  trainer.def(
      "__init__", construct, "session"_a, nb::kw_only(), "steps"_a, "feeds"_a = nb::none(),
      "steps_per_epoch"_a = nb::none(), "evaluation"_a = nb::none(), "evaluation_feeds"_a = nb::none(),
      "evaluation_batches"_a = nb::none(), "evaluate_every"_a = 0, "checkpoint"_a = "",
      "checkpoint_every"_a = 0, "resume"_a = "", "best"_a = "", "best_by"_a = "loss",
      "largest_is_best"_a = false, "log"_a = "", "after_step"_a = nb::none(),
      "after_evaluation"_a = nb::none(), nb::sig(signature),
      "steps: of the whole training; one that resumes at 300 of 600 runs 300. feeds: Batches, whose columns "
      "take the inputs' element types; a function of the step, from 0; a list of feeds, which begins anew; "
      "or "
      "one dictionary, fed at every step. evaluation: another session, whose parameters are set to the "
      "training's of the "
      "same name; it runs `evaluation_feeds` once, after every `evaluate_every` steps and after the last, "
      "and the means of its scalar fetches are the result. checkpoint: a .safetensors file, replaced every "
      "`checkpoint_every` steps and in the end. resume: a checkpoint to go on from; where it is the same as "
      "`checkpoint` and not there yet, from the beginning. best: where the checkpoint with the best "
      "evaluation of the fetch `best_by` is kept. log: a CSV file, a row a step. after_step and "
      "after_evaluation are called with the number of steps run and the fetches by name.");
  trainer.def("run", &Training::run,
              "All steps that are left, and `finish`. After Ctrl-C call `finish`, or resume.");
  trainer.def("advance", &Training::advance,
              "Submits the next step while the one before is under way, and does what is due behind it.");
  trainer.def("drain", &Training::drain, "Waits for the steps under way.");
  trainer.def("finish", &Training::finish,
              "Waits, evaluates if all steps are done, writes the last checkpoint and the log.");
  bindState(trainer);
  module.def(
      "learning_curve",
      [](const PathLike& log, const std::string& title) {
        return orRaise(readLearningCurve(pathOf(log))).svg(title);
      },
      "log"_a, "title"_a = "", "The curves of a training's log, or of any CSV file of numbers, as SVG.");
}

} // namespace dfc::python
