// compile, and what a plan says of itself.
#include "tools/python/module/planning/plan.h"

#include "compiler/simulate/simulate.h"
#include "ir/draw/placed_dot.h"
#include "ir/draw/schedule_dot.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/plain.h"
#include "tools/python/module/planning/interruptible.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

Plan compiled(const Graph& graph, const Machine& machine, const Options& options) {
  std::optional<Result<Executable>> made;
  withStoppableCost(options, [&](const CostModel& cost) { made = compile(graph, machine, cost, options); });
  return {std::make_shared<const Executable>(orRaise(*std::move(made)))};
}

// --- What a plan says.

std::string queueName(const Executable& plan, QueueId queue) {
  return plan.schedule().nameOf(queue, plan.machine());
}

nb::list stepsOf(const Plan& self) {
  const Executable& plan = *self.executable;
  nb::list steps;
  for (const StepRow& row : plan.schedule().steps) {
    const QueueRow& queue = plan.schedule().queues[row.queue];
    steps.append(plain("Step")(
        std::string(plan.graph().nameOf(row.op)), std::string(nameOf(plan.graph()[row.op].kind())),
        std::string(plan.graph().scopeOf(row.op)), plan.machine().devices[queue.device].name,
        queueName(plan, row.queue), row.start, row.end));
  }
  return steps;
}

nb::list transfersOf(const Plan& self) {
  const Executable& plan = *self.executable;
  nb::list transfers;
  for (const OpId op : plan.graph().ops()) {
    const auto found = plan.placed().transfers.find(op);
    if (found != plan.placed().transfers.end()) {
      const auto& devices = plan.machine().devices;
      transfers.append(plain("Transfer")(std::string(plan.graph().nameOf(op)),
                                         devices[found->second.from].name, devices[found->second.to].name,
                                         found->second.bytes));
    }
  }
  return transfers;
}

nb::list memoryOf(const Plan& self) {
  const Executable& plan = *self.executable;
  nb::list rows;
  for (const DeviceId device : plan.machine().devices.ids()) {
    const DeviceRow& row = plan.machine().devices[device];
    rows.append(plain("DeviceMemory")(row.name, plan.memory().arenaBytes[device],
                                      plan.memory().residentBytes[device], row.memoryBytes));
  }
  return rows;
}

std::string dotOf(const Plan& self, const std::string& what, bool byScope) {
  const Executable& plan = *self.executable;
  if (what == "placed") return placedDot(plan.placed(), plan.machine());
  if (what == "figure") return figureDot(plan.placed(), plan.machine());
  if (what == "schedule") return scheduleDot(plan.schedule(), plan.placed(), plan.machine(), byScope);
  throw nb::value_error(
      fmt::format("picture '{}' is none of 'figure', 'placed' and 'schedule'", what).c_str());
}

Plan planOfBytes(const nb::bytes& bytes) {
  const std::span<const char> text(bytes.c_str(), bytes.size());
  return {std::make_shared<const Executable>(orRaise(Executable::parse(std::as_bytes(text), "<bytes>")))};
}

nb::bytes bytesOf(const Plan& self) {
  const std::vector<std::byte> bytes = self.executable->serialise();
  return nb::bytes(bytes.data(), bytes.size());
}

Plan loaded(const PathLike& path) {
  const std::string file = pathOf(path);
  auto made = [&] {
    const nb::gil_scoped_release unlocked;
    return Executable::load(file);
  }();
  return {std::make_shared<const Executable>(orRaise(std::move(made)))};
}

void bindPlanClass(nb::module_& module) {
  nb::class_<Plan> plan(
      module, "Plan",
      "A sealed plan: which device computes what, in which order, on which bytes. Never changes; "
      "threads and sessions may share it. Pickled by its bytes.");
  plan.def_prop_ro(
      "graph", [](const Plan& self) { return self.executable->graph(); },
      "With the transfers that the plan needs.");
  plan.def_prop_ro(
      "machine", [](const Plan& self) { return self.executable->machine(); }, "What the plan was made for.");
  plan.def_prop_ro(
      "placement", [](const Plan& self) { return self.executable->policy(); },
      "How the ops were placed, in words: \"cpu0 alone\", \"split over gpu0 to gpu7\".");
  plan.def_prop_ro(
      "predicted_seconds", [](const Plan& self) { return self.executable->predictedSeconds(); },
      "Predicted seconds of a step among many.");
  plan.def_prop_ro(
      "lower_bound_seconds", [](const Plan& self) { return self.executable->lowerBoundSeconds(); },
      "Seconds that such a step takes at least in any schedule of this placement.");
  plan.def_prop_ro("steps", stepsOf,
                   "dfc.Step of each op that works, in the order of their predicted start.");
  plan.def_prop_ro("transfers", transfersOf, "dfc.Transfer of each copy between devices.");
  plan.def_prop_ro("memory", memoryOf, "dfc.DeviceMemory of each device, in bytes.");
  plan.def("dot", dotOf, "what"_a = "figure", nb::kw_only(), "by_scope"_a = true,
           "A picture in Graphviz' DOT language: 'figure' (a box a scope and device), 'placed' (every op) or "
           "'schedule' (a row a queue).");
  plan.def(
      "page", pageOf, "trace"_a.none() = nb::none(),
      "The page that `dfc view` writes, as one HTML text that needs nothing else: the graph by scopes, the "
      "timeline, memory and the explanation. trace: of a session of this plan, to be drawn beside the "
      "prediction.");
  plan.def(
      "save", [](const Plan& self, const PathLike& path) { orRaise(self.executable->save(pathOf(path))); },
      "path"_a, "Writes the plan: whole or not at all. `dfc run` takes it, too.");
  plan.def_static("load", loaded, "path"_a,
                  "Reads a plan; every stage is rebuilt and verified. Raises dfc.Error for a damaged one.");
  plan.def("__bytes__", bytesOf);
  plan.def("__getstate__", bytesOf);
  plan.def("__setstate__", [](Plan& self, const nb::bytes& bytes) { new (&self) Plan(planOfBytes(bytes)); });
  plan.def("__repr__", [](const Plan& self) {
    return fmt::format("<dfc.Plan of '{}' for '{}', {} steps, {:.3g} s a step>",
                       self.executable->graph().name(), self.executable->machine().name,
                       self.executable->schedule().steps.size(), self.executable->predictedSeconds());
  });
}

