// The steps of a training on an opened session, in such a way that it can be interrupted and go on:
//
//   TrainingOptions options;
//   options.steps = 6000;
//   feedFrom(batches, options);
//   options.checkpoint = options.resume = "mlp.safetensors";
//   options.checkpointEvery = 100;
//   Trainer trainer = Trainer::start(*session, options).orThrow();
//   while (!trainer.done()) {
//     trainer.advance().orThrow();
//   }
//   trainer.finish().orThrow();
//
// Killed at any moment and started again, this ends with the same parameters to the bit. It assumes that the
// feeds depend on the step's number alone, and that all else that a step depends on is a parameter.
#pragma once

#include "ir/base/visibility.h"
#include "runtime/data/batches.h"
#include "runtime/session.h"
#include "runtime/training/training_log.h"
#include "runtime/training/training_state.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace DFC_PUBLIC dfc {

/// Evaluations under way: another session, whose parameters are set to the training's of the same name, runs
/// its batches once; the means of its scalar fetches are the result.
struct EvaluationOptions {
  Session* session = nullptr;                             ///< null: no evaluation
  std::function<NamedLiterals(int64_t batch)> feeds = {}; ///< of batch 0, 1, …; none: no inputs
  const Batches* data = nullptr; ///< what `feeds` takes them from, to be looked through before the first step
  int64_t batches = 1;           ///< in one evaluation
  int64_t every = 0; ///< after every so many steps, and after the last one; 0: after the last one alone
};

/// What a training does.
struct TrainingOptions {
  /// Of the whole training: one that resumes at 300 of 600 runs 300.
  int64_t steps = 1;
  /// What step 0, 1, … is fed; none: the graph has no inputs. Must give the same for the same number.
  std::function<NamedLiterals(int64_t step)> feeds = {};
  /// The data set that `feeds` takes batches of, which is looked through for labels and indices out of range
  /// before the first step (SessionOptions::checkIndices); null: each step's feeds are.
  const Batches* data = nullptr;
  /// Batches of an epoch. With the seed it says by which rows a checkpoint was trained: one of another order
  /// is refused.
  int64_t stepsPerEpoch = 1;
  /// The seed of Batches, where `feeds` shuffles.
  std::optional<uint64_t> shuffleSeed = {};
  /// Evaluations between the steps.
  EvaluationOptions evaluation = {};
  /// A .safetensors file, replaced every so many steps and by `finish`; empty: none.
  std::string checkpoint = {};
  /// Steps between checkpoints; 0: only `finish` writes one.
  int64_t checkpointEvery = 0;
  /// Where to keep the checkpoint with the best evaluation, beside the last one; empty: nowhere.
  std::string best = {};
  /// The fetch of the evaluation that `best` goes by.
  std::string bestBy = {};
  /// Whether the largest value of it is the best (accuracy), and not the smallest (loss).
  bool largestIsBest = false;
  /// A CSV file, a row a step; empty: none.
  std::string log = {};
  /// A checkpoint to go on from; empty, or the same as `checkpoint` and not there yet: from the beginning.
  std::string resume = {};
  /// Called for every step that has ended, in order; `step` counts from 1.
  std::function<void(int64_t step, const NamedLiterals& results)> afterStep = {};
  /// Called for every evaluation, after `step` steps.
  std::function<void(int64_t step, const EvaluatedMeans& means)> afterEvaluation = {};
};

/// The steps take the batches one after the other, epoch after epoch; these must outlive the training. For
/// data of another kind, set `feeds`, `stepsPerEpoch` and `shuffleSeed`.
void feedFrom(Batches& batches, TrainingOptions& options);

/// See the top of this file. Used by one thread; the session must outlive it, and takes no steps of others
/// meanwhile.
class Trainer {
 public:
  /// Resumes where the options say so. Errors, all at once where they can be: labels and indices out of range
  /// in a data set, a checkpoint that does not fit,
  /// an evaluation with parameters that the training lacks or that changes parameters of floats, a fetch of
  /// neither, a log of other columns.
  static Result<Trainer> start(Session& session, TrainingOptions options);
  /// Moves the training; the other may only be destroyed.
  Trainer(Trainer&&) noexcept;
  ~Trainer();

  /// The step that it began at: 0, or that of the checkpoint.
  int64_t begun() const;
  /// Steps submitted so far, those before `begun` included.
  int64_t submitted() const;
  /// Whether all steps are submitted.
  bool done() const { return submitted() >= steps(); }
  /// Steps of the whole training.
  int64_t steps() const;
  /// Submits the next step while the one before is under way, and does what is due behind it: an evaluation,
  /// a checkpoint. Errors: feeds that do not fit, files that cannot be written, parameters that hold NaN,
  /// from which no training recovers (looked for where a checkpoint is due or a scalar fetch is not finite).
  /// Throws as Session does.
  Status advance();
  /// Waits for the steps under way.
  void drain();
  /// Waits, evaluates if all steps are done, writes the last checkpoint and the log. Errors: those of
  /// advance, and, with all written, a scalar fetch that is not finite in the last step of a session that
  /// changes parameters of floats.
  Status finish();

  /// Fetches of the last step that has ended; empty before the first.
  const NamedLiterals& last() const;
  /// The last evaluation's; empty before the first.
  const EvaluatedMeans& evaluated() const;
  /// What a checkpoint would hold now.
  const TrainingState& state() const;
  /// Seconds that evaluations and files have taken so far.
  double pausedSeconds() const;
  /// Whether the last error is that of values that are not finite: of parameters that hold NaN, which are not
  /// written over a checkpoint, or of the last step's fetches.
  bool diverged() const;

 private:
  struct Impl;
  explicit Trainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace dfc
