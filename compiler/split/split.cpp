#include "compiler/split/split.h"

#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <llvm/ADT/STLExtras.h>

#include <cmath>
#include <optional>

namespace dfc {
namespace {

// Of a second on a link, in seconds of computation: dear, half hidden, all but hidden.
constexpr double prices[] = {1, 0.25, 0.05};

bool hasPins(const Graph& graph) {
  return llvm::any_of(graph.ops(), [&](OpId op) {
    return graph[op].kind() != OpKind::Input && !graph.text(graph[op].pin).empty();
  });
}

// Whether an input or a parameter is a part or a copy already.
bool hasParts(const Graph& graph) {
  return llvm::any_of(graph.opsOf(OpKind::Input),
                      [&](OpId op) { return !graph[op].as<ops::Input>().of.empty(); }) ||
         llvm::any_of(graph.opsOf(OpKind::Parameter), [&](OpId op) {
           const auto& parameter = graph[op].as<ops::Parameter>();
           return !parameter.of.empty() || parameter.part.isPart();
         });
}

bool sameOptions(const Graph& graph, const SplitPlan& a, const SplitPlan& b) {
  return llvm::all_of(graph.ops(), [&](OpId op) {
    return a.option[op].form == b.option[op].form && a.option[op].factor == b.option[op].factor;
  });
}

bool splitsAnything(const Graph& graph, const SplitPlan& plan) {
  return llvm::any_of(graph.ops(), [&](OpId op) {
    return plan.option[op].form == OpOption::Form::Parts && classOf(graph[op].kind()) != OpClass::Source;
  });
}

bool matches(const std::string& pattern, std::string_view name) {
  return fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0;
}

std::string textOf(const SplitWish& wish) {
  return fmt::format("split '{}:{}={}'", wish.pattern, wish.axis, wish.devices);
}

/// The devices that the wishes name, or why there are none.
Result<std::vector<DeviceId>> devicesOf(llvm::ArrayRef<SplitWish> wishes, const Machine& machine) {
  Diagnostics errors;
  std::vector<DeviceId> first;
  for (const SplitWish& wish : wishes) {
    std::vector<DeviceId> named;
    for (const DeviceId device : machine.devices.ids()) {
      if (matches(wish.devices, machine.devices[device].name)) {
        named.push_back(device);
      }
    }
    if (named.size() < 2) {
      errors.push_back(
          errorWithoutPlace(fmt::format("{} names {} of machine '{}'", textOf(wish),
                                        named.empty() ? "no device" : "one device", machine.name),
                            "name two devices or more by a glob, such as 'gpu*'"));
    } else if (first.empty()) {
      first = named;
    } else if (named != first) {
      errors.push_back(
          errorWithoutPlace(fmt::format("{} names other devices than {}", textOf(wish), textOf(wishes[0])),
                            "give all wishes the same devices"));
    }
  }
  return errors.empty() ? Result<std::vector<DeviceId>>(std::move(first))
                        : Result<std::vector<DeviceId>>(std::move(errors));
}

Diagnostic cannotCut(const Graph& graph, const SplitWish& wish, ValueId value, const SplitChoices& choices) {
  const std::vector<size_t> axes = choices.axesOf(value);
  return {Severity::Error, graph.locationOf(graph[value].producer),
          fmt::format("{}: '{}', {}, cannot be cut along axis {}", textOf(wish), graph.nameOf(value),
                      toString(graph.typeOf(value)), wish.axis),
          axes.empty() ? "it cannot be cut among so many devices"
                       : fmt::format("it can be cut along axis {}", fmt::join(axes, ", "))};
}

Diagnostics require(const Graph& graph, llvm::ArrayRef<SplitWish> wishes, SplitChoices& choices) {
  Diagnostics errors;
  for (const SplitWish& wish : wishes) {
    bool any = false;
    for (const ValueId value : graph.values()) {
      if (matches(wish.pattern, graph.nameOf(value))) {
        any = true;
        const std::optional<size_t> axis = normalAxis(wish.axis, graph.typeOf(value).shape.rank());
        if (!axis || !choices.require(value, *axis)) {
          errors.push_back(cannotCut(graph, wish, value, choices));
        }
      }
    }
    if (!any) {
      errors.push_back(
          errorWithoutPlace(fmt::format("{} names no value", textOf(wish)),
                            "patterns are globs over the names of inputs, parameters and results; passes may "
                            "rename results, never inputs and parameters"));
    }
  }
  return errors;
}

/// The plans of a mesh, each different from the others, for several prices.
void addPlans(const Graph& graph, const SplitChoices& choices, const Machine& machine,
              std::vector<SplitGraph>& candidates) {
  std::vector<SplitPlan> plans;
  for (const double price : prices) {
    SplitPlan plan = choices.choose(price);
    if (std::isfinite(plan.seconds) && splitsAnything(graph, plan) &&
        llvm::none_of(plans, [&](const SplitPlan& other) { return sameOptions(graph, plan, other); })) {
      plans.push_back(std::move(plan));
    }
  }
  for (SplitPlan& plan : plans) {
    SplitGraph candidate{{}, plan, fmt::format("split over {}", toString(plan.mesh, machine)), graph, {}};
    candidate.graph = expandSplit(graph, plan, machine, &candidate.movements);
    candidates.push_back(std::move(candidate));
  }
}

Result<std::vector<SplitGraph>> wishedCandidates(const Graph& graph, const Machine& machine,
                                                 const CostModel& cost, llvm::ArrayRef<SplitWish> wishes) {
  auto devices = devicesOf(wishes, machine);
  if (!devices) {
    return devices.errors();
  }
  SplitChoices choices(graph, meshOfAll(*std::move(devices), graph, machine, cost), machine, cost,
                       OptionSpace::All);
  if (Diagnostics errors = require(graph, wishes, choices); !errors.empty()) {
    return errors;
  }
  std::vector<SplitGraph> candidates;
  addPlans(graph, choices, machine, candidates);
  if (candidates.empty()) {
    return errorWithoutPlace(
        "the wishes for a split contradict one another: no layout of the ops between meets them",
        "leave one of them out; the other ops follow");
  }
  return candidates;
}

} // namespace

Result<std::vector<SplitGraph>> splitCandidates(const Graph& written, const Machine& machine,
                                                const CostModel& cost, llvm::ArrayRef<SplitWish> wishes) {
  std::vector<SplitGraph> candidates;
  if (hasPins(written) || hasParts(written)) {
    return wishes.empty()
               ? Result<std::vector<SplitGraph>>(std::move(candidates))
               : errorWithoutPlace(fmt::format("a graph with {} is not split",
                                               hasPins(written) ? "pins" : "parts of inputs or parameters"),
                                   "leave them out, or the wishes for a split");
  }
  const Graph graph = unfoldBatchNorms(written);
  if (!wishes.empty()) {
    return wishedCandidates(graph, machine, cost, wishes);
  }
  if (machine.devices.size() > 1) {
    for (const Mesh& mesh : candidateMeshes(graph, machine, cost)) {
      addPlans(graph, SplitChoices(graph, mesh, machine, cost), machine, candidates);
    }
  }
  return candidates;
}

} // namespace dfc
