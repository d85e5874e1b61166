// share_common_ops: of ops that give the same value, the first stays and serves all readers. Global value
// numbering over straight-line code (Cocke and Schwartz 1970): a hash of attributes and (already shared)
// operands, compared in full where hashes meet; expected linear time.
//
// Two ops are the same when kind, attributes (literals by their bits), operands and pin agree: an author who
// pins the same formula to two devices wants it twice. The operands of add and mul may change places, which
// keeps every bit (of max and min it need not: -0 and 0 are equal). Never shared: inputs and parameters,
// which are told apart by name and state, assigns, which are effects, and requests. Scopes do not hold equal
// ops apart, and the first op keeps its own: working twice for the sake of a label would be a poor trade. One
// exception: a constant of one element is shared within its scope only, for it costs nothing, and an edge
// between two of the author's boxes for the sake of a number would tell a reader of the picture something
// untrue.
#include "compiler/passes/passes.h"
#include "ir/rewriter.h"

#include <llvm/ADT/Hashing.h>
#include <llvm/ADT/STLExtras.h>

#include <utility>

namespace dfc {
namespace {

bool isShareable(OpKind kind) {
  switch (classOf(kind)) {
  case OpClass::Source: return kind == OpKind::Constant;
  case OpClass::State:
  case OpClass::Transfer:
  case OpClass::Request: return false;
  case OpClass::Elementwise:
  case OpClass::Reduction:
  case OpClass::Contraction:
  case OpClass::View:
  case OpClass::Movement:
  case OpClass::Composite: return true;
  }
  DFC_UNREACHABLE("op class");
}

class Sharing {
 public:
  explicit Sharing(const Graph& graph) : graph_(graph), rewriter_(graph), before_(graph.opCount()) {
    newest_.reserve(static_cast<unsigned>(graph.opCount()));
  }

  Graph run() && {
    for (const OpId op : graph_.ops()) {
      const bool shared = isShareable(graph_[op].kind()) && share(op);
      if (!shared) {
        rewriter_.copy(op);
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  // Lets an earlier op stand for this one; else remembers this one, and the answer is false.
  bool share(OpId op) {
    OpId& newest = newest_[hash(op)];
    for (OpId candidate = newest; candidate.valid(); candidate = before_[candidate]) {
      if (same(candidate, op)) {
        replace(op, candidate);
        return true;
      }
    }
    before_[op] = std::exchange(newest, op);
    return false;
  }

  // The op's operands after sharing, in an order that does not tell equal ops apart.
  llvm::SmallVector<ValueId, 4> operandsOf(OpId op) const {
    llvm::SmallVector<ValueId, 4> operands;
    for (const ValueId operand : graph_[op].operands) {
      operands.push_back(rewriter_.mapped(operand));
    }
    if (graph_[op].kind() == OpKind::Add || graph_[op].kind() == OpKind::Mul) {
      llvm::sort(operands);
    }
    return operands;
  }

  uint32_t hash(OpId op) const {
    size_t key = llvm::hash_combine(hashAttributes(graph_[op].attributes), graph_[op].pin.index());
    for (const ValueId operand : operandsOf(op)) {
      key = llvm::hash_combine(key, operand.index());
    }
    if (staysInScope(op)) {
      key = llvm::hash_combine(key, graph_[op].scope.index());
    }
    return static_cast<uint32_t>(key) >> 1U; // the two largest numbers are not keys of the map
  }

  bool staysInScope(OpId op) const {
    return graph_[op].kind() == OpKind::Constant &&
           graph_.typeOf(graph_[op].firstResult).shape.elements() == 1;
  }

  bool same(OpId a, OpId b) const {
    const OpRow &left = graph_[a], &right = graph_[b];
    return left.pin == right.pin && (left.scope == right.scope || !staysInScope(a)) &&
           operandsOf(a) == operandsOf(b) && sameAttributes(left.attributes, right.attributes);
  }

  void replace(OpId op, OpId by) {
    for (uint32_t i = 0; i < graph_[op].resultCount; ++i) {
      rewriter_.replace(ValueId(graph_[op].firstResult.index() + i),
                        rewriter_.mapped(ValueId(graph_[by].firstResult.index() + i)));
    }
  }

  const Graph& graph_;
  Rewriter rewriter_;
  llvm::DenseMap<uint32_t, OpId> newest_; // by hash, the newest of the old ops that stayed
  SideTable<OpId, OpId> before_;          // the one of the same hash before it
};

} // namespace

Result<Graph> shareCommonOps(const Graph& graph) { return Sharing(graph).run(); }

} // namespace dfc
