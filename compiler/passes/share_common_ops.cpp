// share_common_ops: of ops that give the same value, the first stays and serves all readers. Global value
// numbering over straight-line code (Cocke and Schwartz 1970): a hash of attributes and (already shared)
// operands, compared in full where hashes meet; expected linear time.
//
// Two ops are the same when kind, attributes (literals by their bits), operands and pin agree: an author who
// pins the same formula to two devices wants it twice. The operands of add and mul may change places, which
// keeps every bit (of max and min it need not: -0 and 0 are equal). Never shared: inputs and parameters,
// which are told apart by name and state, assigns and custom ops that are not pure, which are effects, and
// requests. Scopes do not hold equal
// ops apart, and the first op keeps its own: working twice for the sake of a label would be a poor trade. One
// exception: a constant of one element is shared within its scope only. It costs nothing, and an edge between
// two scopes for the sake of a number would suggest a dependence in the picture that the author never wrote.
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/Hashing.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <utility>

namespace dfc {
namespace {

bool isShareable(const OpRow& row) {
  switch (classOf(row.kind())) {
  case OpClass::Source: return row.kind() == OpKind::Constant;
  case OpClass::Custom: return row.as<ops::Custom>().pure;
  case OpClass::State:
  case OpClass::Transfer:
  case OpClass::Request: return false;
  case OpClass::Elementwise:
  case OpClass::Reduction:
  case OpClass::Contraction:
  case OpClass::View:
  case OpClass::Movement:
  case OpClass::Structured: return true;
  }
  DFC_UNREACHABLE("op class");
}

class Sharing {
 public:
  explicit Sharing(const Graph& graph)
      : graph_(graph), rewriter_(graph), readers_(graph.valueCount()), before_(graph.opCount()),
        hash_(graph.opCount()) {}

  Graph run() && {
    for (const OpId op : graph_.ops()) {
      const bool shared = isShareable(graph_[op]) && share(op);
      if (!shared) {
        rewriter_.copy(op);
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  // Lets an earlier op stand for this one; else remembers this one, and the answer is false.
  //
  // Equal ops read the same latest operand, whose readers are few and near, while a table by hash of a large
  // graph is somewhere else in memory for every op. Where a value has more readers than that, the others are
  // found by hash.
  bool share(OpId op) {
    const auto operands = operandsOf(op);
    hash_[op] = hash(op, operands);
    Readers* const near =
        operands.empty() ? nullptr : &readers_[*std::max_element(operands.begin(), operands.end())];
    if (near != nullptr && replaceByOneOf(near->newest, op)) {
      return true;
    }
    if (near != nullptr && near->count < mostNear) {
      ++near->count;
      before_[op] = std::exchange(near->newest, op);
      return false;
    }
    OpId& newest = newest_[hash_[op]];
    if (replaceByOneOf(newest, op)) {
      return true;
    }
    before_[op] = std::exchange(newest, op);
    return false;
  }

  bool replaceByOneOf(OpId newest, OpId op) {
    for (OpId candidate = newest; candidate.valid(); candidate = before_[candidate]) {
      if (hash_[candidate] == hash_[op] && same(candidate, op)) {
        replace(op, candidate);
        return true;
      }
    }
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

  uint32_t hash(OpId op, llvm::ArrayRef<ValueId> operands) const {
    size_t key = llvm::hash_combine(hashAttributes(graph_[op].attributes), graph_[op].pin.index());
    for (const ValueId operand : operands) {
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
  /// Of a value that is their latest operand, in the new graph.
  struct Readers {
    OpId newest; // of the old ops that stayed
    uint32_t count = 0;
  };
  static constexpr uint32_t mostNear = 16;

  SideTable<ValueId, Readers> readers_;
  llvm::DenseMap<uint32_t, OpId> newest_; // by hash: of those that are not among the readers
  SideTable<OpId, OpId> before_;          // the next of the same list
  SideTable<OpId, uint32_t> hash_;
};

} // namespace

Result<Graph> shareCommonOps(const Graph& graph, const PassOptions& /*options*/) {
  return Sharing(graph).run();
}

} // namespace dfc
