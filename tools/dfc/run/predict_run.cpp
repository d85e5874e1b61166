#include "tools/dfc/run/predict_run.h"

#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/plan_report.h"
#include "tools/dfc/run/interruption.h"
#include "tools/dfc/run/progress.h"
#include "tools/dfc/run/run_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace dfc::tool {
namespace {

struct Predicted {
  NamedLiterals values;
  int64_t steps = 0; ///< that have ended
  double seconds = 0;
};

Result<Predicted> predicted(Setting& setting, DataPass& pass, const Interruption& interruption,
                            Console& console) {
  Predicted result;
  Progress progress(console, "predicting", pass.steps(), "batches");
  pass.afterStep = [&](int64_t step) {
    result.steps = step;
    progress.update(step);
    return !interruption.asked();
  };
  const auto start = std::chrono::steady_clock::now();
  auto values = predict(*setting.session, pass, setting.fetches->names());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!values) {
    return values.errors();
  }
  result.values = *std::move(values);
  return result;
}

std::string rowsText(const DataPass& pass, const Predicted& result) {
  const std::string batches = pass.batch > 0 ? fmt::format("{} batch{} of {}", pass.steps(),
                                                           pass.steps() == 1 ? "" : "es", pass.batch)
                                             : counted(pass.steps(), "step");
  return fmt::format("{}: {} in {}\n", counted(std::max<int64_t>(pass.rows, 1), "row"), batches,
                     humanSeconds(result.seconds));
}

std::string predictionJson(const Setting& setting, const DataPass& pass, const Predicted& result,
                           const std::vector<std::string>& files) {
  using Json = nlohmann::ordered_json;
  Json object = Json::parse(planSummaryJson(*setting.plan));
  object["runsOn"] = setting.session->deviceReport();
  object["steps"] = result.steps;
  object["rows"] = pass.rows;
  object["seconds"] = result.seconds;
  for (const auto& [name, value] : result.values) {
    object["predictions"][name] = Json::parse(literalJson(value));
  }
  object["files"] = files;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Exit finished(const Setting& setting, const DataPass& pass, const Predicted& result, Console& console) {
  const WrittenFiles files = setting.fetches->write(result.values);
  if (!files.refused.empty() || !files.failed.empty()) {
    Diagnostics errors = files.refused;
    errors.insert(errors.end(), files.failed.begin(), files.failed.end());
    return console.fail(files.failed.empty() ? Exit::UserError : Exit::MachineFailure, errors);
  }
  console.print(rowsText(pass, result));
  for (const auto& [name, value] : result.values) {
    console.print(fmt::format("{}: {}\n", name, toString(value.type())));
  }
  for (const std::string& file : files.paths) {
    console.print(fmt::format("wrote {}\n", file));
  }
  return console.finish(predictionJson(setting, pass, result, files.paths));
}

} // namespace

Diagnostics predictionFaults(const RunArguments& arguments) {
  Diagnostics errors;
  const auto excludes = [&](bool given, const char* option, const char* why) {
    if (given) {
      errors.push_back(errorWithoutPlace(fmt::format("--predict and {} do not go together: {}", option, why),
                                         fmt::format("leave {} out", option)));
    }
  };
  const char *once = "predictions take each row once, in its order", *trains = "predictions train nothing";
  excludes(arguments.steps > 0, "--steps", once);
  excludes(arguments.epochs > 0, "--epochs", once);
  excludes(arguments.seed.has_value(), "--shuffle", once);
  excludes(!arguments.fetches.empty(), "--fetch", "it saves a single step's value");
  excludes(!arguments.checkpoint.empty(), "--checkpoint", trains);
  excludes(!arguments.saveState.empty(), "--save-state", trains);
  excludes(!arguments.evalGraph.empty(), "--eval", trains);
  excludes(!arguments.log.empty(), "--log", trains);
  excludes(!arguments.curve.empty(), "--curve", trains);
  excludes(!arguments.trace.empty(), "--trace", "it shows the last steps of a run");
  for (const std::string& argument : arguments.predictions) {
    if (const size_t at = argument.find('='); at == std::string::npos || at + 1 == argument.size()) {
      errors.push_back(errorWithoutPlace(fmt::format("--predict {} names no file", argument),
                                         fmt::format("--predict {}=FILE.npy", argument.substr(0, at))));
    }
  }
  return errors;
}

Exit runPrediction(Setting& setting, Console& console) {
  auto pass = setting.feeds->pass();
  if (!pass) {
    return console.fail(Exit::UserError, pass.errors());
  }
  const Interruption interruption;
  const auto result = predicted(setting, *pass, interruption, console);
  if (!result) {
    return console.fail(Exit::UserError, result.errors());
  }
  if (result->steps < pass->steps()) {
    console.note(fmt::format("interrupted after {} of {}: nothing was written", result->steps,
                             counted(pass->steps(), "step")));
    return Exit::Interrupted;
  }
  return finished(setting, *pass, *result, console);
}

} // namespace dfc::tool
