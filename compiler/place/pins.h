// Pins: the devices that an author, or a rule beside the graph, asks for. Settled before any policy.
#pragma once

#include "compiler/place/pin_rule.h"
#include "ir/graph/graph.h"
#include "ir/machine/machine.h"

#include <string>
#include <vector>

namespace dfc {

/// The graph with the rules' pins in place of its own where a rule matches; the last match wins. Errors, all
/// at once: a rule that matches nothing, an unknown device.
Result<Graph> applyPinRules(const Graph& graph, const Machine& machine, llvm::ArrayRef<PinRule> rules);

/// Whether the same rules match both ops of the graph.
bool pinnedAlike(const Graph& graph, OpId a, OpId b, llvm::ArrayRef<PinRule> rules);

/// The hint for a device name that the machine does not have: the machine's devices, and a near match among
/// devices of the kind that the name begins with ("gpu7" is never taken for "cpu0").
std::string unknownDeviceHint(const std::string& wanted, const Machine& machine);

/// A device that pins ask for and the machine does not have, with the error at the first op that does.
struct MissingDevice {
  std::string device;
  Diagnostic error;
};
/// Each once, in the order of the ops.
std::vector<MissingDevice> missingDevices(const Graph& graph, const Machine& machine);

/// The device that the graph's pins ask for, by op; a parameter and its assign share theirs. Errors, all at
/// once: an unknown device, an input pinned off the host, a parameter and its assign pinned apart.
Result<SideTable<OpId, DeviceId>> resolvePins(const Graph& graph, const Machine& machine);

} // namespace dfc
