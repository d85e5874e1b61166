#include "compiler/offload/state_updates.h"

#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>

namespace dfc {
namespace {

class UpdateFinder {
 public:
  UpdateFinder(const Placement& placement, const SideTable<OpId, bool>& isFree,
               const SideTable<DeviceId, int64_t>& leastBytes)
      : graph_(placement.graph), device_(placement.device), isFree_(isFree), leastBytes_(leastBytes),
        readsState_(graph_.opCount(), false), updates_(graph_.opCount(), false),
        readers_(graph_.valueCount()) {}

  std::vector<StateUpdate> run() {
    noteReaders();
    for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
      walkBack(graph_[graph_[assign].operands[1]].producer);
    }
    join();
    return collect();
  }

 private:
  bool isLarge(ValueId value, DeviceId device) const {
    return graph_.typeOf(value).bytes() >= leastBytes_[device];
  }

  bool isElementwise(OpId op) const {
    const OpKind kind = graph_[op].kind();
    return classOf(kind) == OpClass::Elementwise || kind == OpKind::Fused;
  }

  // Ops come behind their operands.
  void noteReaders() {
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      for (const ValueId operand : row.operands) {
        readers_[operand].push_back(op);
        const OpId from = graph_[operand].producer;
        readsState_[op] =
            readsState_[op] || (isElementwise(op) && isLarge(operand, device_[op]) &&
                                (graph_[from].kind() == OpKind::Parameter || readsState_[from]));
      }
    }
  }

  bool mayBeUpdate(OpId op) const {
    return isElementwise(op) && readsState_[op] && isFree_[op] &&
           llvm::any_of(graph_[op].results(), [&](ValueId value) { return isLarge(value, device_[op]); });
  }

  // From the next value of a parameter to its gradient, which does not depend on state by elements.
  void walkBack(OpId op) {
    llvm::SmallVector<OpId, 16> left{op};
    while (!left.empty()) {
      const OpId next = left.pop_back_val();
      if (updates_[next] || !mayBeUpdate(next) || device_[next] != device_[op]) {
        continue;
      }
      updates_[next] = true;
      for (const ValueId operand : graph_[next].operands) {
        left.push_back(graph_[operand].producer);
      }
    }
  }

  void join() {
    std::map<ValueId, OpId> firstReader;
    for (const OpId op : graph_.ops()) {
      if (!updates_[op]) {
        continue;
      }
      classes_.insert(op.index());
      for (const ValueId operand : graph_[op].operands) {
        const OpId from = graph_[operand].producer;
        if (!isLarge(operand, device_[op])) {
          continue;
        }
        if (updates_[from]) {
          classes_.unionSets(from.index(), op.index());
        } else if (graph_[from].kind() == OpKind::Parameter) {
          const auto [first, isNew] = firstReader.try_emplace(operand, op);
          classes_.unionSets(first->second.index(), op.index());
        }
      }
    }
  }

  std::vector<StateUpdate> collect() {
    std::map<uint32_t, StateUpdate> byLeader; // in the order of the graph's ops
    for (const OpId op : graph_.ops()) {
      if (updates_[op]) {
        addOp(byLeader[classes_.getLeaderValue(op.index())], op);
      }
    }
    for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
      const OpId from = graph_[graph_[assign].operands[1]].producer;
      const OpId parameter = graph_[graph_[assign].operands[0]].producer;
      if (updates_[from] && device_[assign] == device_[from] && isFree_[assign] && isFree_[parameter] &&
          isLarge(graph_[assign].operands[0], device_[from])) {
        addParameter(byLeader[classes_.getLeaderValue(from.index())], parameter, assign);
      }
    }
    std::vector<StateUpdate> all;
    for (auto& [leader, update] : byLeader) {
      if (update.freedBytes > 0) {
        all.push_back(std::move(update));
      }
    }
    return all;
  }

  // A reader behind the update keeps a replica on its device; a cast to 16 bits keeps one of 16 bits, which
  // the device has already.
  void addParameter(StateUpdate& update, OpId parameter, OpId assign) const {
    const ValueId value = graph_[parameter].firstResult;
    const int64_t bytes = graph_.typeOf(value).bytes();
    bool isOwn = true;
    int64_t read = 0; // by other ops of the device
    for (const OpId reader : readers_[value]) {
      const bool isOther = !updates_[reader] && graph_[reader].kind() != OpKind::Assign;
      isOwn = isOwn && !isOther;
      if (isOther && device_[reader] == update.device) {
        const bool isCast = graph_[reader].kind() == OpKind::Cast;
        read = std::max(read, isCast ? graph_.typeOf(graph_[reader].firstResult).bytes() : bytes);
      }
    }
    update.parameters.push_back(parameter);
    update.assigns.push_back(assign);
    update.bytesOut += read;
    update.freedBytes += 2 * read <= bytes ? bytes : 0;
    if (isOwn) {
      update.own.push_back(parameter);
      update.ownAssigns.push_back(assign);
      update.ownBytes += bytes;
    }
  }

  // A value that several ops of the update read is copied once.
  void addOp(StateUpdate& update, OpId op) const {
    update.device = device_[op];
    for (const ValueId operand : graph_[op].operands) {
      const OpId from = graph_[operand].producer;
      const bool isOther = !updates_[from] && graph_[from].kind() != OpKind::Parameter;
      const bool isFirst = llvm::find_if(readers_[operand], [&](OpId reader) {
                             return updates_[reader] && device_[reader] == update.device;
                           }) == llvm::find(readers_[operand], op);
      update.bytesIn += isOther && isFirst ? graph_.typeOf(operand).bytes() : 0;
    }
    update.ops.push_back(op);
  }

  const Graph& graph_;
  const SideTable<OpId, DeviceId>& device_;
  const SideTable<OpId, bool>& isFree_;
  const SideTable<DeviceId, int64_t>& leastBytes_;
  SideTable<OpId, bool> readsState_, updates_;
  SideTable<ValueId, llvm::SmallVector<OpId, 2>> readers_;
  llvm::EquivalenceClasses<uint32_t> classes_;
};

} // namespace

std::vector<StateUpdate> stateUpdates(const Placement& placement, const SideTable<OpId, bool>& isFree,
                                      const SideTable<DeviceId, int64_t>& leastBytes) {
  return UpdateFinder(placement, isFree, leastBytes).run();
}

} // namespace dfc
