#include "tools/dfc/run/run_plan.h"

#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/checkpoint.h"
#include "runtime/cpu_model.h"
#include "runtime/files/safetensors.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/calibrations.h"
#include "tools/dfc/io/feeds.h"
#include "tools/dfc/io/fetches.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/io/parameter_files.h"
#include "tools/dfc/plan_report.h"
#include "tools/dfc/run/custom_libraries.h"
#include "tools/dfc/run/finite_watch.h"
#include "tools/dfc/run/interruption.h"
#include "tools/dfc/run/progress.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <deque>
#include <filesystem>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;
constexpr int64_t tracedSteps = 10; ///< at the end of a long run: a trace of thousands opens in no viewer

Result<SessionOptions> sessionOptionsOf(const RunArguments& arguments) {
  SessionOptions options;
  Diagnostics errors;
  applyBackends(arguments.backends, options, errors);
  options.customFunctions = customFunctionsOf(arguments.customLibraries, errors);
  options.trace = !arguments.trace.empty();
  options.timeoutSeconds = arguments.timeout;
  options.checkFinite = arguments.checkFinite;
  const std::string folder = std::filesystem::path(arguments.source).parent_path().string();
  options.dataFolder = !arguments.dataFolder.empty() ? arguments.dataFolder : folder.empty() ? "." : folder;
  if (!errors.empty()) {
    return errors;
  }
  return options;
}

/// Everything that a run needs, checked before the first step.
struct Setting {
  std::shared_ptr<const Executable> plan;
  std::optional<Feeds> feeds;
  std::optional<FetchFiles> fetches;
  SessionOptions options;
  std::unique_ptr<Session> session;
  int64_t steps = 1;
  Rates rates = Rates::OfTheMachine;
};

/// Before the graph is compiled and the feeds are read, which may take long.
Diagnostics outputFaults(const RunArguments& arguments) {
  OutputFiles files;
  addInputs(arguments.source, arguments.plan, files);
  files.reads(arguments.state, "--save-state");
  for (const std::string& library : arguments.customLibraries) {
    files.reads(library);
  }
  for (const std::string& feed : arguments.feeds) {
    files.reads(fileOfSource(feed.substr(feed.find('=') + 1)));
  }
  FetchFiles::addOutputs(arguments.fetches, files);
  files.writes("--save-state", arguments.saveState, {".safetensors"});
  files.writes("--trace", arguments.trace, {".json"});
  return files.check();
}

/// Files that parameters start from, which no output may replace: the next run starts from them again.
Diagnostics initialiserFaults(const RunArguments& arguments, const Graph& graph, const std::string& folder) {
  OutputFiles files;
  for (const ParameterFile& file : parameterFiles(graph, folder)) {
    files.reads(file.path);
  }
  FetchFiles::addOutputs(arguments.fetches, files);
  files.writes("--save-state", arguments.saveState);
  files.writes("--trace", arguments.trace);
  return files.check();
}

/// Kernels read no other GPU's memory where GPUs have no access to one another; a sealed plan is refused when
/// it is opened.
Result<std::shared_ptr<const Executable>> planToRun(const RunArguments& arguments) {
  const auto isPlan = isPlanFile(arguments.source);
  PlanOptions options = arguments.plan;
  options.noPeerReads = options.noPeerReads || (arguments.backends.noPeerAccess && isPlan && !*isPlan);
  return planOf(arguments.source, options);
}

