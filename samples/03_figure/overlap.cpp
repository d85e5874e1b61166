#include "samples/03_figure/overlap.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"

#include <algorithm>
#include <limits>
#include <map>

namespace dfc::figure {
namespace {

struct Window {
  double begin = std::numeric_limits<double>::infinity(), end = 0;
  void include(const Span& span) {
    begin = std::min(begin, span.begin);
    end = std::max(end, span.end);
  }
};

struct StepWindows {
  Window backward, sum, reduction; ///< fc1 backward on both GPUs; fc2's sum; its sum, update and broadcast
};

/// The scope of an op; of a copy, the scope of its source.
std::string_view scopeOf(const Graph& graph, OpId op) {
  while (graph[op].kind() == OpKind::Transfer) {
    op = graph[graph[op].operands.front()].producer;
  }
  return graph.scopeOf(op);
}

} // namespace

HiddenSteps hiddenSteps(const Trace& trace, const Executable& plan) {
  const Graph& graph = plan.graph();
  std::map<uint32_t, StepWindows> steps;
  for (const Span& span : trace.spans) {
    const OpId op = plan.schedule().steps[span.step].op;
    const std::string_view scope = scopeOf(graph, op);
    const bool copy = graph[op].kind() == OpKind::Transfer;
    StepWindows& step = steps[span.stepNumber];
    if (scope == "fc1 backward" && !copy) {
      step.backward.include(span);
    } else if (scope == "fc2 sum") {
      step.sum.include(span);
      step.reduction.include(span);
    } else if (scope == "fc2 update" && (copy || graph[op].kind() != OpKind::Assign)) {
      step.reduction.include(span);
    }
  }
  HiddenSteps hidden;
  for (const auto& [number, step] : steps) {
    ++hidden.steps;
    hidden.sums += step.sum.end < step.backward.end && step.sum.begin > step.backward.begin ? 1 : 0;
    hidden.whole +=
        step.reduction.end < step.backward.end && step.reduction.begin > step.backward.begin ? 1 : 0;
  }
  return hidden;
}

} // namespace dfc::figure
