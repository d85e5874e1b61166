#include "tools/dfc/plan_report.h"

#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/state/preparation.h"
#include "tools/dfc/io/numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;

int64_t transferBytes(const Executable& plan) {
  int64_t bytes = 0;
  for (const auto& [op, transfer] : plan.placed().transfers) {
    bytes += transfer.bytes;
  }
  return bytes;
}

/// "computed once, before the first step: 12 ops, which keep 1.2 MB (…)"; "" for none.
std::string preparationText(const Executable& plan) {
  const PreparationSize size = preparationSize(plan);
  return plan.preparation() == nullptr
             ? ""
             : fmt::format("computed once, before the first step and when weights change: {}, whose results "
                           "keep {}\n",
                           counted(static_cast<int64_t>(size.computations), "computation"),
                           humanBytes(size.bytes));
}

/// What the queues hold, by its kinds: "50 ops of the plan (36 computations, 14 transfers of 3.65 MB in
/// all)".
std::string opsText(const Executable& plan) {
  const size_t all = plan.schedule().steps.size(), computations = computationsOf(plan),
               transfers = plan.placed().transfers.size(), inputs = all - computations - transfers;
  const std::string moved =
      plan.machine().devices.size() > 1
          ? fmt::format(", {} of {} in all", counted(transfers, "transfer"), humanBytes(transferBytes(plan)))
          : "";
  return fmt::format("{} of the plan ({}{}{})", counted(all, "op"), counted(computations, "computation"),
                     moved, inputs > 0 ? ", " + counted(inputs, "input") : "");
}

/// ", 1.08 times the lower bound 12 µs"; a bound of 0 has no ratio. On a machine of one device, where any
/// order of the ops takes as long, nothing.
std::string boundText(const Executable& plan) {
  const SteadyStep& steady = plan.schedule().steady;
  if (plan.machine().devices.size() == 1 && steady.bound >= steady.seconds) {
    return "";
  }
  if (steady.bound <= 0) {
    return ", lower bound 0 s";
  }
  return fmt::format(", {:.3f} times the lower bound {}", steady.seconds / steady.bound,
                     humanSeconds(steady.bound));
}

} // namespace

size_t computationsOf(const Executable& plan) {
  const auto& steps = plan.schedule().steps;
  return static_cast<size_t>(std::count_if(steps.begin(), steps.end(), [&](const StepRow& step) {
    const OpKind kind = plan.graph()[step.op].kind();
    return kind != OpKind::Input && kind != OpKind::Transfer;
  }));
}

std::string ratesText(Rates rates) {
  return rates == Rates::OfTheMachine
             ? ""
             : "; rates are estimates: dfc machine -o here.json measures them, for -m here.json";
}

std::string planSummary(const Executable& plan, Rates rates) {
  const Schedule& schedule = plan.schedule();
  std::string text = fmt::format("{} for {}: {}, placement: {}\n", plan.graph().name(), plan.machine().name,
                                 opsText(plan), plan.policy());
  text += fmt::format("predicted {} a step{}{}\n", humanSeconds(schedule.steady.seconds), boundText(plan),
                      ratesText(rates));
  text += preparationText(plan);
  if (schedule.steady.seconds < schedule.makespan) {
    text += fmt::format("a step by itself, its feeds first: {}\n", humanSeconds(schedule.makespan));
  }
  std::string idle;
  for (const DeviceId device : plan.machine().devices.ids()) {
    const DeviceRow& row = plan.machine().devices[device];
    const int64_t bytes = plan.memory().arenaBytes[device];
    if (bytes == 0) {
      idle += (idle.empty() ? "" : ", ") + row.name;
    } else {
      text += fmt::format("{}: {} of memory{}\n", row.name, humanBytes(bytes),
                          row.memoryBytes == 0 ? "" : " of " + humanBytes(row.memoryBytes));
    }
  }
  text += idle.empty() ? "" : fmt::format("not used: {}\n", idle);
  return text;
}

std::string planSummaryJson(const Executable& plan) {
  Json devices = Json::array();
  for (const DeviceId device : plan.machine().devices.ids()) {
    const DeviceRow& row = plan.machine().devices[device];
    devices.push_back({{"name", row.name},
                       {"kind", name(row.kind)},
                       {"memoryBytes", plan.memory().arenaBytes[device]},
                       {"memoryLowerBound", plan.memory().lowerBound[device]},
                       {"capacityBytes", row.memoryBytes}});
  }
  const Json object{{"graph", plan.graph().name()},
                    {"machine", plan.machine().name},
                    {"placement", plan.policy()},
                    {"opsOfPlan", plan.schedule().steps.size()},
                    {"computations", computationsOf(plan)},
                    {"transfers", plan.placed().transfers.size()},
                    {"transferBytes", transferBytes(plan)},
                    {"predictedSeconds", plan.predictedSeconds()},
                    {"lowerBoundSeconds", plan.lowerBoundSeconds()},
                    {"firstStepSeconds", plan.schedule().makespan},
                    {"preparedComputations", preparationSize(plan).computations},
                    {"preparedBytes", preparationSize(plan).bytes},
                    {"devices", devices}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace dfc::tool
