// Transfers of the sealed plan, each told by what it is part of: the split says so of what it brought from
// device to device, by the name of the value that is sent; the rest follows from what reads it.
#include "compiler/explain/explain_parts.h"
#include "ir/base/intervals.h"
#include "ir/graph/graph.h"
#include "ir/graph/whole_state.h"
#include "ir/plan/feeds.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>
#include <set>

namespace dfc {
namespace {

/// When each device computes: united intervals.
SideTable<DeviceId, Intervals> computing(const Executable& plan) {
  SideTable<DeviceId, Intervals> busy(plan.machine().devices.size());
  const Schedule& schedule = plan.schedule();
  for (const StepRow& step : schedule.steps) {
    const QueueRow& queue = schedule.queues[step.queue];
    if (queue.kind == QueueKind::Compute && step.end > step.start) {
      busy[queue.device].push_back({step.start, step.end});
    }
  }
  for (const DeviceId device : busy.ids()) {
    busy[device] = united(std::move(busy[device]));
  }
  return busy;
}

/// What a transfer is part of.
struct Part {
  std::string kind;
  std::string collective;
};

class Transfers {
 public:
  Transfers(const Executable& plan, const SplitGraph* split)
      : placed_(plan.placed()), users_(placed_.graph.opCount()) {
    const Graph& graph = placed_.graph;
    for (const OpId op : graph.ops()) {
      for (const ValueId operand : graph[op].operands) {
        users_[graph[operand].producer].push_back(op);
      }
    }
    for (const PeerRead& read : plan.launches().peers.reads) {
      peerReads_.insert(plan.schedule().steps[read.transfer].op.index());
    }
    for (const Fetch& fetch : graph.fetches()) {
      fetched_.insert(fetch.value.index());
    }
    if (split != nullptr) {
      for (const Movement& movement : split->movements) {
        moved_[{std::string(split->graph.nameOf(movement.sent)), movement.to.index()}] = movement;
      }
    }
  }

  /// Of the first reader that is no further hop.
  Part partOf(OpId transfer) const {
    for (const OpId user : users_[transfer]) {
      if (isTransfer(user)) {
        return partOf(user);
      }
    }
    const Graph& graph = placed_.graph;
    for (const OpId user : users_[transfer]) {
      if (graph[user].kind() == OpKind::Assign) {
        const auto found = placed_.replicas.find(graph[graph[user].operands[0]].producer);
        if (found != placed_.replicas.end()) {
          return {"parameters to replicas", std::string(authorNameOf(graph, found->second))};
        }
      }
    }
    const ValueId origin = originOf(transfer);
    const std::string name(graph.nameOf(origin));
    if (graph[graph[origin].producer].kind() == OpKind::Input) {
      return {"feeds", name};
    }
    const auto found = moved_.find({name, placed_.device[transfer].index()});
    if (found != moved_.end()) {
      return {std::string(dfc::name(found->second.kind)), std::to_string(found->second.collective)};
    }
    const bool isFetch = fetched_.contains(graph[transfer].firstResult.index());
    return {isFetch ? "fetches" : "other copies", name};
  }

  bool isPeerRead(OpId transfer) const { return peerReads_.contains(transfer.index()); }
  bool isTransfer(OpId op) const { return placed_.graph[op].kind() == OpKind::Transfer; }
  bool isLastHop(OpId transfer) const {
    return llvm::none_of(users_[transfer], [&](OpId user) { return isTransfer(user); });
  }

 private:
  ValueId originOf(OpId transfer) const {
    const ValueId sent = placed_.graph[transfer].operands[0];
    const OpId producer = placed_.graph[sent].producer;
    return isTransfer(producer) ? originOf(producer) : sent;
  }

  const PlacedGraph& placed_;
  SideTable<OpId, llvm::SmallVector<OpId, 2>> users_;
  std::set<uint32_t> fetched_;
  std::set<uint32_t> peerReads_;
  std::map<std::pair<std::string, uint32_t>, Movement> moved_; // by name and destination
};

struct LinkSeconds {
  double busy = 0, hidden = 0, prefetched = 0; ///< the latter two of `busy`
};

struct Sum {
  std::set<std::string> collectives;
  size_t transfers = 0, peerReads = 0;
  std::map<uint32_t, int64_t> bytes;       // by the device that receives
  std::map<uint32_t, LinkSeconds> seconds; // by link
};

ExplainedTraffic explained(const std::string& kind, const Sum& sum, const Machine& machine) {
  ExplainedTraffic row{kind, sum.collectives.size(), sum.transfers, 0, "", 0, 0, 0, sum.peerReads};
  for (const auto& [device, bytes] : sum.bytes) {
    row.bytesPerDevice = std::max(row.bytesPerDevice, bytes);
  }
  for (const auto& [link, seconds] : sum.seconds) {
    if (seconds.busy > row.linkSeconds) {
      row.link = machine.links[LinkId(link)].name;
      row.linkSeconds = seconds.busy;
      row.hidden = seconds.hidden / seconds.busy;
      row.prefetched = seconds.prefetched / seconds.busy;
    }
  }
  return row;
}

} // namespace

std::vector<ExplainedTraffic> explainTraffic(const Executable& plan, const SplitGraph* split) {
  const Transfers transfers(plan, split);
  const auto busy = computing(plan);
  const Schedule& schedule = plan.schedule();
  std::map<std::string, Sum> sums;
  for (const auto& [op, transfer] : plan.placed().transfers) {
    const Part part = transfers.partOf(op);
    Sum& sum = sums[part.kind];
    sum.collectives.insert(part.collective);
    ++sum.transfers;
    sum.peerReads += transfers.isPeerRead(op) ? 1 : 0;
    sum.bytes[transfer.to.index()] += transfers.isLastHop(op) ? transfer.bytes : 0;
    const StepId step = schedule.stepOf[op];
    if (step.valid()) {
      const StepRow& row = schedule.steps[step];
      const double hidden = overlapOf(busy[transfer.to], row.start, row.end);
      for (const LinkId link : transfer.links) {
        LinkSeconds& seconds = sum.seconds[link.index()];
        seconds.busy += row.end - row.start;
        seconds.hidden += hidden;
        seconds.prefetched += isPrefetched(plan.placed(), op, plan.machine()) ? row.end - row.start : 0;
      }
    }
  }
  std::vector<ExplainedTraffic> rows;
  for (const auto& [kind, sum] : sums) {
    rows.push_back(explained(kind, sum, plan.machine()));
  }
  llvm::stable_sort(rows, [](const auto& a, const auto& b) { return a.linkSeconds > b.linkSeconds; });
  return rows;
}

} // namespace dfc
