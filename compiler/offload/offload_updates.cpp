#include "compiler/offload/offload_updates.h"

#include "compiler/offload/state_updates.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace dfc {
namespace {

/// Updates on a device with copies of their state there at the same time: double buffering.
constexpr int64_t updatesAtOnce = 2;
/// Part of a device's memory below which values are too small to be worth a copy of their own.
constexpr double smallPart = 1e-3;

class Offloader {
 public:
  Offloader(const Placement& placement, const StepOrder& order, const Machine& machine, const CostModel& cost,
            StateCopies copies)
      : placement_(placement), order_(order), machine_(machine), cost_(cost), copies_(copies),
        leastBytes_(leastBytes()) {}

  std::optional<Offloaded> run(double margin) const {
    SideTable<DeviceId, int64_t> lacking = lack(margin);
    std::vector<StateUpdate> updates = stateUpdates(placement_, freeOps(lacking), leastBytes_);
    const SideTable<OpId, size_t> at = positions();
    llvm::stable_sort(
        updates, [&](const StateUpdate& a, const StateUpdate& b) { return readyAt(a, at) < readyAt(b, at); });
    Choice choice{SideTable<OpId, bool>(placement_.graph.opCount(), false),
                  SideTable<OpId, bool>(placement_.graph.opCount(), false)};
    Load load{std::vector<double>(machine_.links.size(), 0)};
    load.room = roomForCopies(updates);
    for (const StateUpdate& update : updates) {
      if (lacking[update.device] > 0) {
        lacking[update.device] -= take(update, choice, load);
      }
    }
    if (choice.onHost + choice.streamed == 0) {
      return std::nullopt;
    }
    return Offloaded{moved(choice), choice.onHost, choice.streamed};
  }

 private:
  /// Seconds of a step.
  struct Load {
    std::vector<double> links; ///< by index
    double host = 0;           ///< of its memory: by updates and copies
    /// Bytes of gradients that are yet to leave a device before state is copied there.
    SideTable<DeviceId, int64_t> room = {};

    double most() const {
      return std::accumulate(links.begin(), links.end(), host,
                             [](double a, double b) { return std::max(a, b); });
    }
  };

  struct Choice {
    SideTable<OpId, bool> moves, streams; ///< to the host; of these, parameters that updates elsewhere read
    size_t onHost = 0, streamed = 0;
  };

  // A copy also takes a part of the bandwidth of the host's memory, which its ops need.
  void addCopy(Load& load, DeviceId from, DeviceId to, int64_t bytes) const {
    const double bandwidth = machine_.devices[machine_.host()].memoryBandwidth;
    load.host += bandwidth > 0 ? static_cast<double>(bytes) / bandwidth : 0;
    const auto path = machine_.path(from, to, bytes);
    for (const Route& route : *path) {
      for (const LinkId link : route.links) {
        load.links[link.index()] += cost_.transferSeconds(machine_, route, bytes);
      }
    }
  }

  // The bytes that it frees.
  int64_t take(const StateUpdate& update, Choice& choice, Load& load) const {
    const DeviceId host = machine_.host();
    Load there = load, here = load;
    addCopy(there, update.device, host, update.bytesIn);
    addCopy(there, host, update.device, update.bytesOut);
    for (const OpId op : update.ops) {
      there.host += cost_.opSeconds(placement_.graph, op, machine_, host);
    }
    addCopy(here, host, update.device, update.ownBytes);
    addCopy(here, update.device, host, update.ownBytes);
    const bool mayStream = copies_ != StateCopies::None && load.room[update.device] <= 0;
    const bool streams = mayStream && update.ownBytes > 0 && here.most() < there.most();
    there.room[update.device] -= update.bytesIn;
    load = streams ? std::move(here) : std::move(there);
    for (const auto* ops : {&update.own, &update.ownAssigns}) {
      llvm::for_each(*ops, [&](OpId op) { choice.moves[op] = true; });
    }
    if (streams) {
      llvm::for_each(update.own, [&](OpId op) { choice.streams[op] = true; });
      choice.streamed += update.own.size();
      return update.ownBytes;
    }
    for (const auto* ops : {&update.ops, &update.parameters, &update.assigns}) {
      llvm::for_each(*ops, [&](OpId op) { choice.moves[op] = true; });
    }
    choice.onHost += update.parameters.size();
    return update.freedBytes;
  }

