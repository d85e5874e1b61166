#include "tools/dfc/run/run_plan.h"

#include "ir/base/atomic_file.h"
#include "ir/plan/executable_parts.h"
#include "runtime/files/safetensors.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/plan_report.h"
#include "tools/dfc/run/finite_watch.h"
#include "tools/dfc/run/predict_run.h"
#include "tools/dfc/run/run_report.h"
#include "tools/dfc/run/training_run.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <filesystem>

namespace dfc::tool {
namespace {

/// Those that were written on the way.
void addTrainingFiles(const RunArguments& arguments, const Outcome& outcome, WrittenFiles& files) {
  std::vector<std::string> written = {arguments.checkpoint, arguments.log};
  if (!arguments.bestBy.empty() && outcome.best) {
    written.push_back(bestFileOf(arguments.checkpoint));
  }
  for (const std::string& path : written) {
    const auto isOfPath = [&](const Diagnostic& error) { return error.where.file == path; };
    const bool failed = llvm::any_of(outcome.failed, isOfPath) || llvm::any_of(outcome.refused, isOfPath);
    if (!path.empty()) {
      (failed ? files.lost : files.paths).push_back(path);
    }
  }
  add(files.failed, outcome.failed);
  add(files.refused, outcome.refused);
}

/// A training that has ended in NaN replaces no file, as it replaces no checkpoint.
void saveStateOf(Setting& setting, const Outcome& outcome, const std::string& path, WrittenFiles& files,
                 Console& console) {
  const NamedLiterals state = setting.session->state();
  if (!outcome.refused.empty() && holdsNan(state)) {
    files.lost.push_back(path);
    return;
  }
  if (const std::string warning = stateWarning(state, path); !warning.empty()) {
    console.note(warning);
  }
  files.add(path, writeSafetensors(path, state));
}

/// Every file is tried, whatever became of the one before.
WrittenFiles writeFiles(const RunArguments& arguments, Setting& setting, const Outcome& outcome,
                        Console& console) {
  WrittenFiles files;
  if (outcome.steps > 0) {
    files = setting.fetches->write(outcome.last);
  }
  addTrainingFiles(arguments, outcome, files);
  if (!arguments.saveState.empty()) {
    saveStateOf(setting, outcome, arguments.saveState, files, console);
  }
  if (!arguments.curve.empty()) {
    const std::string title = std::filesystem::path(arguments.source).stem().string();
    files.add(arguments.curve, writeFileAtomically(arguments.curve, outcome.curve.svg(title)));
  }
  if (!arguments.trace.empty()) {
    const Trace predicted = predictedTrace(*setting.plan);
    files.add(arguments.trace,
              writeFileAtomically(arguments.trace, chromeTrace({&predicted, &outcome.trace}, *setting.plan)));
  }
  return files;
}

/// What a run has come to where its end failed: "3 steps were run; written: a.npy; not written:
/// s.safetensors".
std::string completedText(const Outcome& outcome, const WrittenFiles& files) {
  std::string text =
      fmt::format("{} {} run", counted(outcome.steps, "step"), outcome.steps == 1 ? "was" : "were");
  for (const auto& [word, paths] :
       {std::pair("written", &files.paths), std::pair("not written", &files.lost)}) {
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
  if (setting->evaluation.feeds) {
    for (const std::string& note : setting->evaluation.feeds->notes()) {
      console.note(note);
    }
  }
  if (!setting->stateNote.empty()) {
    console.note(setting->stateNote);
  }
  noteNull(*setting->session, console);
  noteIdleBackends(setting->options, setting->plan->machine(), console);
  if (!arguments.predictions.empty()) {
    return runPrediction(*setting, console);
  }
  const Interruption interruption; // before it, there is nothing to lose
  const auto outcome = runTraining(arguments, *setting, interruption, console);
  if (!outcome) {
    return console.fail(Exit::UserError, outcome.errors());
  }
  const auto files = writeFiles(arguments, *setting, *outcome, console);
  if (!files.lost.empty() || !files.failed.empty()) {
    return failedFiles(*outcome, files, console);
  }
  printOutcome(*setting, *outcome, files.paths, console);
  if (!files.refused.empty()) {
    return console.fail(Exit::UserError, files.refused);
  }
  const int64_t ended = outcome->begun + outcome->steps;
  const bool interrupted = ended < setting->steps;
  if (interrupted) {
    console.note(fmt::format("interrupted after {} of {}", ended, counted(setting->steps, "step")));
  }
  const Exit printed = console.finish(outcomeJson(*setting, *outcome, files.paths));
  if (printed != Exit::Fine) {
    console.note(completedText(*outcome, files));
  }
  return interrupted && (printed == Exit::Fine || interruption.byClosedOutput()) ? Exit::Interrupted
                                                                                 : printed;
}

} // namespace dfc::tool
