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

struct Round {
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
  std::map<uint32_t, Round> rounds;
  for (const Span& span : trace.spans) {
    const OpId op = plan.schedule().steps[span.step].op;
    const std::string_view scope = scopeOf(graph, op);
    const bool copy = graph[op].kind() == OpKind::Transfer;
    Round& round = rounds[span.round];
    if (scope == "fc1 backward" && !copy) {
      round.backward.include(span);
    } else if (scope == "fc2 sum") {
      round.sum.include(span);
      round.reduction.include(span);
    } else if (scope == "fc2 update" && (copy || graph[op].kind() != OpKind::Assign)) {
      round.reduction.include(span);
    }
  }
  HiddenSteps hidden;
  for (const auto& [number, round] : rounds) {
    ++hidden.steps;
    hidden.sums += round.sum.end < round.backward.end && round.sum.begin > round.backward.begin ? 1 : 0;
    hidden.whole +=
        round.reduction.end < round.backward.end && round.reduction.begin > round.backward.begin ? 1 : 0;
  }
  return hidden;
}

} // namespace dfc::figure
