// verifyLaunchPlan: shapes and places of every launch, each op's accesses against its values, every op
// computed. launch_order.cpp checks the order of launches, peer_reads.cpp the waits.
#include "ir/graph/rules/convolution.h"
#include "ir/machine/calibration.h"
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace dfc {
namespace {

constexpr uint32_t mostThreads = 1024;                   // of a block
constexpr uint64_t mostBlocks = (uint64_t{1} << 31) - 1; // of a launch

class LaunchCheck {
 public:
  LaunchCheck(const LaunchPlan& plan, const PlacedGraph& placed, const Schedule& schedule,
              const MemoryPlan& memory, const Machine& machine)
      : plan_(plan), placed_(placed), graph_(placed.graph), schedule_(schedule), memory_(memory),
        machine_(machine), findings_(placed.graph), written_(placed.graph.valueCount()) {}

  Diagnostics run() {
    checkSizes();
    for (const PeerRead& read : plan_.peers.reads) {
      sourceOf_[{read.reader, read.operand}] = graph_[schedule_.steps[read.transfer].op].operands[0];
    }
    for (const LaunchRow& row : plan_.launches) {
      checkRow(row);
    }
    if (findings_.empty()) {
      checkLaunchOrder(plan_, placed_, schedule_, memory_, findings_);
      checkCoverage();
      checkSeconds();
    }
    return findings_.take();
  }

 private:
  void checkSizes() {
    if (plan_.workspaceBytes.size() != schedule_.queues.size()) {
      findings_.add(
          fmt::format("launches of {} queues, of {}", plan_.workspaceBytes.size(), schedule_.queues.size()));
      return;
    }
    for (const QueueId queue : plan_.workspaceBytes.ids()) {
      if (plan_.workspaceBytes[queue] < 0) {
        findings_.add(fmt::format("a workspace of {} bytes", plan_.workspaceBytes[queue]));
      }
    }
  }

  // A queue's launches take what its steps take, or less.
  void checkSeconds() {
    SideTable<QueueId, double> ofLaunches(schedule_.queues.size(), 0.0);
    for (const LaunchRow& row : plan_.launches) {
      ofLaunches[row.queue] += row.seconds;
    }
    for (const QueueId queue : schedule_.queues.ids()) {
      double ofSteps = 0;
      for (const StepId step : schedule_.queues[queue].steps) {
        ofSteps += schedule_.steps[step].alone();
      }
      if (ofLaunches[queue] > ofSteps * (1 + 1e-6) + 1e-9) {
        findings_.add(fmt::format("launches of {} are expected to take {} s, its steps {} s",
                                  schedule_.nameOf(queue, machine_), ofLaunches[queue], ofSteps));
      }
    }
  }

  bool isOnQueue(OpId op, QueueId queue) const {
    return op.index() < graph_.opCount() && schedule_.stepOf[op].valid() &&
           schedule_.steps[schedule_.stepOf[op]].queue == queue;
  }

  void checkRow(const LaunchRow& row) {
    if (!findings_.empty()) { // later checks index with what earlier ones found sound
      return;
    }
    if (!schedule_.queues.contains(row.queue) ||
        machine_.devices[schedule_.queues[row.queue].device].kind != DeviceKind::Gpu ||
        !isOnQueue(row.at, row.queue) || row.ops.empty()) {
      findings_.add("a launch without a queue of a GPU, a place or an op");
      return;
    }
    for (const OpId op : row.ops) {
      if (!isOnQueue(op, row.queue) || !isTimed(graph_[op].kind())) {
        findings_.add(fmt::format("a launch for op {}, which its queue does not compute", op.index()));
        return;
      }
    }
    if (!(row.seconds >= 0) || !std::isfinite(row.seconds)) {
      findings_.at(row.ops[0], fmt::format("a launch expected to take {} s", row.seconds));
      return;
    }
    checkKind(row);
    checkPlaces(row);
    for (const LaunchRow& spare : row.spare) {
      if (spare.queue != row.queue || spare.at != row.at || spare.ops != row.ops || !spare.spare.empty() ||
          row.kind == LaunchKind::Kernel) {
        findings_.at(row.ops[0], "spare launches of another op");
        return;
      }
      checkKind(spare);
      checkPlaces(spare);
    }
  }

  void checkKind(const LaunchRow& row) {
    const OpId op = row.ops[0];
    switch (row.kind) {
    case LaunchKind::Kernel:
      if (row.kernel >= plan_.kernels.size() || row.grid[0] == 0 || row.grid[1] == 0 ||
          uint64_t{row.grid[0]} * row.grid[1] > mostBlocks || row.threads == 0 || row.threads > mostThreads) {
        findings_.at(op, fmt::format("a launch of kernel {} with {} x {} blocks of {} threads", row.kernel,
                                     row.grid[0], row.grid[1], row.threads));
      }
      return;
    case LaunchKind::Product: checkProduct(row, op); return;
    case LaunchKind::Convolution:
      if (row.ops.size() != 1 || !convolutionCall(graph_[op].attributes, graph_.operandTypesOf(op)) ||
          row.pointers.size() != graph_[op].operands.size() + 1) {
        findings_.at(op, "a convolution by a library that is none");
      }
      return;
    case LaunchKind::Custom:
      if (row.ops.size() != 1 || graph_[op].kind() != OpKind::Custom || !row.spare.empty() ||
          row.pointers.size() != graph_[op].operands.size() + graph_[op].resultCount) {
        findings_.at(op, "a launch of a custom op that is none");
      }
      return;
    }
    findings_.at(op, fmt::format("a launch of kind {}", static_cast<int>(row.kind)));
  }

  void checkProduct(const LaunchRow& row, OpId op) {
    const OpKind kind = graph_[op].kind();
    if (row.ops.size() != 1 || (kind != OpKind::Matmul && kind != OpKind::FusedMatmul) || !row.product ||
        (row.product->bias && row.product->addend) ||
        row.pointers.size() != 3 + (row.product->bias ? 1U : 0U) + (row.product->addend ? 1U : 0U)) {
      findings_.at(op, "a product by a library that is none");
      return;
    }
    const auto types = graph_.operandTypesOf(op);
    ops::Matmul matmul;
    matmul.transposeA = row.product->transposeA, matmul.transposeB = row.product->transposeB;
    const auto result = resultTypes(matmul, {row.product->a, row.product->b});
    if (row.product->a != types[0] || row.product->b != types[1] || !result.ok() ||
        result.types[0].shape != row.product->result.shape) {
      findings_.at(op, "a product by a library of other types than its op's");
    }
  }

  void checkPlaces(const LaunchRow& row) {
    const OpId op = row.ops[0];
    for (const auto* ranges : {&row.reads, &row.writes}) {
      for (const LaunchRange& range : *ranges) {
        if (range.bytes < 0 || range.begin.offset < 0 || !llvm::is_contained(row.ops, range.op) ||
            range.bytes > limitOf(row.queue, range.begin) - range.begin.offset) {
          findings_.at(op, fmt::format("a launch accesses {} bytes at {}, beyond its memory", range.bytes,
                                       range.begin.offset));
          return;
        }
      }
    }
    const auto covered = [&](const LaunchPointer& pointer) {
      const auto covers = [&](const LaunchRange& range) {
        return range.begin.device == pointer.device && range.begin.offset <= pointer.offset &&
               pointer.offset <= range.begin.offset + range.bytes;
      };
      return llvm::any_of(row.reads, covers) || llvm::any_of(row.writes, covers);
    };
    if (!llvm::all_of(row.pointers, covered)) {
      findings_.at(op, "a launch has a pointer to bytes that it does not access");
    }
    checkAccesses(row);
  }

  int64_t limitOf(QueueId queue, const LaunchPointer& pointer) const {
    if (pointer.inWorkspace()) {
      return plan_.workspaceBytes[queue];
    }
    return pointer.device.index() < memory_.arenaBytes.size() ? memory_.arenaBytes[pointer.device] : -1;
  }

  // An op reads its operands, or what its earlier launches left in its result, and writes its results.
  void checkAccesses(const LaunchRow& row) {
    for (const LaunchRange& range : row.reads) {
      if (!range.begin.inWorkspace() && !isOperand(range) && !isResult(range)) {
        findings_.at(range.op, "a launch reads bytes that are no operand of its op");
      }
    }
    for (const LaunchRange& range : row.writes) {
      if (!range.begin.inWorkspace() && !isResult(range)) {
        findings_.at(range.op, "a launch writes bytes that are no result of its op");
      }
    }
  }

  bool isAt(const LaunchRange& range, ValueId value) const {
    const Slot& slot = memory_.slots[value];
    return slot.device == range.begin.device && slot.offset == range.begin.offset &&
           range.bytes <= graph_.typeOf(value).bytes();
  }
  bool isResult(const LaunchRange& range) const {
    return llvm::any_of(graph_[range.op].results(), [&](ValueId value) { return isAt(range, value); });
  }
  bool isOperand(const LaunchRange& range) const {
    const OpRow& row = graph_[range.op];
    for (uint32_t i = 0; i < row.operands.size(); ++i) {
      const StepId reader = schedule_.stepOf[range.op];
      const auto source = sourceOf_.find({reader, i});
      if (isAt(range, source != sourceOf_.end() ? source->second : row.operands[i])) {
        return true;
      }
    }
    return false;
  }

  void checkCoverage() {
    SideTable<OpId, bool> launched(graph_.opCount());
    for (const LaunchRow& row : plan_.launches) {
      for (const OpId op : row.ops) {
        launched[op] = true;
      }
      for (const LaunchRange& range : row.writes) {
        for (const ValueId value : graph_[range.op].results()) {
          const Slot& slot = memory_.slots[value];
          written_[value] = written_[value] || (range.begin == LaunchPointer{slot.device, slot.offset} &&
                                                range.bytes >= graph_.typeOf(value).bytes());
        }
      }
    }
    for (const StepRow& step : schedule_.steps) {
      const QueueRow& queue = schedule_.queues[step.queue];
      if (machine_.devices[queue.device].kind != DeviceKind::Gpu || !isTimed(graph_[step.op].kind())) {
        continue;
      }
      for (const ValueId value : graph_[step.op].results()) {
        if (graph_.typeOf(value).bytes() > 0 && (!launched[step.op] || !written_[value])) {
          findings_.at(step.op, fmt::format("no launch computes '{}'", graph_.nameOf(value)));
        }
      }
    }
  }

  const LaunchPlan& plan_;
  const PlacedGraph& placed_;
  const Graph& graph_;
  const Schedule& schedule_;
  const MemoryPlan& memory_;
  const Machine& machine_;
  Findings findings_;
  std::map<std::pair<StepId, uint32_t>, ValueId> sourceOf_; // operands that are read at the peer
  SideTable<ValueId, bool> written_;
};

} // namespace

Diagnostics verifyLaunchPlan(const LaunchPlan& launches, const PlacedGraph& placed, const Schedule& schedule,
                             const MemoryPlan& memory, const Machine& machine) {
  if (launches.empty()) {
    const bool none = launches.launches.empty() && launches.kernels.empty() && launches.peers.reads.empty() &&
                      launches.peers.waits.empty();
    return none ? Diagnostics{} : Diagnostics{errorWithoutPlace("launches of no queue")};
  }
  if (Diagnostics errors = checkPeerReads(launches.peers, placed, schedule, machine); !errors.empty()) {
    return errors;
  }
  return LaunchCheck(launches, placed, schedule, memory, machine).run();
}

} // namespace dfc
