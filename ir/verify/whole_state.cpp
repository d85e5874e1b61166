// verifyWholeState: inputs and parameters that are parts or copies of an author's (ir/graph/whole_state.h)
// make up the author's: one element type, one shape of the whole, parts that fill it without overlap; copies,
// of the whole or of a part, that start alike and are assigned alike.
#include "ir/graph/whole_state.h"
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <map>

namespace dfc {
namespace {

using Ops = std::vector<OpId>;

class WholeStateVerifier {
 public:
  WholeStateVerifier(const Graph& graph, llvm::function_ref<bool(OpId)> isReplica)
      : graph_(graph), isReplica_(isReplica), findings_(graph), assigned_(graph.opCount()) {
    for (const OpId assign : graph.opsOf(OpKind::Assign)) {
      assigned_[graph[graph[assign].operands[0]].producer] = true;
    }
  }

  Diagnostics run() {
    for (const OpKind kind : {OpKind::Input, OpKind::Parameter}) {
      std::map<std::string_view, Ops> byName;
      for (const OpId op : graph_.opsOf(kind)) {
        if (!isReplica_(op)) {
          byName[authorNameOf(graph_, op)].push_back(op);
        }
      }
      for (const auto& [name, ops] : byName) {
        check(std::string(name), ops);
      }
    }
    return findings_.take();
  }

 private:
  std::string nameOf(OpId op) const { return fmt::format("'{}'", graph_.nameOf(op)); }
  const Shape& shapeOf(OpId op) const { return graph_.typeOf(graph_[op].firstResult).shape; }
  bool isPart(OpId op) const { return placeOf(graph_, op).isPart(); }

  void check(const std::string& whole, const Ops& ops) {
    for (const OpId op : ops) {
      if (!(authorTypeOf(graph_, op) == authorTypeOf(graph_, ops.front()))) {
        findings_.at(op,
                     fmt::format("{} is of a '{}' of {}, and {} of one of {}", nameOf(op), whole,
                                 toString(authorTypeOf(graph_, op)), nameOf(ops.front()),
                                 toString(authorTypeOf(graph_, ops.front()))),
                     "give all parts and copies the element type and the shape of the whole");
        return;
      }
      if (isPart(op) != isPart(ops.front())) {
        findings_.at(op,
                     fmt::format("of '{}' {} is a part, and {} is all", whole,
                                 nameOf(isPart(op) ? op : ops.front()),
                                 nameOf(isPart(op) ? ops.front() : op)),
                     "let all be parts, or all be copies");
        return;
      }
    }
    std::map<std::pair<Dims, Dims>, Ops> boxes; // ops by start and shape; several of one box are copies
    Ops parts;
    for (const OpId op : ops) {
      const llvm::ArrayRef<int64_t> dims = dimRange(shapeOf(op));
      Ops& copies = boxes[{placeOf(graph_, op).starts, Dims(dims.begin(), dims.end())}];
      if (copies.empty()) {
        parts.push_back(op);
      }
      copies.push_back(op);
    }
    if (isPart(ops.front())) {
      checkParts(whole, parts);
    }
    for (const auto& [box, copies] : boxes) {
      checkCopies(whole, copies);
    }
  }

  /// The axes along which the op is not all of the whole.
  llvm::SmallVector<size_t, 1> cutAxes(OpId op) const {
    llvm::SmallVector<size_t, 1> axes;
    for (size_t axis = 0; axis < shapeOf(op).rank(); ++axis) {
      if (shapeOf(op)[axis] != placeOf(graph_, op).whole[axis]) {
        axes.push_back(axis);
      }
    }
    return axes;
  }

