// See computations.h.
#include "ir/plan/computations.h"

#include "ir/graph/rewriter.h"

namespace dfc {
namespace {

class Stripping {
 public:
  Stripping(const PlacedGraph& placed, const Machine& machine)
      : placed_(placed), machine_(machine), rewriter_(placed.graph), narrowSources_(placed.graph.opCount()) {
    for (const OpId op : placed.graph.opsOf(OpKind::Assign)) {
      if (refreshesReplica(op)) {
        noteNarrowSource(op);
      }
    }
  }

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
      treatReplica(op, placed_.graph[replica->second].firstResult);
    } else if (!row.operands.empty() && !rewriter_.isMapped(row.operands.back())) {
      // a transfer to a replica of 16 bits, or its assign
    } else if (narrowSources_[op]) {
      // its readers are left out
    } else if (row.kind() == OpKind::Transfer) {
      rewriter_.replace(row.firstResult, rewriter_.mapped(row.operands.front()));
    } else if (refreshesReplica(op)) {
      rewriter_.replace(row.firstResult, rewriter_.mapped(row.operands.back()));
    } else {
      keep(op);
    }
  }

  // A replica of 16 bits stands for a cast of the original.
  void treatReplica(OpId replica, ValueId original) {
    const ValueId copy = placed_.graph[replica].firstResult;
    const TensorType& type = placed_.graph.typeOf(copy);
    ValueId value = rewriter_.mapped(original);
    if (type != placed_.graph.typeOf(original)) {
      ops::Cast cast;
      cast.to = type.element;
      const OpId made = rewriter_.append(cast, {value}, replica);
      rewriter_.builder().repin(made, machine_.devices[placed_.device[replica]].name);
      value = rewriter_.builder().result(made);
    }
    rewriter_.replace(copy, value);
  }

  // A replica of 16 bits is assigned a cast that nothing else reads, through transfers.
  void noteNarrowSource(OpId refresh) {
    const Graph& graph = placed_.graph;
    const OpId replica = graph[graph[refresh].operands[0]].producer;
    OpId source = graph[graph[refresh].operands[1]].producer;
    while (graph[source].kind() == OpKind::Transfer) {
      source = graph[graph[source].operands[0]].producer;
    }
    const TensorType& original = graph.typeOf(graph[placed_.replicas.lookup(replica)].firstResult);
    narrowSources_[source] = original != graph.typeOf(graph[replica].firstResult);
  }

  bool refreshesReplica(OpId op) const {
    const OpRow& row = placed_.graph[op];
    return row.kind() == OpKind::Assign &&
           placed_.replicas.count(placed_.graph[row.operands.front()].producer) != 0;
  }

  const PlacedGraph& placed_;
  const Machine& machine_;
  Rewriter rewriter_;
  SideTable<OpId, bool> narrowSources_;
};

} // namespace

Graph computationsOf(const PlacedGraph& placed, const Machine& machine) {
  return Stripping(placed, machine).run();
}

} // namespace dfc
