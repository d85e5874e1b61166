// `dfc simulate`: plays a plan on the machine it was made for, without the machine.
#include "compiler/simulate/simulate.h"
#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "tools/dfc/plan_report.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;

struct SimulateArguments {
  std::string plan, trace;
  PlanOptions options;
};

constexpr const char* simulateExamples = R"(Examples:
  dfc simulate samples/04_graph_file/figure.dfg -m cpu-8gpu-nvlink
  dfc compile samples/04_graph_file/figure.dfg -m cpu-2gpu -o figure.plan
  dfc simulate figure.plan --trace predicted.json    # open it at ui.perfetto.dev)";

/// Devices without work and without memory, told in one line.
bool isUsed(const Executable& plan, DeviceId device) {
  const auto& queues = plan.schedule().queues;
  return plan.memory().arenaBytes[device] > 0 ||
         std::any_of(queues.begin(), queues.end(),
                     [&](const QueueRow& queue) { return queue.device == device && !queue.steps.empty(); });
}

std::string idleLine(const Executable& plan) {
  std::string names;
  for (const DeviceId device : plan.machine().devices.ids()) {
    if (!isUsed(plan, device)) {
      names += (names.empty() ? "" : ", ") + plan.machine().devices[device].name;
    }
  }
  return names.empty() ? "" : fmt::format("not used: {}\n", names);
}

double share(double busy, double makespan) { return makespan > 0 ? busy / makespan : 0; }

std::string queueLines(const Executable& plan, const Simulation& simulation) {
  std::string text = fmt::format("\n{:<20} {:>11} {:>10} {:>7}\n", "queue", "ops of plan", "busy", "share");
  for (const QueueId queue : plan.schedule().queues.ids()) {
    if (!isUsed(plan, plan.schedule().queues[queue].device)) {
      continue;
    }
    const double busy = simulation.busy[queue];
    text += fmt::format("{:<20} {:>11} {:>10} {:>6.1f}%\n", plan.schedule().nameOf(queue, plan.machine()),
                        plan.schedule().queues[queue].steps.size(), humanSeconds(busy),
                        100 * share(busy, simulation.makespan));
  }
  return text;
}

std::string deviceLines(const Executable& plan) {
  std::string text = fmt::format("\n{:<20} {:>10} {:>10} {:>10} {:>10}\n", "device", "peak", "at least",
                                 "resident", "capacity");
  for (const DeviceId device : plan.machine().devices.ids()) {
    if (!isUsed(plan, device)) {
      continue;
    }
    const DeviceRow& row = plan.machine().devices[device];
    text += fmt::format(
        "{:<20} {:>10} {:>10} {:>10} {:>10}\n", row.name, humanBytes(plan.memory().arenaBytes[device]),
        humanBytes(plan.memory().lowerBound[device]), humanBytes(plan.memory().residentBytes[device]),
        row.memoryBytes == 0 ? "no limit" : humanBytes(row.memoryBytes));
  }
  return text;
}

std::string steadyLine(const Schedule& schedule) {
  return schedule.steady.seconds < schedule.makespan
             ? fmt::format("among many steps, whose feeds are brought meanwhile: {}, at least {}\n",
                           humanSeconds(schedule.steady.seconds), humanSeconds(schedule.steady.bound))
             : "";
}

/// On a machine of one device any order of the ops takes as long, and nothing is transferred.
std::string boundLine(const Executable& plan, const Simulation& simulation) {
  const double bound = plan.schedule().bounds.best();
  if (plan.machine().devices.size() == 1 && bound >= simulation.makespan) {
    return "";
  }
  const std::string overlap = plan.placed().transfers.empty()
                                  ? ""
                                  : fmt::format("; transfers overlap computation for {}",
                                                humanSeconds(overlapSeconds(simulation.trace, plan)));
  return fmt::format("lower bound {}, ratio {:.3f}{}\n", humanSeconds(bound),
                     bound > 0 ? simulation.makespan / bound : 1.0, overlap);
}

std::string reportText(const Executable& plan, const Simulation& simulation, Rates rates) {
  return fmt::format("{} on {}: one step takes {} (predicted{})\n", plan.graph().name(), plan.machine().name,
                     humanSeconds(simulation.makespan), ratesText(rates)) +
         boundLine(plan, simulation) + steadyLine(plan.schedule()) + queueLines(plan, simulation) +
         deviceLines(plan) + idleLine(plan);
}

Json queuesJson(const Executable& plan, const Simulation& simulation) {
  Json queues = Json::array();
  for (const QueueId queue : plan.schedule().queues.ids()) {
    const double busy = simulation.busy[queue];
    queues.push_back({{"name", plan.schedule().nameOf(queue, plan.machine())},
                      {"ops", plan.schedule().queues[queue].steps.size()},
                      {"busySeconds", busy},
                      {"share", share(busy, simulation.makespan)}});
  }
  return queues;
}

std::string reportJson(const Executable& plan, const Simulation& simulation) {
  Json object = Json::parse(planSummaryJson(plan));
  const double bound = plan.schedule().bounds.best();
  object["makespanSeconds"] = simulation.makespan;
  object["ratio"] = bound > 0 ? simulation.makespan / bound : 1.0;
  object["overlapSeconds"] = overlapSeconds(simulation.trace, plan);
  object["queues"] = queuesJson(plan, simulation);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Exit simulateVerb(const SimulateArguments& arguments, Console& console) {
  OutputFiles files;
  addInputs(arguments.plan, arguments.options, files);
  files.writes("--trace", arguments.trace, {".json"});
  if (const Diagnostics errors = files.check(); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  const Rates rates = ratesOf(arguments.plan, arguments.options);
  const auto plan = planOf(arguments.plan, arguments.options);
  if (!plan) {
    return console.fail(Exit::UserError, plan.errors());
  }
  console.warn(plan.warnings());
  const Simulation simulation = simulate(**plan);
  if (!arguments.trace.empty()) {
    const Status written = writeFileAtomically(arguments.trace, chromeTrace({&simulation.trace}, **plan));
    if (!written) {
      return console.fail(Exit::MachineFailure, written.errors());
    }
    console.note("wrote " + arguments.trace);
  }
  console.print(reportText(**plan, simulation, rates));
  return console.finish(reportJson(**plan, simulation));
}

} // namespace

void addSimulate(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* verb = program.add_subcommand(
      "simulate", "Predict a plan: time of a step, work of each queue, memory of each device");
  verb->add_option("PLAN", arguments->plan,
                   "plan, or graph file: compiled for the machine of -m, else for this host")
      ->required();
  addPlanOptions(*verb, arguments->options);
  verb->add_option("--trace", arguments->trace, "write the predicted trace (Chrome and Perfetto)")
      ->type_name("FILE.json");
  verb->footer(simulateExamples);
  verbs[verb] = [arguments](Console& console) { return simulateVerb(*arguments, console); };
}

} // namespace dfc::tool
