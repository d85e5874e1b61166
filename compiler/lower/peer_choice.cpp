// Walks along each compute queue and predicts when the queue is free, given the peer reads chosen so far.
#include "compiler/lower/peer_choice.h"

#include "compiler/lower/kernels/generated_kernel.h"
#include "ir/plan/feeds.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

/// By operand: whether the op is one single-pass launch in which each element of the operand is read once, by
/// the thread that uses it.
std::vector<bool> singlePassOperands(const Graph& graph, OpId op, const GpuShape& gpu) {
  const OpRow& row = graph[op];
  std::vector<bool> readOnce(row.operands.size());
  if (classOf(row.kind()) == OpClass::Elementwise || row.kind() == OpKind::Fused) {
    const auto work = generateKernels(row.attributes, graph.operandTypesOf(op), graph.resultTypesOf(op), gpu);
    if (work.has_value() && work->launches.size() == 1 && work->launches[0].singlePass) {
      for (const Argument& argument : work->launches[0].arguments) {
        if (argument.from == Argument::From::Operand && argument.stride != 0) {
          readOnce[argument.index] = true;
        }
      }
    }
  }
  return readOnce;
}

class Chooser {
 public:
  Chooser(const PlanStages& stages, Reaches reaches, bool large)
      : stages_(stages), graph_(stages.placed.graph), schedule_(stages.schedule), reaches_(reaches),
        large_(large), uses_(graph_.valueCount()), ready_(schedule_.steps.size(), -1) {
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        ++uses_[operand];
      }
    }
    for (const Fetch& fetch : graph_.fetches()) {
      ++uses_[fetch.value];
    }
  }

  std::vector<PeerRead> run() {
    for (const QueueRow& queue : schedule_.queues) {
      if (queue.kind == QueueKind::Compute && !queue.steps.empty()) {
        double free = schedule_.steps[queue.steps.front()].start;
        for (const StepId step : queue.steps) {
          free = endOf(step, free);
        }
      }
    }
    return std::move(chosen_);
  }

 private:
  /// All operands that a step may read from peers.
  struct Reads {
    std::vector<PeerRead> allowed;
    double copied = 0, ready = 0; ///< when the step could begin: with copies, and with peer reads
    double wire = 0;              ///< seconds in which the links carry the bytes
  };

  // The step's end if its queue is free at `free`; chooses its peer reads.
  double endOf(StepId step, double free) {
    const StepRow& row = schedule_.steps[step];
    const Reads reads = readsOf(row, allowedFor(step), free);
    const double work = row.end - row.start;
    const bool pays = large_ && reads.ready + std::max(work, reads.wire) <= reads.copied + work;
    for (const PeerRead& read : reads.allowed) {
      if (pays || bytesOf(read.transfer) <= smallPeerRead) {
        chosen_.push_back(read);
        ready_[read.transfer] = readyOf(read.transfer);
      }
    }
    return pays ? reads.ready + std::max(work, reads.wire) : reads.copied + work;
  }

  Reads readsOf(const StepRow& row, std::vector<PeerRead> allowed, double free) const {
    for (const StepId wait : row.waits) {
      if (llvm::none_of(allowed, [&](const PeerRead& read) { return read.transfer == wait; })) {
        free = std::max(free, schedule_.steps[wait].end);
      }
    }
    Reads reads{std::move(allowed), free, free, 0};
    for (const PeerRead& read : reads.allowed) {
      reads.copied = std::max(reads.copied, schedule_.steps[read.transfer].end);
      reads.ready = std::max(reads.ready, readyOf(read.transfer));
      reads.wire += wireOf(read.transfer);
    }
    return reads;
  }

  std::vector<PeerRead> allowedFor(StepId step) const {
    const OpId op = schedule_.steps[step].op;
    std::vector<PeerRead> reads;
    for (uint32_t operand = 0; operand < graph_[op].operands.size(); ++operand) {
      const ValueId value = graph_[op].operands[operand];
      const OpId transfer = graph_[value].producer;
      if (uses_[value] == 1 && betweenPeers(transfer)) {
        reads.push_back({schedule_.stepOf[transfer], step, operand});
      }
    }
    if (!reads.empty()) { // kernels are generated for few ops, and once for each
      const std::vector<bool> readOnce = singlePassOperands(graph_, op, GpuShape::of(deviceOf(step)));
      llvm::erase_if(reads, [&](const PeerRead& read) { return !readOnce[read.operand]; });
    }
    return reads;
  }

  const DeviceRow& deviceOf(StepId step) const {
    return stages_.machine.devices[schedule_.queues[schedule_.steps[step].queue].device];
  }

  bool betweenPeers(OpId op) const {
    if (graph_[op].kind() != OpKind::Transfer) {
      return false;
    }
    const TransferRow& route = stages_.placed.transfers.find(op)->second;
    return route.bytes > 0 && schedule_.stepOf[op].valid() &&
           !isFed(graph_, graph_[op].operands[0]) && // in the caller's memory, on no device
           reaches_(route.to, route.from);
  }

  int64_t bytesOf(StepId transfer) const {
    return stages_.placed.transfers.find(schedule_.steps[transfer].op)->second.bytes;
  }

  // Without the latency: a kernel has many reads in flight.
  double wireOf(StepId transfer) const {
    const TransferRow& route = stages_.placed.transfers.find(schedule_.steps[transfer].op)->second;
    double seconds = schedule_.steps[transfer].alone();
    for (const LinkId link : route.links) {
      seconds -= stages_.machine.links[link].latencySeconds;
    }
    return std::max(seconds, 0.0);
  }

  // When the transfer could begin if its queue made no transfer that a chosen peer read replaces.
  double readyOf(StepId transfer) const {
    const StepRow& row = schedule_.steps[transfer];
    double ready = 0;
    for (const StepId wait : row.waits) {
      ready = std::max(ready, schedule_.steps[wait].end);
    }
    if (row.position > 0) {
      const StepId before = schedule_.queues[row.queue].steps[row.position - 1];
      ready = std::max(ready, ready_[before] >= 0 ? ready_[before] : schedule_.steps[before].end);
    }
    return ready;
  }

  const PlanStages& stages_;
  const Graph& graph_;
  const Schedule& schedule_;
  Reaches reaches_;
  bool large_;
  SideTable<ValueId, uint32_t> uses_; // operands and fetches
  SideTable<StepId, double> ready_;   // of chosen transfers; else -1
  std::vector<PeerRead> chosen_;
};

} // namespace

std::vector<PeerRead> choosePeerReads(const PlanStages& stages, Reaches reaches, bool large) {
  return Chooser(stages, reaches, large).run();
}

} // namespace dfc::cuda
