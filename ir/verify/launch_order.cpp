// checkLaunchOrder: the order of the launches of a queue, and of the kernels of a launch, against the order
// of the queue's steps: accesses to common bytes keep their order, in values and in workspaces.
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

bool overlap(const LaunchRange& a, const LaunchRange& b) {
  return a.begin.device == b.begin.device && a.begin.offset < b.begin.offset + b.bytes &&
         b.begin.offset < a.begin.offset + a.bytes;
}

class LaunchOrderCheck {
 public:
  LaunchOrderCheck(const LaunchPlan& plan, const PlacedGraph& placed, const Schedule& schedule,
                   const MemoryPlan& memory, Findings& findings)
      : plan_(plan), graph_(placed.graph), schedule_(schedule), memory_(memory), findings_(findings),
        copied_(schedule.steps.size()) {}

  void run() {
    noteSteps();
    checkOrders();
  }

 private:
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
    return from.device != to.device || from.offset + viewOffset(graph_, row) != to.offset;
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

  const LaunchPlan& plan_;
  const Graph& graph_;
  const Schedule& schedule_;
  const MemoryPlan& memory_;
  Findings& findings_;
  SideTable<StepId, bool> copied_;
};

} // namespace

void checkLaunchOrder(const LaunchPlan& launches, const PlacedGraph& placed, const Schedule& schedule,
                      const MemoryPlan& memory, Findings& findings) {
  LaunchOrderCheck(launches, placed, schedule, memory, findings).run();
}

} // namespace dfc
