#include "tools/bench/trace_facts.h"
#include "ir/plan/executable_parts.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::bench {
namespace {

struct Change {
  double time;
  size_t pick;
  int by;
};

/// Begins and ends of the selected steps by time, ends first: steps that only touch do not overlap.
std::vector<Change> changesOf(const Trace& trace, const Executable& plan, const std::vector<Pick>& picks) {
  std::vector<Change> changes;
  for (const Span& span : trace.spans) {
    for (size_t i = 0; i < picks.size(); ++i) {
      if (span.end > span.begin && picks[i](plan, span.step)) {
        changes.push_back({span.begin, i, 1});
        changes.push_back({span.end, i, -1});
      }
    }
  }
  llvm::sort(changes, [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time : a.by < b.by;
  });
  return changes;
}

const QueueRow& queueOf(const Executable& plan, StepId step) {
  return plan.schedule().queues[plan.schedule().steps[step].queue];
}

OpKind kindOf(const Executable& plan, StepId step) {
  return plan.graph()[plan.schedule().steps[step].op].kind();
}

bool isWork(OpKind kind) {
  const OpClass opClass = classOf(kind);
  return opClass != OpClass::Transfer && opClass != OpClass::Source && opClass != OpClass::View;
}

/// The producer of the value that a transfer, or a chain of transfers, copies; any other op itself.
OpId originOf(const Graph& graph, OpId op) {
  while (graph[op].kind() == OpKind::Transfer) {
    op = graph[graph[op].operands[0]].producer;
  }
  return op;
}

} // namespace

Pick computationOn(DeviceKind kind) {
  return [kind](const Executable& plan, StepId step) {
    const QueueRow& queue = queueOf(plan, step);
    return queue.kind == QueueKind::Compute && plan.machine().devices[queue.device].kind == kind &&
           isWork(kindOf(plan, step));
  };
}

Pick anyTransfer() {
  return [](const Executable& plan, StepId step) { return kindOf(plan, step) == OpKind::Transfer; };
}

Pick inScopes(std::vector<std::string> scopes) {
  return [scopes = std::move(scopes)](const Executable& plan, StepId step) {
    const OpId op = plan.schedule().steps[step].op;
    const std::string_view scope = plan.graph().scopeOf(originOf(plan.graph(), op));
    return llvm::any_of(scopes, [&](const std::string& wanted) { return scope.starts_with(wanted); });
  };
}

double togetherSeconds(const Trace& trace, const Executable& plan, const std::vector<Pick>& picks) {
  std::vector<int> busy(picks.size(), 0);
  double total = 0, since = 0;
  for (const Change& change : changesOf(trace, plan, picks)) {
    if (llvm::all_of(busy, [](int count) { return count > 0; })) {
      total += change.time - since;
    }
    busy[change.pick] += change.by;
    since = change.time;
  }
  return total;
}

int mostAtOnce(const Trace& trace, const Executable& plan, const Pick& pick) {
  int now = 0, most = 0;
  for (const Change& change : changesOf(trace, plan, {pick})) {
    now += change.by;
    most = std::max(most, now);
  }
  return most;
}

} // namespace dfc::bench
