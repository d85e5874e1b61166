// Everything that a run needs, checked before its first step.
#pragma once

#include "runtime/session.h"
#include "runtime/training/trainer.h"
#include "tools/dfc/io/feeds.h"
#include "tools/dfc/io/fetches.h"
#include "tools/dfc/run/run_plan.h"

namespace dfc::tool {

/// A graph beside the one that is trained, by which the training is judged.
struct EvaluationSetting {
  std::optional<Feeds> feeds;
  std::unique_ptr<Session> session;
};

struct Setting {
  std::shared_ptr<const Executable> plan;
  std::optional<Feeds> feeds;
  std::optional<FetchFiles> fetches;
  SessionOptions options;
  std::unique_ptr<Session> session;
  EvaluationSetting evaluation;
  std::string stateNote; ///< which part of --state was taken
  int64_t steps = 1;
  Rates rates = Rates::OfTheMachine;
};

/// With the warnings of compiling. Throws MachineError as Session::open.
Result<Setting> prepare(const RunArguments& arguments);

/// "FILE.best.safetensors": where the best checkpoint is kept beside --checkpoint FILE.safetensors.
std::string bestFileOf(const std::string& checkpoint);

} // namespace dfc::tool