Result<Setting> prepare(const RunArguments& arguments) {
  if (Diagnostics errors = outputFaults(arguments); !errors.empty()) {
    return errors;
  }
  Setting setting;
  setting.rates = ratesOf(arguments.source, arguments.plan);
  auto plan = planToRun(arguments);
  auto options = sessionOptionsOf(arguments);
  Diagnostics errors = plan.errors();
  add(errors, options.errors());
  if (!plan) {
    return errors;
  }
  setting.plan = *plan;
  if (options) {
    add(errors, initialiserFaults(arguments, setting.plan->graph(), options->dataFolder));
  }
  auto feeds = Feeds::load(arguments.feeds, setting.plan->graph(), arguments.seed);
  auto fetches = FetchFiles::parse(arguments.fetches, setting.plan->graph());
  add(errors, feeds.errors());
  add(errors, fetches.errors());
  if (!errors.empty()) {
    return errors;
  }
  setting.feeds = *std::move(feeds);
  setting.fetches = *std::move(fetches);
  if (arguments.epochs > largestCount / setting.feeds->batchesPerEpoch()) {
    return errorWithoutPlace(
        fmt::format("--epochs {} of {} are more than {} steps", arguments.epochs,
                    counted(setting.feeds->batchesPerEpoch(), "step"), largestCount),
        fmt::format("at most --epochs {} here", largestCount / setting.feeds->batchesPerEpoch()));
  }
  setting.steps = arguments.epochs > 0 ? arguments.epochs * setting.feeds->batchesPerEpoch()
                                       : std::max<int64_t>(arguments.steps, 1);
  setting.options = *options;
  auto session = Session::open(setting.plan, setting.options);
  if (!session) {
    return session.errors();
  }
  setting.session = *std::move(session);
  if (!arguments.state.empty()) {
    if (const Status restored = loadState(*setting.session, arguments.state); !restored) {
      return restored.errors();
    }
  }
  return Result<Setting>(std::move(setting)).withWarnings(plan.warnings());
}

struct Outcome {
  int64_t steps = 0;  ///< that were run: fewer than asked for after an interruption
  NamedLiterals last; ///< fetches of the last step
  std::map<std::string, ScalarWatch::Row> scalars;
  double seconds = 0;
  Trace trace;
};

/// Runs the steps with the next one always on its way: its feeds are cut while this one computes.
/// Interrupted, it ends the steps in flight, of which there is at least one.
class Runner {
 public:
  Runner(Setting& setting, const Interruption& interruption, Console& console)
      : setting_(setting), interruption_(interruption), console_(console),
        several_(setting.feeds->batchesPerEpoch() > 1),
        watch_(several_ ? setting.feeds->batchesPerEpoch() : setting.steps),
        progress_(console, "running", setting.steps, "steps") {}

  Result<Outcome> run() {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t step = 0; step < setting_.steps && (step == 0 || !interruption_.asked()); ++step) {
      if (step == setting_.steps - tracedSteps) {
        drain(0);
        setting_.session->takeTrace(); // the last steps are the ones to keep
      }
      auto pending = setting_.session->submit(setting_.feeds->at(step));
      if (!pending) {
        return pending.errors();
      }
      underWay_.push_back(*std::move(pending));
      drain(1);
    }
    drain(0);
    progress_.clear();
    outcome_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    outcome_.steps = ended_;
    outcome_.scalars = watch_.rows();
    outcome_.trace = setting_.session->takeTrace();
    return std::move(outcome_);
  }

 private:
  /// Waits until no more than `keep` steps are under way, the oldest first.
  void drain(size_t keep) {
    while (underWay_.size() > keep) {
      outcome_.last = underWay_.front().wait();
      underWay_.pop_front();
      watch_.add(outcome_.last);
      ++ended_;
      if (!finiteWatch_.add(outcome_.last, ended_)) {
        progress_.clear();
        console_.note(finiteWatch_.warning());
      }
      progress_.update(ended_, watch_.text(/*means=*/false));
      reportEpoch();
    }
  }

  void reportEpoch() {
    if (several_ && watch_.atEndOfEpoch() && !watch_.rows().empty()) {
      progress_.clear();
      console_.print(fmt::format("epoch {}: {} (mean of {})\n", watch_.epoch(), watch_.text(/*means=*/true),
                                 counted(setting_.feeds->batchesPerEpoch(), "step")));
    }
  }

  Setting& setting_;
  const Interruption& interruption_;
  Console& console_;
  bool several_; ///< batches in an epoch
  ScalarWatch watch_;
  FiniteWatch finiteWatch_;
  Progress progress_;
  std::deque<Session::Pending> underWay_;
  Outcome outcome_;
  int64_t ended_ = 0;
};

