// verifyPlacedGraph: operands are where their ops run and transfers follow real routes; the rules of state
// are in placed_state.cpp.
#include "ir/verify/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr const char* compilerFault = "this plan was not made by dfc's compiler; compile the graph again";

class PlacedVerifier {
 public:
  PlacedVerifier(const PlacedGraph& placed, const Machine& machine)
      : placed_(placed), graph_(placed.graph), machine_(machine), findings_(placed.graph) {}

  Diagnostics run() {
    if (!checkDevices()) {
      return findings_.take();
    }
    for (const OpId op : graph_.ops()) {
      checkOp(op);
    }
    checkTransferKeys();
    checkPlacedState(placed_, machine_, findings_);
    if (findings_.empty()) {
      return verifyWholeState(graph_, [&](OpId op) { return placed_.replicas.count(op) != 0; });
    }
    return findings_.take();
  }

 private:
  std::string name(OpId op) const { return std::string(graph_.nameOf(op)); }
  std::string device(OpId op) const { return deviceText(machine_, placed_.device[op]); }
  OpId producer(ValueId value) const { return graph_[value].producer; }

  bool checkDevices() {
    if (placed_.device.size() != graph_.opCount()) {
      findings_.add(fmt::format("{} ops, but {} have a device", graph_.opCount(), placed_.device.size()));
      return false;
    }
    for (const OpId op : graph_.ops()) {
      if (!machine_.devices.contains(placed_.device[op])) {
        findings_.at(op,
                     fmt::format("op '{}' is on {}, which machine '{}' does not have", name(op), device(op),
                                 machine_.name),
                     "devices: " + deviceList(machine_));
      }
    }
    return findings_.empty();
  }

  void checkOp(OpId op) {
    const OpKind kind = graph_[op].kind();
    if (classOf(kind) == OpClass::Request) {
      findings_.at(op, fmt::format("op '{}' ({}) is a request that a pass should have replaced", name(op),
                                   dfc::nameOf(kind)));
    }
    if (kind == OpKind::Input && placed_.device[op] != machine_.host()) {
      findings_.at(op, fmt::format("input '{}' is on {}, but feeds arrive on the host, {}", name(op),
                                   device(op), deviceText(machine_, machine_.host())));
    }
    if (kind == OpKind::Transfer) {
      checkTransfer(op);
    } else {
      checkOperands(op);
    }
  }

  void checkOperands(OpId op) {
    for (const ValueId operand : graph_[op].operands) {
      if (placed_.device[producer(operand)] != placed_.device[op]) {
        findings_.at(op,
                     fmt::format("op '{}' on {} reads '{}', which is on {}", name(op), device(op),
                                 graph_.nameOf(operand), device(producer(operand))),
                     "a transfer between the two is missing");
      }
    }
  }

  void checkTransfer(OpId op) {
    const auto found = placed_.transfers.find(op);
    if (found == placed_.transfers.end()) {
      findings_.at(op, fmt::format("transfer '{}' has no route", name(op)), compilerFault);
      return;
    }
    const TransferRow& row = found->second;
    const ValueId value = graph_[op].operands[0];
    const DeviceId source = placed_.device[producer(value)];
    if (row.from != source || row.to != placed_.device[op] || row.from == row.to) {
      findings_.at(
          op, fmt::format("transfer '{}' goes from {} to {}, but its value is on {} and its result on {}",
                          name(op), deviceText(machine_, row.from), deviceText(machine_, row.to),
                          deviceText(machine_, source), device(op)));
    }
    checkRoute(op, row);
    if (row.bytes != graph_.typeOf(value).bytes()) {
      findings_.at(op, fmt::format("transfer '{}' moves {} bytes of a value of {}", name(op), row.bytes,
                                   graph_.typeOf(value).bytes()));
    }
    const auto [first, isNew] = arrivals_.try_emplace({value, row.to}, op);
    if (!isNew) {
      findings_.at(op,
                   fmt::format("transfers '{}' and '{}' both take '{}' to {}", name(first->second), name(op),
                               graph_.nameOf(value), deviceText(machine_, row.to)),
                   "one transfer serves every reader there");
    }
  }

  void checkRoute(OpId op, const TransferRow& row) {
    if (routes_.empty()) {
      for (const Route& route : machine_.routes) {
        routes_.try_emplace({route.from, route.to}, &route);
      }
    }
    const bool real = machine_.devices.contains(row.from) && machine_.devices.contains(row.to);
    const auto found = real ? routes_.find({row.from, row.to}) : routes_.end();
    if (found == routes_.end()) {
      findings_.at(op,
                   fmt::format("transfer '{}' takes no route of machine '{}': there is none from {} to {}",
                               name(op), machine_.name, deviceText(machine_, row.from),
                               deviceText(machine_, row.to)),
                   "stage it over a device that both reach");
    } else if (llvm::ArrayRef<LinkId>(found->second->links) != llvm::ArrayRef<LinkId>(row.links)) {
      findings_.at(op, fmt::format("transfer '{}' occupies other links than the route from {} to {}",
                                   name(op), deviceText(machine_, row.from), deviceText(machine_, row.to)));
    }
  }

  void checkTransferKeys() {
    for (const auto& [op, row] : placed_.transfers) {
      if (!op.valid() || op.index() >= graph_.opCount() || graph_[op].kind() != OpKind::Transfer) {
        strays_.push_back(op);
      }
    }
    std::sort(strays_.begin(), strays_.end());
    for (const OpId op : strays_) {
      findings_.add(op.index() < graph_.opCount()
                        ? fmt::format("op '{}' has a route but is no transfer", name(op))
                        : fmt::format("op {} has a route but does not exist", op.index()));
    }
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  Findings findings_;
  llvm::DenseMap<std::pair<ValueId, DeviceId>, OpId> arrivals_;
  llvm::DenseMap<std::pair<DeviceId, DeviceId>, const Route*> routes_;
  std::vector<OpId> strays_;
};

} // namespace

Diagnostics verifyPlacedGraph(const PlacedGraph& placed, const Machine& machine) {
  Diagnostics errors = verifyGraph(placed.graph);
  return errors.empty() ? PlacedVerifier(placed, machine).run() : errors;
}

} // namespace dfc
