// verifyPlacement: every op on a device of the machine, inputs on the host, pins kept.
#include "ir/base/glob.h"
#include "ir/verify/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

class PlacementVerifier {
 public:
  PlacementVerifier(const Placement& placement, const Machine& machine)
      : graph_(placement.graph), device_(placement.device), machine_(machine), findings_(placement.graph) {}

  Diagnostics run() {
    if (device_.size() != graph_.opCount()) {
      findings_.add(fmt::format("{} ops, but {} have a device", graph_.opCount(), device_.size()));
      return findings_.take();
    }
    for (const OpId op : graph_.ops()) {
      check(op);
    }
    return findings_.take();
  }

 private:
  void check(OpId op) {
    const DeviceId device = device_[op];
    if (!machine_.devices.contains(device)) {
      findings_.at(op,
                   fmt::format("op '{}' is on {}, which machine '{}' does not have", graph_.nameOf(op),
                               deviceText(machine_, device), machine_.name),
                   "devices: " + deviceList(machine_));
      return;
    }
    if (graph_[op].kind() == OpKind::Input && device != machine_.host()) {
      findings_.at(op,
                   fmt::format("input '{}' is on {}, but feeds arrive on the host, {}", graph_.nameOf(op),
                               deviceText(machine_, device), deviceText(machine_, machine_.host())),
                   "place inputs on the host; transfers take them on");
    }
    checkPin(op, machine_.devices[device].name);
  }

  void checkPin(OpId op, std::string_view device) {
    const std::string_view pin = graph_.pinOf(op);
    if (pin.empty() || globMatches(pin, device)) {
      return;
    }
    const bool possible = std::any_of(machine_.devices.begin(), machine_.devices.end(),
                                      [&](const DeviceRow& row) { return globMatches(pin, row.name); });
    findings_.at(
        op,
        possible ? fmt::format("op '{}' is pinned to '{}' but placed on {}", graph_.nameOf(op), pin, device)
                 : fmt::format("op '{}' is pinned to '{}', which no device of machine '{}' matches",
                               graph_.nameOf(op), pin, machine_.name),
        possible ? "" : "devices: " + deviceList(machine_));
  }

  const Graph& graph_;
  const SideTable<OpId, DeviceId>& device_;
  const Machine& machine_;
  Findings findings_;
};

} // namespace

Diagnostics verifyPlacement(const Placement& placement, const Machine& machine) {
  return PlacementVerifier(placement, machine).run();
}

} // namespace dfc