/// Every file is tried, whatever became of the one before.
WrittenFiles writeFiles(const RunArguments& arguments, Setting& setting, const Outcome& outcome,
                        Console& console) {
  WrittenFiles files = setting.fetches->write(outcome.last);
  if (!arguments.saveState.empty()) {
    const NamedLiterals state = setting.session->state();
    if (const std::string warning = stateWarning(state, arguments.saveState); !warning.empty()) {
      console.note(warning);
    }
    files.add(arguments.saveState, writeSafetensors(arguments.saveState, state));
  }
  if (!arguments.trace.empty()) {
    const Trace predicted = predictedTrace(*setting.plan);
    files.add(arguments.trace,
              writeFileAtomically(arguments.trace, chromeTrace({&predicted, &outcome.trace}, *setting.plan)));
  }
  return files;
}

/// What a run has come to where its end failed: "3 steps were run; written: a.npy; lost: s.safetensors".
std::string completedText(const Outcome& outcome, const WrittenFiles& files) {
  std::string text =
      fmt::format("{} {} run", counted(outcome.steps, "step"), outcome.steps == 1 ? "was" : "were");
  for (const auto& [word, paths] : {std::pair("written", &files.paths), std::pair("lost", &files.lost)}) {
    text += paths->empty() ? "" : fmt::format("; {}: {}", word, fmt::join(*paths, ", "));
  }
  return text;
}

/// Errors of files that no format holds are the author's, all others the machine's.
Exit failedFiles(const Outcome& outcome, const WrittenFiles& files, Console& console) {
  Diagnostics errors = files.refused;
  add(errors, files.failed);
  console.note(completedText(outcome, files));
  return console.fail(files.failed.empty() ? Exit::UserError : Exit::MachineFailure, errors);
}

/// Whether a device of the plan is played by something that it is not, or the plan is for another host: what
/// it predicts is then not what the clock shows.
bool playsMachine(const Session& session, const Machine& machine) {
  const auto report = session.deviceReport();
  return cpuModel() != machine.devices[machine.host()].model ||
         std::any_of(report.begin(), report.end(), [](const std::string& line) {
           return line.ends_with(": emulated") || line.ends_with(": null");
         });
}

void noteIdleBackends(const SessionOptions& chosen, const Machine& machine, Console& console) {
  for (const auto& [kind, backend] :
       {std::pair(DeviceKind::Cpu, chosen.cpuBackend), std::pair(DeviceKind::Gpu, chosen.gpuBackend)}) {
    const bool isThere = std::any_of(machine.devices.begin(), machine.devices.end(),
                                     [kind = kind](const DeviceRow& device) { return device.kind == kind; });
    if (!backend.empty() && !isThere) {
      console.note(fmt::format("warning: --backend {}={} plays nothing: machine '{}' has no {}", name(kind),
                               backend, machine.name, name(kind)));
    }
  }
}

/// Zeros of the null backend look like results.
void noteNull(const Session& session, Console& console) {
  std::string devices;
  for (const std::string& line : session.deviceReport()) {
    if (line.ends_with(": null")) {
      devices += (devices.empty() ? "" : ", ") + line.substr(0, line.size() - std::string(": null").size());
    }
  }
  if (!devices.empty()) {
    console.note(fmt::format("warning: backend 'null' computes nothing: results of {} are zeros, not values",
                             devices));
  }
}

std::string predictionText(const Setting& setting) {
  const std::string seconds = humanSeconds(setting.plan->predictedSeconds());
  return playsMachine(*setting.session, setting.plan->machine())
             ? fmt::format("the prediction, {} a step, is for the real machine '{}', not for this run",
                           seconds, setting.plan->machine().name)
             : fmt::format("predicted {}", seconds);
}