  SideTable<DeviceId, int64_t> roomForCopies(const std::vector<StateUpdate>& updates) const {
    SideTable<DeviceId, int64_t> room(machine_.devices.size(), 0);
    for (const StateUpdate& update : updates) {
      int64_t& bytes = room[update.device];
      bytes = copies_ == StateCopies::Later ? std::max(bytes, updatesAtOnce * update.ownBytes) : 0;
    }
    return room;
  }

  SideTable<DeviceId, int64_t> lack(double margin) const {
    SideTable<DeviceId, int64_t> bytes(machine_.devices.size(), 0);
    for (const DeviceId device : machine_.devices.ids()) {
      const int64_t capacity = machine_.devices[device].memoryBytes;
      if (capacity > 0 && device != machine_.host()) {
        bytes[device] = order_.peak[device] - order_.available[device] +
                        std::llround(margin * static_cast<double>(capacity));
      }
    }
    return bytes;
  }

  SideTable<DeviceId, int64_t> leastBytes() const {
    SideTable<DeviceId, int64_t> bytes(machine_.devices.size(), 1);
    for (const DeviceId device : machine_.devices.ids()) {
      bytes[device] = std::max<int64_t>(
          1, std::llround(smallPart * static_cast<double>(machine_.devices[device].memoryBytes)));
    }
    return bytes;
  }

  SideTable<OpId, bool> freeOps(const SideTable<DeviceId, int64_t>& lacking) const {
    SideTable<OpId, bool> free(placement_.graph.opCount(), false);
    for (const OpId op : placement_.graph.ops()) {
      free[op] = lacking[placement_.device[op]] > 0 &&
                 std::isfinite(cost_.opSeconds(placement_.graph, op, machine_, machine_.host()));
    }
    return free;
  }

  SideTable<OpId, size_t> positions() const {
    SideTable<OpId, size_t> at(placement_.graph.opCount(), 0);
    for (size_t i = 0; i < order_.ops.size(); ++i) {
      at[order_.ops[i]] = i;
    }
    return at;
  }

  // When the last large value that it reads of other ops has been made: its gradient, not a rate or a factor,
  // which the order may leave to the end.
  size_t readyAt(const StateUpdate& update, const SideTable<OpId, size_t>& at) const {
    size_t ready = 0;
    for (const OpId op : update.ops) {
      for (const ValueId operand : placement_.graph[op].operands) {
        const OpId from = placement_.graph[operand].producer;
        const bool isLarge = placement_.graph.typeOf(operand).bytes() >= leastBytes_[update.device];
        ready = isLarge && !llvm::is_contained(update.ops, from) ? std::max(ready, at[from]) : ready;
      }
    }
    return ready;
  }

  // The copy of every op has the id of the op.
  Placement moved(const Choice& choice) const {
    const DeviceId host = machine_.host();
    Placement made{placement_.graph, placement_.device, placement_.policy, placement_.recomputed,
                   choice.streams};
    Rewriter rewriter(placement_.graph);
    for (const OpId op : placement_.graph.ops()) {
      const OpId copy = rewriter.copy(op);
      if (!choice.moves[op]) {
        continue;
      }
      if (!placement_.graph.pinOf(op).empty()) { // the pin of a split's part
        rewriter.builder().repin(copy, machine_.devices[host].name);
      }
      made.device[op] = host;
      if (!made.recomputed.empty()) {
        made.recomputed[op] = false;
      }
    }
    made.graph = std::move(rewriter).finish();
    return made;
  }

  const Placement& placement_;
  const StepOrder& order_;
  const Machine& machine_;
  const CostModel& cost_;
  const StateCopies copies_;
  const SideTable<DeviceId, int64_t> leastBytes_;
};

} // namespace

std::optional<Offloaded> offloadUpdates(const Placement& placement, const StepOrder& order,
                                        const Machine& machine, const CostModel& cost, double margin,
                                        StateCopies copies) {
  return Offloader(placement, order, machine, cost, copies).run(margin);
}

} // namespace dfc
