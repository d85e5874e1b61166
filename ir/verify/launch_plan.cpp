// verifyLaunchPlan, on its own rules: shapes and places of every launch, each op's accesses against its
// values, the order of launches against the order of the queue's steps. peer_reads.cpp checks the waits.
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

bool overlap(const LaunchRange& a, const LaunchRange& b) {
  return a.begin.device == b.begin.device && a.begin.offset < b.begin.offset + b.bytes &&
         b.begin.offset < a.begin.offset + a.bytes;
}

class LaunchCheck {
 public:
  LaunchCheck(const LaunchPlan& plan, const PlacedGraph& placed, const Schedule& schedule,
              const MemoryPlan& memory, const Machine& machine)
      : plan_(plan), graph_(placed.graph), schedule_(schedule), memory_(memory), machine_(machine),
        findings_(placed.graph), copied_(schedule.steps.size()), written_(placed.graph.valueCount()) {}

  Diagnostics run() {
    checkSizes();
    for (const PeerRead& read : plan_.peers.reads) {
      sourceOf_[{read.reader, read.operand}] = graph_[schedule_.steps[read.transfer].op].operands[0];
    }
    for (const LaunchRow& row : plan_.launches) {
      checkRow(row);
    }
    if (findings_.empty()) {
      noteSteps();
      checkOrders();
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

  void noteSteps() {
    for (const StepId step : schedule_.steps.ids()) {
      const OpRow& row = graph_[schedule_.steps[step].op];
      copied_[step] = classOf(row.kind()) == OpClass::Transfer || isCopyingView(row);
    }
    for (const PeerRead& read : plan_.peers.reads) {
      copied_[read.transfer] = false;
    }
  }

  bool isCopyingView(const OpRow& row) const {
    const OpClass kind = classOf(row.kind());
    if (kind != OpClass::State && kind != OpClass::View) {
      return false;
    }
    const Slot& from = memory_.slots[row.operands[row.kind() == OpKind::Assign ? 1 : 0]];
    const Slot& to = memory_.slots[row.firstResult];
    return from.device != to.device || from.offset != to.offset;
  }

  uint32_t positionOf(OpId op) const { return schedule_.steps[schedule_.stepOf[op]].position; }

  void checkOrders() {
    for (size_t first = 0; first < plan_.launches.size();) {
      size_t end = first;
      while (end < plan_.launches.size() && plan_.launches[end].queue == plan_.launches[first].queue) {
        ++end;
      }
      if (first > 0 && !(plan_.launches[first - 1].queue < plan_.launches[first].queue)) {
        findings_.add("launches of one queue are not together");
      }
      checkQueue(llvm::ArrayRef<LaunchRow>(plan_.launches).slice(first, end - first));
      first = end;
    }
  }

  // An access is moved before another only where the two have no byte in common, or both read.
  void checkQueue(llvm::ArrayRef<LaunchRow> rows) {
    uint32_t place = 0;
    std::vector<uint32_t> last; // by launch: the largest position of an op of this or an earlier one
    for (size_t i = 0; i < rows.size(); ++i) {
      const LaunchRow& row = rows[i];
      if (positionOf(row.at) < place) {
        findings_.at(row.ops[0], "a launch is enqueued before the one that it follows");
      }
      place = positionOf(row.at);
      uint32_t least = ~0U, most = last.empty() ? 0 : last.back();
      for (const OpId op : row.ops) {
        checkPlaceOf(op, row);
        least = std::min(least, positionOf(op));
        most = std::max(most, positionOf(op));
      }
      last.push_back(most);
      for (size_t j = i; j > 0 && last[j - 1] > least; --j) {
        checkPassed(rows[j - 1], row);
      }
      checkWorkspaces(rows, i);
      checkOrderInside(rows[i]);
    }
  }

  // Between the place of a launch and the step of its op the queue neither waits nor copies.
  void checkPlaceOf(OpId op, const LaunchRow& row) {
    const auto& steps = schedule_.queues[row.queue].steps;
    const uint32_t from = positionOf(row.at), to = positionOf(op);
    if (to < from) {
      findings_.at(op, "is launched behind the place of its step");
    }
    for (uint32_t i = from + 1; i <= to; ++i) {
      if (!plan_.waitsOf(schedule_, steps[i]).empty() || copied_[steps[i]]) {
        findings_.at(op, "is launched ahead of a wait or copy that precedes its step");
        return;
      }
    }
  }

  // `earlier` is launched before `later`, some of whose ops come first in the queue.
  void checkPassed(const LaunchRow& earlier, const LaunchRow& later) {
    const auto inverted = [&](const LaunchRange& a, const LaunchRange& b) {
      return a.op != b.op && positionOf(b.op) < positionOf(a.op) && overlap(a, b);
    };
    const auto clash = [&](llvm::ArrayRef<LaunchRange> some, llvm::ArrayRef<LaunchRange> others) {
      for (const LaunchRange& a : some) {
        for (const LaunchRange& b : others) {
          if (!a.begin.inWorkspace() && inverted(a, b)) {
            findings_.at(a.op,
                         fmt::format("is launched before '{}', whose bytes it shares", graph_.nameOf(b.op)));
            return true;
          }
        }
      }
      return false;
    };
    clash(earlier.writes, later.writes) || clash(earlier.writes, later.reads) ||
        clash(earlier.reads, later.writes);
  }

  // The kernels of a launch run in the order of their ops, where that matters.
  void checkOrderInside(const LaunchRow& row) {
    const auto isInverted = [&](const LaunchRange& write, const LaunchRange& other) {
      return write.op != other.op && !write.begin.inWorkspace() && overlap(write, other) &&
             (write.kernel == other.kernel ||
              (write.kernel < other.kernel) != (positionOf(write.op) < positionOf(other.op)));
    };
    if (row.ops.size() < 2) {
      return;
    }
    for (const LaunchRange& write : row.writes) {
      for (const auto* ranges : {&row.reads, &row.writes}) {
        for (const LaunchRange& other : *ranges) {
          if (isInverted(write, other)) {
            findings_.at(write.op, fmt::format("runs in the wrong order with '{}' in their launch",
                                               graph_.nameOf(other.op)));
            return;
          }
        }
      }
    }
  }

  // What an op leaves in the workspace from kernel to kernel is not written by another op in between.
  void checkWorkspaces(llvm::ArrayRef<LaunchRow> rows, size_t at) {
    for (const OpId op : rows[at].ops) {
      const size_t before = launchBefore(rows, at, op);
      if (isOverwritten(rows, before, at, op) || isOverwritten(rows, at, at, op)) {
        findings_.at(op, "its workspace is overwritten between its launches");
        return;
      }
    }
  }

  // The op's last launch before rows[at]; `at` where there is none.
  static size_t launchBefore(llvm::ArrayRef<LaunchRow> rows, size_t at, OpId op) {
    const size_t first = at - std::min(at, workspaceLookBack);
    for (size_t before = at; before > first; --before) {
      if (llvm::is_contained(rows[before - 1].ops, op)) {
        return before - 1;
      }
    }
    return at;
  }

  using Moment = std::pair<size_t, uint32_t>; // launch, kernel

  // Whether bytes of the workspace that the op writes in rows[from], and accesses in rows[to], are written by
  // another op in between.
  static bool isOverwritten(llvm::ArrayRef<LaunchRow> rows, size_t from, size_t to, OpId op) {
    return llvm::any_of(rows[from].writes, [&](const LaunchRange& own) {
      if (own.op != op || !own.begin.inWorkspace()) {
        return false;
      }
      const Moment begin{from, own.kernel}, end = lastAccess(rows, to, own);
      for (size_t i = from; i <= to; ++i) {
        const auto between = [&](const LaunchRange& other) {
          const Moment moment{i, other.kernel};
          return other.op != op && begin < moment && moment < end && overlap(own, other);
        };
        if (llvm::any_of(rows[i].writes, between)) {
          return true;
        }
      }
      return false;
    });
  }

  // The op's last access in rows[at] of what it wrote to the workspace; the first moment of all if none.
  static Moment lastAccess(llvm::ArrayRef<LaunchRow> rows, size_t at, const LaunchRange& written) {
    Moment last{0, 0};
    for (const auto* ranges : {&rows[at].reads, &rows[at].writes}) {
      for (const LaunchRange& range : *ranges) {
        if (range.op == written.op && overlap(range, written)) {
          last = std::max(last, Moment{at, range.kernel});
        }
      }
    }
    return last;
  }
  static constexpr size_t workspaceLookBack = 512;

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
  const Graph& graph_;
  const Schedule& schedule_;
  const MemoryPlan& memory_;
  const Machine& machine_;
  Findings findings_;
  std::map<std::pair<StepId, uint32_t>, ValueId> sourceOf_; // operands that are read at the peer
  SideTable<StepId, bool> copied_;
  SideTable<ValueId, bool> written_;
};

} // namespace

Diagnostics verifyLaunchPlan(const LaunchPlan& launches, const PlacedGraph& placed, const Schedule& schedule,
                             const MemoryPlan& memory, const Machine& machine) {
  if (launches.empty()) {
    const bool none = launches.launches.empty() && launches.kernels.empty() && launches.peers.reads.empty() &&
                      launches.peers.waits.size() == 0;
    return none ? Diagnostics{} : Diagnostics{errorWithoutPlace("launches of no queue")};
  }
  if (Diagnostics errors = checkPeerReads(launches.peers, placed, schedule, machine); !errors.empty()) {
    return errors;
  }
  return LaunchCheck(launches, placed, schedule, memory, machine).run();
}

} // namespace dfc
