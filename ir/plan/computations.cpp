// See computations.h.
#include "ir/plan/computations.h"

#include "ir/graph/rewriter.h"

namespace dfc {
namespace {

class Stripping {
 public:
  Stripping(const PlacedGraph& placed, const Machine& machine)
      : placed_(placed), machine_(machine), rewriter_(placed.graph) {}

  Graph run() && {
    for (const OpId op : placed_.graph.ops()) { // replicas may come before their originals
      if (isOriginal(op)) {
        keep(op);
      }
    }
    for (const OpId op : placed_.graph.ops()) {
      if (!isOriginal(op)) {
        treat(op);
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  bool isOriginal(OpId op) const {
    return placed_.graph[op].kind() == OpKind::Parameter && placed_.replicas.count(op) == 0;
  }

  void keep(OpId op) {
    rewriter_.builder().repin(rewriter_.copy(op), machine_.devices[placed_.device[op]].name);
  }

  void treat(OpId op) {
    const OpRow& row = placed_.graph[op];
    if (const auto replica = placed_.replicas.find(op); replica != placed_.replicas.end()) {
      rewriter_.replace(row.firstResult, rewriter_.mapped(placed_.graph[replica->second].firstResult));
    } else if (row.kind() == OpKind::Transfer) {
      rewriter_.replace(row.firstResult, rewriter_.mapped(row.operands.front()));
    } else if (refreshesReplica(op)) {
      rewriter_.replace(row.firstResult, rewriter_.mapped(row.operands.back()));
    } else {
      keep(op);
    }
  }

  bool refreshesReplica(OpId op) const {
    const OpRow& row = placed_.graph[op];
    return row.kind() == OpKind::Assign &&
           placed_.replicas.count(placed_.graph[row.operands.front()].producer) != 0;
  }

  const PlacedGraph& placed_;
  const Machine& machine_;
  Rewriter rewriter_;
};

} // namespace

Graph computationsOf(const PlacedGraph& placed, const Machine& machine) {
  return Stripping(placed, machine).run();
}

} // namespace dfc
