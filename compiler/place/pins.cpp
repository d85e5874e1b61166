// Pins: from the names that the author wrote to devices of this machine, with every pin that cannot hold
// named.
#include "compiler/place/pins.h"
#include "ir/graph/rewriter.h"

#include <fmt/format.h>
#include <fnmatch.h>

namespace dfc {
namespace {

/// Candidates for a near match of `wanted`: the devices of the kind that it begins with, else all devices.
std::vector<std::string> likelyDevices(const std::string& wanted, const Machine& machine) {
  std::vector<std::string> names;
  for (const DeviceRow& device : machine.devices) {
    const DeviceKind other = device.kind == DeviceKind::Cpu ? DeviceKind::Gpu : DeviceKind::Cpu;
    if (!wanted.starts_with(name(other))) {
      names.push_back(device.name);
    }
  }
  return names;
}

bool matches(const PinRule& rule, const Graph& graph, OpId op) {
  const auto match = [&](std::string_view text) {
    return fnmatch(rule.pattern.c_str(), std::string(text).c_str(), 0) == 0;
  };
  return llvm::any_of(graph[op].results(), [&](ValueId result) { return match(graph.nameOf(result)); }) ||
         (!graph.scopeOf(op).empty() && match(graph.scopeOf(op)));
}

class PinResolver {
 public:
  PinResolver(const Graph& graph, const Machine& machine)
      : graph_(graph), machine_(machine), pins_(graph.opCount()) {}

  Result<SideTable<OpId, DeviceId>> resolve() {
    readGraph();
    checkInputs();
    joinAssigns();
    if (!errors_.empty()) {
      return std::move(errors_);
    }
    return std::move(pins_);
  }

 private:
  void readGraph() {
    llvm::DenseMap<StringId, DeviceId> devices;
    for (const OpId op : graph_.ops()) {
      const StringId pin = graph_[op].pin;
      if (!graph_.text(pin).empty()) {
        const auto [found, isNew] = devices.try_emplace(pin);
        if (isNew) {
          found->second = machine_.findDevice(graph_.text(pin));
        }
        pins_[op] = found->second;
      }
    }
    for (MissingDevice& missing : missingDevices(graph_, machine_)) {
      errors_.push_back(std::move(missing.error));
    }
  }

  // An input inside a pinned scope is copied to that device by a transfer. Only a pin on the input itself
  // that names another device than the host is refused.
  void checkInputs() {
    const DeviceId host = machine_.host();
    for (const OpId op : graph_.opsOf(OpKind::Input)) {
      if (pins_[op].valid() && pins_[op] != host) {
        report(op,
               fmt::format("input '{}' is pinned to {}, but inputs arrive on the host, {}", graph_.nameOf(op),
                           machine_.devices[pins_[op]].name, machine_.devices[host].name),
               "leave the pin out: dfc copies the input to every device that reads it");
      }
    }
  }

  void joinAssigns() {
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      const OpId parameter = graph_[graph_[op].operands[0]].producer;
      DeviceId& home = pins_[parameter];
      DeviceId& writer = pins_[op];
      if (home.valid() && writer.valid() && home != writer) {
        report(op,
               fmt::format("parameter '{}' is pinned to {}, its assign to {}", graph_.nameOf(parameter),
                           machine_.devices[home].name, machine_.devices[writer].name),
               "pin the parameter where its assign runs, or leave one of the pins out");
      }
      home = home.valid() ? home : writer;
      writer = home;
    }
  }

  void report(OpId op, std::string message, std::string hint) {
    errors_.push_back({Severity::Error, graph_.locationOf(op), std::move(message), std::move(hint)});
  }

  const Graph& graph_;
  const Machine& machine_;
  SideTable<OpId, DeviceId> pins_;
  Diagnostics errors_;
};

/// The new pin of every op that a rule matches.
class RuleMatcher {
 public:
  RuleMatcher(const Graph& graph, const Machine& machine)
      : graph_(graph), machine_(machine), pins_(graph.opCount()) {}

  void match(const PinRule& rule) {
    if (!machine_.findDevice(rule.device).valid()) {
      errors_.push_back(
          errorWithoutPlace(fmt::format("pin '{}={}' names a device that machine '{}' does not have",
                                        rule.pattern, rule.device, machine_.name),
                            unknownDeviceHint(rule.device, machine_)));
      return;
    }
    bool any = false;
    for (const OpId op : graph_.ops()) {
      if (graph_[op].kind() != OpKind::Input && matches(rule, graph_, op)) {
        pins_[op] = rule.device;
        any = true;
      }
    }
    if (!any) {
      errors_.push_back(
          errorWithoutPlace(fmt::format("pin '{}={}' matches no op and no scope", rule.pattern, rule.device),
                            "patterns are globs over op names and whole scope paths, such as 'fc1*' or "
                            "'*/loss'; inputs stay on the host"));
    }
  }

  Result<Graph> pinned() && {
    if (!errors_.empty()) {
      return std::move(errors_);
    }
    Rewriter rewriter(graph_);
    for (const OpId op : graph_.ops()) {
      const OpId copy = rewriter.copy(op);
      if (!pins_[op].empty()) {
        rewriter.builder().repin(copy, pins_[op]);
      }
    }
    return std::move(rewriter).finish();
  }

 private:
  const Graph& graph_;
  const Machine& machine_;
  SideTable<OpId, std::string> pins_;
  Diagnostics errors_;
};

} // namespace

std::string unknownDeviceHint(const std::string& wanted, const Machine& machine) {
  constexpr size_t shown = 16;
  std::vector<std::string> names;
  for (const DeviceRow& device : machine.devices) {
    names.push_back(names.size() == shown ? "…" : device.name);
    if (names.size() > shown) {
      break;
    }
  }
  const auto near = nearestName(wanted, likelyDevices(wanted, machine));
  return fmt::format("{}machine '{}' has {}{}", near ? fmt::format("did you mean '{}'? ", *near) : "",
                     machine.name, names.size() == 1 ? "only " : "", fmt::join(names, ", "));
}

std::vector<MissingDevice> missingDevices(const Graph& graph, const Machine& machine) {
  std::vector<MissingDevice> missing;
  llvm::DenseSet<StringId> seen;
  for (const OpId op : graph.ops()) {
    const StringId id = graph[op].pin;
    if (graph.text(id).empty() || !seen.insert(id).second || machine.findDevice(graph.text(id)).valid()) {
      continue;
    }
    const std::string pin(graph.text(id));
    missing.push_back({pin,
                       {Severity::Error, graph.locationOf(op),
                        fmt::format("'{}' is pinned to '{}', which machine '{}' does not have",
                                    graph.nameOf(op), pin, machine.name),
                        unknownDeviceHint(pin, machine)}});
  }
  return missing;
}

Result<Graph> applyPinRules(const Graph& graph, const Machine& machine, llvm::ArrayRef<PinRule> rules) {
  if (rules.empty()) {
    return graph;
  }
  RuleMatcher matcher(graph, machine);
  for (const PinRule& rule : rules) {
    matcher.match(rule);
  }
  return std::move(matcher).pinned();
}

bool pinnedAlike(const Graph& graph, OpId a, OpId b, llvm::ArrayRef<PinRule> rules) {
  return llvm::all_of(
      rules, [&](const PinRule& rule) { return matches(rule, graph, a) == matches(rule, graph, b); });
}

Result<SideTable<OpId, DeviceId>> resolvePins(const Graph& graph, const Machine& machine) {
  return PinResolver(graph, machine).resolve();
}

} // namespace dfc
