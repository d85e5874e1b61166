#include "tools/dfc/run/run_report.h"

#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "runtime/cpu_model.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/plan_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;

double secondsPerStep(const Outcome& outcome) {
  return outcome.seconds / static_cast<double>(std::max<int64_t>(outcome.steps, 1));
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

std::string predictionText(const Setting& setting) {
  const std::string seconds = humanSeconds(setting.plan->predictedSeconds());
  return playsMachine(*setting.session, setting.plan->machine())
             ? fmt::format("the prediction, {} a step, is for the real machine '{}', not for this run",
                           seconds, setting.plan->machine().name)
             : fmt::format("predicted {}", seconds);
}

} // namespace

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

void printOutcome(const Setting& setting, const Outcome& outcome, const std::vector<std::string>& files,
                  Console& console) {
  if (outcome.steps > 0) {
    console.print(fmt::format("{} in {}, {} a step ({})\n", counted(outcome.steps, "step"),
                              humanSeconds(outcome.seconds), humanSeconds(secondsPerStep(outcome)),
                              predictionText(setting)));
  }
  for (const auto& [name, value] : outcome.last) {
    const auto scalar = outcome.scalars.find(name);
    if (scalar != outcome.scalars.end() && scalar->second.count > 1) {
      console.print(fmt::format("{}: {} at the last step, mean {} over {}\n", name,
                                realText(scalar->second.last), realText(scalar->second.mean()),
                                counted(scalar->second.count, "step")));
    } else if (setting.fetches->prints(name) || value.type().shape.elements() <= 12) {
      console.print(fmt::format("{}: {}\n", name, shortText(value)));
    } else {
      const std::string hint =
          setting.fetches->names(name)
              ? ""
              : fmt::format(" (--fetch {} prints it, --fetch {}=FILE.npy saves it)", name, name);
      console.print(fmt::format("{}: {}{}\n", name, toString(value.type()), hint));
    }
  }
  if (outcome.best) {
    console.print(fmt::format("best evaluation: {:.6g}, after {}\n", outcome.best->value,
                              counted(outcome.best->step, "step")));
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
  object["secondsPerStep"] = secondsPerStep(outcome);
  if (outcome.begun > 0) {
    object["resumedAt"] = outcome.begun;
  }
  Json fetches = Json::object();
  for (const auto& [name, value] : outcome.last) {
    fetches[name] = Json::parse(literalJson(value));
    if (const auto scalar = outcome.scalars.find(name); scalar != outcome.scalars.end()) {
      fetches[name]["mean"] = Json::parse(realJson(scalar->second.mean()));
      fetches[name]["meanOverSteps"] = scalar->second.count;
    }
  }
  object["fetches"] = fetches;
  for (const auto& [name, mean] : outcome.evaluated) {
    object["evaluation"][name] = Json::parse(realJson(mean));
  }
  if (outcome.best) {
    object["best"] = {{"value", outcome.best->value}, {"step", outcome.best->step}};
  }
  if (!outcome.trace.spans.empty()) {
    object["overlapSeconds"] = overlapSeconds(outcome.trace, *setting.plan);
    object["tracedSeconds"] = outcome.trace.makespan();
  }
  object["files"] = files;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace dfc::tool