void bindTrace(nb::module_& module) {
  nb::class_<PlanTrace> trace(module, "Trace", "Which op ran on which queue from when to when; seconds.");
  trace.def_prop_ro(
      "measured", [](const PlanTrace& self) { return self.trace.origin == Trace::Origin::Measured; },
      "Whether a session measured it, or the plan predicts it.");
  trace.def_prop_ro(
      "backends",
      [](const PlanTrace& self) {
        nb::dict backends;
        for (size_t i = 0; i < self.trace.backends.size(); ++i) {
          if (const std::string& backend = self.trace.backends[i]; !backend.empty()) {
            backends[self.executable->machine().devices[DeviceId(i)].name.c_str()] = backend;
          }
        }
        return backends;
      },
      "The backend that ran each device: 'cpu', 'cuda', 'emulated'. Empty for a predicted trace.");
  trace.def_prop_ro(
      "makespan", [](const PlanTrace& self) { return self.trace.makespan(); },
      "Seconds from the first begin to the last end.");
  trace.def_prop_ro(
      "overlap", [](const PlanTrace& self) { return overlapSeconds(self.trace, *self.executable); },
      "Seconds in which at least one transfer and one computation were both under way.");
  trace.def_prop_ro(
      "spans",
      [](const PlanTrace& self) {
        const Executable& plan = *self.executable;
        nb::list spans;
        for (const Span& span : self.trace.spans) {
          const StepRow& row = plan.schedule().steps[span.step];
          const QueueRow& queue = plan.schedule().queues[row.queue];
          spans.append(plain("Span")(
              std::string(plan.graph().nameOf(row.op)), std::string(nameOf(plan.graph()[row.op].kind())),
              std::string(plan.graph().scopeOf(row.op)), plan.machine().devices[queue.device].name,
              queueName(plan, row.queue), span.stepNumber, span.begin, span.end));
        }
        return spans;
      },
      "dfc.Span of each, by begin.");
  trace.def(
      "chrome", [](const PlanTrace& self) { return chromeTrace({&self.trace}, *self.executable); },
      "Chrome's trace-event JSON: opens in Perfetto.");
  trace.def("__len__", [](const PlanTrace& self) { return self.trace.spans.size(); });
}

void bindOptions(nb::module_& module) {
  nb::class_<Options> options(module, "CompileOptions", "The options of dfc.compile, as it hands them on.");
  options.def(nb::init<>());
  options.def_rw("policy", &Options::policy).def_rw("skip_passes", &Options::skipPasses);
  options.def_rw("merge_launches", &Options::mergeLaunches).def_rw("peer_reads", &Options::peerReads);
  options.def_rw("plan_seconds", &Options::planSeconds).def_rw("calibrations", &Options::calibrations);
  options.def_prop_rw(
      "plan_steps", [](const Options& self) { return self.planSteps; },
      [](Options& self, std::optional<uint64_t> steps) { self.planSteps = steps; }, "value"_a.none());
  options.def(
      "pin",
      [](Options& self, const std::string& pattern, const std::string& device) {
        self.pins.push_back({pattern, device});
      },
      "pattern"_a, "device"_a);
  options.def(
      "split",
      [](Options& self, const std::string& pattern, int64_t axis, const std::string& devices) {
        self.splits.push_back({pattern, axis, devices});
      },
      "pattern"_a, "axis"_a, "devices"_a);
  options.def(
      "set_precision",
      [](Options& self, const std::string& word) { self.precision = precisionOf(nb::cast(word)); }, "word"_a);
}

} // namespace

void bindPlan(nb::module_& module) {
  bindOptions(module);
  bindTrace(module);
  bindPlanClass(module);
  module.def("compile_graph", compiled, "graph"_a, "machine"_a, "options"_a,
             "What dfc.compile calls, the interpreter's lock released.");
  module.def(
      "predicted_trace",
      [](const Plan& plan) {
        return PlanTrace{predictedTrace(*plan.executable), plan.executable};
      },
      "plan"_a, "The schedule's own predicted times.");
  module.def(
      "simulate",
      [](const Plan& plan) {
        return PlanTrace{simulate(*plan.executable).trace, plan.executable};
      },
      "plan"_a,
      "A discrete-event simulation of one step on the machine that the plan was made for, with contention "
      "for "
      "links and devices.");
}

} // namespace dfc::python