  void checkParts(const std::string& whole, Ops ops) {
    const auto axes = cutAxes(ops.front());
    if (axes.empty() && ops.size() == 1) {
      return; // one part, of all elements
    }
    if (axes.size() != 1 || !llvm::all_of(ops, [&](OpId op) { return cutAxes(op) == axes; })) {
      checkBoxes(whole, ops);
      return;
    }
    const size_t axis = axes.front();
    const auto beginOf = [&](OpId op) { return placeOf(graph_, op).starts[axis]; };
    llvm::stable_sort(ops, [&](OpId a, OpId b) { return beginOf(a) < beginOf(b); });
    int64_t next = 0;
    for (const OpId op : ops) {
      if (beginOf(op) != next) {
        findings_.at(op,
                     fmt::format("{} begins at {} of axis {} of '{}', and the parts before it end at {}",
                                 nameOf(op), beginOf(op), axis, whole, next),
                     "let the parts follow one another without gap or overlap");
        return;
      }
      next += shapeOf(op)[axis];
      checkRun(whole, op);
    }
    if (next != placeOf(graph_, ops.front()).whole[axis]) {
      findings_.at(ops.back(),
                   fmt::format("the parts of '{}' end at {} of axis {}, which has {} elements", whole, next,
                               axis, placeOf(graph_, ops.front()).whole[axis]),
                   "let the parts make up the whole");
    }
  }

  // Parts cut along several axes are boxes. Two boxes overlap if their ranges overlap on every axis.
  void checkBoxes(const std::string& whole, const Ops& ops) {
    int64_t elements = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      elements += shapeOf(ops[i]).elements();
      for (size_t j = 0; j < i; ++j) {
        if (overlap(ops[j], ops[i])) {
          findings_.at(
              ops[i],
              fmt::format("the parts {} and {} of '{}' overlap", nameOf(ops[j]), nameOf(ops[i]), whole),
              "let each element of the whole be in one part");
          return;
        }
      }
      checkRun(whole, ops[i]);
    }
    const int64_t all = Shape(placeOf(graph_, ops.front()).whole).elements();
    if (elements != all) {
      findings_.at(ops.front(),
                   fmt::format("the parts of '{}' have {} of its {} elements", whole, elements, all),
                   "let the parts make up the whole");
    }
  }

  bool overlap(OpId a, OpId b) const {
    const Dims &first = placeOf(graph_, a).starts, &second = placeOf(graph_, b).starts;
    for (size_t axis = 0; axis < first.size(); ++axis) {
      if (first[axis] + shapeOf(a)[axis] <= second[axis] || second[axis] + shapeOf(b)[axis] <= first[axis]) {
        return false;
      }
    }
    return true;
  }

  // A step reads the caller's bytes where they lie.
  void checkRun(const std::string& whole, OpId op) {
    if (graph_[op].kind() == OpKind::Input &&
        placeOf(graph_, op).contiguous(shapeOf(op)) != shapeOf(op).elements()) {
      findings_.at(op, fmt::format("input {} is no run of neighbouring elements of '{}'", nameOf(op), whole),
                   "cut inputs along their first axis that is longer than 1");
    }
  }

  // A checkpoint holds one of them.
  void checkCopies(const std::string& whole, const Ops& ops) {
    for (const OpId op : ops) {
      if (graph_[op].kind() == OpKind::Parameter &&
          (assigned_[op] != assigned_[ops.front()] || !startAlike(op, ops.front()))) {
        findings_.at(op,
                     fmt::format("the copies {} and {} of '{}' {}", nameOf(ops.front()), nameOf(op), whole,
                                 assigned_[op] != assigned_[ops.front()] ? "are not both assigned"
                                                                         : "start with other values"),
                     "start all copies of a parameter alike, and assign all or none");
        return;
      }
    }
  }

  bool startAlike(OpId a, OpId b) const {
    auto first = graph_[a].as<ops::Parameter>(), second = graph_[b].as<ops::Parameter>();
    first.of = second.of = "";
    return sameAttributes(first, second);
  }

  const Graph& graph_;
  llvm::function_ref<bool(OpId)> isReplica_;
  Findings findings_;
  SideTable<OpId, bool> assigned_; // of parameters
};

} // namespace

Diagnostics verifyWholeState(const Graph& graph, llvm::function_ref<bool(OpId)> isReplica) {
  return WholeStateVerifier(graph, isReplica).run();
}

} // namespace dfc
