#include "compiler/hoist/worth_hoisting.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

/// Bytes of a kept value over the bytes that it is made of: packed weights of 4 bits give f32 of eight times
/// their bytes; what grows more is mostly a broadcast.
constexpr double mostGrowth = 8;
/// Bytes of a kept value that a cache holds, and the growth from which it is not kept then: computed anew, it
/// comes from fewer bytes of memory and stays in the cache.
constexpr double cachedBytes = 4 << 20, cachedGrowth = 2;
/// Operations for an element of the result from which computing it costs more than reading it.
constexpr double heavyFlopsForAnElement = 8;

class Worth {
 public:
  explicit Worth(const Graph& graph)
      : graph_(graph), found_{SideTable<OpId, bool>(graph.opCount()), SideTable<OpId, bool>(graph.opCount())},
        assigned_(graph.opCount()), madeOf_(graph.opCount(), 0), flops_(graph.opCount(), 0) {}

  InvariantOps run() {
    for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
      assigned_[graph_[graph_[assign].operands[0]].producer] = true;
    }
    for (const OpId op : graph_.ops()) {
      found_.invariant[op] = isInvariant(op);
      if (found_.invariant[op]) {
        measure(op);
        found_.worth[op] = isWorth(op);
      }
    }
    return std::move(found_);
  }

 private:
  bool isInvariant(OpId op) const {
    const OpRow& row = graph_[op];
    switch (row.kind()) {
    case OpKind::Constant: return true;
    case OpKind::Parameter: return !assigned_[op];
    case OpKind::Cut: return false;
    default: break;
    }
    switch (classOf(row.kind())) {
    case OpClass::Source:
    case OpClass::State:
    case OpClass::Custom:
    case OpClass::Transfer:
    case OpClass::Request: return false;
    case OpClass::Elementwise:
    case OpClass::Reduction:
    case OpClass::Contraction:
    case OpClass::View:
    case OpClass::Movement:
    case OpClass::Structured: break;
    }
    return llvm::all_of(row.operands,
                        [&](ValueId operand) { return found_.invariant[graph_[operand].producer]; });
  }

  double bytesOf(OpId op) const {
    double bytes = 0;
    for (const ValueId result : graph_[op].results()) {
      bytes += static_cast<double>(graph_.typeOf(result).bytes());
    }
    return bytes;
  }

  double elementsOf(OpId op) const {
    double elements = 0;
    for (const ValueId result : graph_[op].results()) {
      elements += static_cast<double>(graph_.typeOf(result).shape.elements());
    }
    return elements;
  }

  // Sums over operands count a value twice that is read twice; no result is made of more than its own bytes.
  void measure(OpId op) {
    const OpRow& row = graph_[op];
    if (isResident(row.kind())) {
      madeOf_[op] = bytesOf(op);
      return;
    }
    double operands = 0;
    flops_[op] = costOf(row.attributes, graph_.operandTypesOf(op), graph_.resultTypesOf(op)).flops;
    for (const ValueId operand : row.operands) {
      operands += madeOf_[graph_[operand].producer];
      flops_[op] += flops_[graph_[operand].producer];
    }
    madeOf_[op] = std::min(operands, bytesOf(op));
  }

  bool isWorth(OpId op) const {
    const OpKind kind = graph_[op].kind();
    const double bytes = bytesOf(op);
    if (isResident(kind) || classOf(kind) == OpClass::View || kind == OpKind::Broadcast || bytes == 0 ||
        isKeptCast(op)) {
      return false;
    }
    const double growth = bytes <= cachedBytes ? cachedGrowth : mostGrowth;
    return bytes <= growth * madeOf_[op] || flops_[op] > heavyFlopsForAnElement * elementsOf(op);
  }

  static bool isResident(OpKind kind) { return kind == OpKind::Parameter || kind == OpKind::Constant; }

  bool isKeptCast(OpId op) const {
    const OpRow& row = graph_[op];
    if (row.kind() != OpKind::Cast || graph_[graph_[row.operands[0]].producer].kind() != OpKind::Parameter) {
      return false;
    }
    const ElementType from = graph_.typeOf(row.operands[0]).element;
    const ElementType to = graph_.typeOf(row.firstResult).element;
    return from == ElementType::F32 && isFloat(to) && byteWidth(to) == 2;
  }

  const Graph& graph_;
  InvariantOps found_;
  SideTable<OpId, bool> assigned_;
  SideTable<OpId, double> madeOf_; ///< bytes of parameters and constants
  SideTable<OpId, double> flops_;  ///< of the op and all that leads to it
};

} // namespace

InvariantOps worthHoisting(const Graph& graph) { return Worth(graph).run(); }

} // namespace dfc
