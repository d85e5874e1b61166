// The steps of `dfc run`: progress, epochs and warnings around a Trainer.
#pragma once

#include "ir/draw/learning_curve.h"
#include "ir/plan/trace.h"
#include "tools/dfc/run/interruption.h"
#include "tools/dfc/run/run_setting.h"

namespace dfc::tool {

/// What the steps came to.
struct Outcome {
  int64_t begun = 0;  ///< steps that an earlier run had made
  int64_t steps = 0;  ///< that were run: fewer than asked for after an interruption
  NamedLiterals last; ///< fetches of the last step; empty where there was none
  std::map<std::string, ScalarWatch::Row> scalars;
  EvaluatedMeans evaluated; ///< of the last evaluation
  std::optional<BestValue> best;
  double seconds = 0; ///< of the steps alone
  Trace trace;
  LearningCurve curve;
  Diagnostics failed;  ///< of files written on the way, which have ended the run
  Diagnostics refused; ///< a training that diverged: parameters of NaN, a last loss that is not finite
};

/// Runs the steps, the next one always on its way: its feeds are cut while this one computes. Interrupted, it
/// ends the steps under way, of which there is at least one. Errors: a file to resume from or a log that does
/// not fit.
Result<Outcome> runTraining(const RunArguments& arguments, Setting& setting, const Interruption& interruption,
                            Console& console);

} // namespace dfc::tool
