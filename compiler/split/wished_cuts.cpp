#include "compiler/split/wished_cuts.h"

#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Sequence.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace dfc {
namespace {

bool matches(const std::string& pattern, std::string_view name) {
  return fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0;
}

std::optional<size_t> axisOf(const Graph& graph, const WishedCut& wish, ValueId value) {
  return normalAxis(wish.axis, graph.typeOf(value).shape.rank());
}

// "net.dfg:4"; empty for a wish of a caller.
std::string placeOf(const WishedCut& wish) {
  return wish.where.line == 0 ? "" : fmt::format(" at {}:{}", wish.where.file, wish.where.line);
}

Diagnostic contradicts(const WishedCut& wish, const WishedCut& other) {
  return errorAt(wish, fmt::format("{} contradicts {}{}", wish.text, other.text, placeOf(other)),
                 "leave out one of them; the other ops follow");
}

Diagnostic cannotCut(const Graph& graph, const WishedCut& wish, ValueId value, llvm::ArrayRef<size_t> axes) {
  Diagnostic error =
      errorAt(wish,
              fmt::format("{}: '{}', {}, cannot be cut along axis {}", wish.text, graph.nameOf(value),
                          toString(graph.typeOf(value)), wish.axis),
              graph.typeOf(value).shape.rank() == 0 ? "a scalar has no axis: cut what it is computed from"
              : axes.empty()                        ? "it cannot be cut among so many devices"
                             : fmt::format("it can be cut along axis {}", fmt::join(axes, ", ")));
  if (error.where.line == 0) {
    error.where = graph.locationOf(graph[value].producer);
  }
  return error;
}

/// Whether some layout meets the wishes [first, end).
bool canBeMet(const Graph& graph, llvm::ArrayRef<WishedCut> wishes, size_t first, size_t end,
              SplitChoices choices) {
  return require(graph, wishes.slice(first, end - first), choices).empty() &&
         std::isfinite(choices.choose({}).seconds);
}

} // namespace

Diagnostic errorAt(const WishedCut& wish, std::string message, std::string hint) {
  return inScope({Severity::Error, wish.where, std::move(message), std::move(hint)}, wish.scope);
}

Result<std::vector<WishedCut>> wishedCuts(const TakenCuts& taken, llvm::ArrayRef<SplitWish> wishes) {
  Diagnostics errors;
  std::vector<WishedCut> all;
  for (const SplitWish& wish : wishes) {
    WishedCut cut{fmt::format("split '{}:{}={}'", wish.pattern, wish.axis, wish.devices),
                  {},
                  wish.axis,
                  wish.devices,
                  {},
                  {}};
    llvm::copy_if(taken.graph.values(), std::back_inserter(cut.values),
                  [&](ValueId value) { return matches(wish.pattern, taken.graph.nameOf(value)); });
    if (cut.values.empty()) {
      errors.push_back(errorAt(cut, fmt::format("{} names no value", cut.text),
                               "patterns are globs over the names of inputs, parameters and results; passes "
                               "may rename results, never inputs and parameters"));
    }
    all.push_back(std::move(cut));
  }
  for (const TakenCut& cut : taken.cuts) {
    all.push_back({fmt::format("cut({}, axis={}, devices=\"{}\")", taken.graph.nameOf(cut.value), cut.axis,
                               cut.devices),
                   {cut.value},
                   cut.axis,
                   cut.devices,
                   cut.where,
                   cut.scope});
  }
  return errors.empty() ? Result<std::vector<WishedCut>>(std::move(all))
                        : Result<std::vector<WishedCut>>(std::move(errors));
}

Result<std::vector<DeviceId>> devicesOf(llvm::ArrayRef<WishedCut> wishes, const Machine& machine) {
  Diagnostics errors;
  std::vector<DeviceId> first;
  for (const WishedCut& wish : wishes) {
    std::vector<DeviceId> named;
    llvm::copy_if(machine.devices.ids(), std::back_inserter(named),
                  [&](DeviceId device) { return matches(wish.devices, machine.devices[device].name); });
    if (named.size() < 2) {
      errors.push_back(errorAt(wish,
                               fmt::format("{} names {} of machine '{}'", wish.text,
                                           named.empty() ? "no device" : "one device", machine.name),
                               "name two devices or more by a glob, such as 'gpu*'"));
    } else if (first.empty()) {
      first = named;
    } else if (named != first) {
      errors.push_back(errorAt(
          wish,
          fmt::format("{} names other devices than {}{}", wish.text, wishes[0].text, placeOf(wishes[0])),
          "give all wishes the same devices"));
    }
  }
  return errors.empty() ? Result<std::vector<DeviceId>>(std::move(first))
                        : Result<std::vector<DeviceId>>(std::move(errors));
}

Diagnostics require(const Graph& graph, llvm::ArrayRef<WishedCut> wishes, SplitChoices& choices) {
  Diagnostics errors;
  const SplitChoices all = choices;
  SideTable<OpId, const WishedCut*> before(graph.opCount(), nullptr);
  for (const WishedCut& wish : wishes) {
    for (const ValueId value : wish.values) {
      const WishedCut*& other = before[graph[value].producer];
      const std::optional<size_t> axis = axisOf(graph, wish, value);
      const std::vector<size_t> axes = all.axesOf(value);
      if (!axis || !llvm::is_contained(axes, *axis)) {
        errors.push_back(cannotCut(graph, wish, value, axes));
      } else if (!choices.require(value, *axis)) {
        errors.push_back(contradicts(wish, *other));
      } else {
        other = other == nullptr ? &wish : other;
      }
    }
  }
  return errors;
}

Diagnostic contradiction(const Graph& graph, llvm::ArrayRef<WishedCut> wishes, const SplitChoices& choices) {
  const auto meets = [&](size_t first, size_t last) {
    return canBeMet(graph, wishes, first, last + 1, choices);
  };
  // The first wish that cannot be met with all before it, then the last of these that it cannot be met with
  // and with those between them. Fewer wishes are easier to meet, so both are found by bisection.
  const auto indices = llvm::seq<size_t>(0, wishes.size());
  const size_t last = *std::partition_point(indices.begin(), std::prev(indices.end()),
                                            [&](size_t index) { return meets(0, index); });
  const auto before = llvm::seq<size_t>(1, last + 1);
  const size_t first = static_cast<size_t>(
      std::partition_point(before.begin(), before.end(), [&](size_t index) { return !meets(index, last); }) -
      before.begin());
  return first != last
             ? contradicts(wishes[last], wishes[first])
             : errorAt(wishes[last],
                       fmt::format("{}: no layout of the ops around it meets it", wishes[last].text),
                       "leave it out, or cut along another axis");
}

} // namespace dfc