void printOutcome(const Setting& setting, const Outcome& outcome, const std::vector<std::string>& files,
                  Console& console) {
  console.print(fmt::format(
      "{} in {}, {} a step ({})\n", counted(outcome.steps, "step"), humanSeconds(outcome.seconds),
      humanSeconds(outcome.seconds / static_cast<double>(outcome.steps)), predictionText(setting)));
  for (const auto& [name, value] : outcome.last) {
    const auto scalar = outcome.scalars.find(name);
    if (scalar != outcome.scalars.end() && scalar->second.count > 1) {
      console.print(fmt::format("{}: {:.6g} at the last step, mean {:.6g} over {}\n", name,
                                scalar->second.last, scalar->second.mean(),
                                counted(scalar->second.count, "step")));
    } else if (setting.fetches->prints(name) || value.type().shape.elements() <= 12) {
      console.print(fmt::format("{}: {}\n", name, shortText(value)));
    } else {
      console.print(fmt::format("{}: {}\n", name, toString(value.type())));
    }
  }
  if (!outcome.trace.spans.empty()) {
    console.print(fmt::format("copies and computations were under way together for {} of the traced {}\n",
                              humanSeconds(overlapSeconds(outcome.trace, *setting.plan)),
                              humanSeconds(outcome.trace.makespan())));
  }
  for (const std::string& file : files) {
    console.print(fmt::format("wrote {}\n", file));
  }
}

std::string outcomeJson(const Setting& setting, const Outcome& outcome,
                        const std::vector<std::string>& files) {
  Json object = Json::parse(planSummaryJson(*setting.plan));
  object["runsOn"] = setting.session->deviceReport();
  object["steps"] = outcome.steps;
  object["stepsPerEpoch"] = setting.feeds->batchesPerEpoch();
  object["seconds"] = outcome.seconds;
  object["secondsPerStep"] = outcome.seconds / static_cast<double>(outcome.steps);
  Json fetches = Json::object();
  for (const auto& [name, value] : outcome.last) {
    fetches[name] = Json::parse(literalJson(value));
    if (const auto scalar = outcome.scalars.find(name); scalar != outcome.scalars.end()) {
      fetches[name]["mean"] = Json::parse(realJson(scalar->second.mean()));
      fetches[name]["meanOverSteps"] = scalar->second.count;
    }
  }
  object["fetches"] = fetches;
  if (!outcome.trace.spans.empty()) {
    object["overlapSeconds"] = overlapSeconds(outcome.trace, *setting.plan);
    object["tracedSeconds"] = outcome.trace.makespan();
  }
  object["files"] = files;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

Exit runVerb(const RunArguments& arguments, Console& console) {
  auto setting = prepare(arguments);
  if (!setting) {
    return console.fail(Exit::UserError, setting.errors());
  }
  console.warn(setting.warnings());
  std::string summary = planSummary(*setting->plan, setting->rates);
  for (const std::string& line : setting->session->deviceReport()) {
    if (line.ends_with(": not used")) {
      continue; // the summary names them all in one line
    }
    summary += line + (line.ends_with(": emulated") ? " on this host, which has no such GPU\n" : "\n");
  }
  console.print(summary); // in one write: a reader that takes its first line and goes ends no run
  for (const std::string& note : setting->feeds->notes()) {
    console.note(note);
  }
  noteNull(*setting->session, console);
  noteIdleBackends(setting->options, setting->plan->machine(), console);
  const Interruption interruption; // before it, there is nothing to lose
  const auto outcome = Runner(*setting, interruption, console).run();
  if (!outcome) {
    return console.fail(Exit::UserError, outcome.errors());
  }
  const auto files = writeFiles(arguments, *setting, *outcome, console);
  if (!files.lost.empty()) {
    return failedFiles(*outcome, files, console);
  }
  printOutcome(*setting, *outcome, files.paths, console);
  const bool interrupted = outcome->steps < setting->steps;
  if (interrupted) {
    console.note(fmt::format("interrupted after {} of {}", outcome->steps, counted(setting->steps, "step")));
  }
  const Exit printed = console.finish(outcomeJson(*setting, *outcome, files.paths));
  if (printed != Exit::Fine) {
    console.note(completedText(*outcome, files));
  }
  return interrupted && (printed == Exit::Fine || interruption.byClosedOutput()) ? Exit::Interrupted
                                                                                 : printed;
}

} // namespace dfc::tool
