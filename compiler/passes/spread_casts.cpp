#include "compiler/passes/spread_casts.h"

#include "compiler/passes/casts.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

bool mayTakeIn(const OpRow& row) {
  const OpClass opClass = classOf(row.kind());
  return (opClass == OpClass::Elementwise && row.kind() != OpKind::Cast) || opClass == OpClass::Reduction;
}

class Spreading {
 public:
  explicit Spreading(const Graph& graph) : graph_(graph), rewriter_(graph), readers_(graph.valueCount(), 0) {
    for (const OpId op : graph.ops()) {
      for (const ValueId operand : graph[op].operands) {
        ++readers_[operand];
      }
    }
  }

  Graph run() && {
    for (const OpId op : graph_.ops()) {
      if (mayTakeIn(graph_[op]) &&
          llvm::any_of(graph_[op].operands, [&](ValueId o) { return spreads(o, op); })) {
        copyWithCasts(op);
      } else {
        rewriter_.copy(op);
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  bool spreads(ValueId operand, OpId reader) const {
    const OpRow& maker = graph_[graph_[operand].producer];
    return maker.kind() == OpKind::Cast && graph_.typeOf(operand).element == ElementType::F32 &&
           isFloat(graph_.typeOf(maker.operands[0]).element) &&
           byteWidth(graph_.typeOf(maker.operands[0]).element) == 2 && maker.pin == graph_[reader].pin &&
           (readers_[operand] > 1 || maker.scope != graph_[reader].scope);
  }

  void copyWithCasts(OpId op) {
    const OpRow& row = graph_[op];
    llvm::SmallVector<ValueId, 4> operands;
    llvm::DenseMap<ValueId, ValueId> own;
    for (const ValueId operand : row.operands) {
      if (!spreads(operand, op)) {
        operands.push_back(rewriter_.mapped(operand));
        continue;
      }
      ValueId& cast = own[operand];
      if (!cast.valid()) {
        const ValueId narrow = rewriter_.mapped(graph_[graph_[operand].producer].operands[0]);
        cast = appendCast(rewriter_, ElementType::F32, narrow, op, std::string(graph_.nameOf(op)) + ".wide");
      }
      operands.push_back(cast);
    }
    const OpId made = rewriter_.append(row.attributes, operands, op);
    const ValueId result = rewriter_.builder().result(made);
    rewriter_.builder().rename(result, graph_.nameOf(op));
    rewriter_.replace(row.firstResult, result);
  }

  const Graph& graph_;
  Rewriter rewriter_;
  SideTable<ValueId, uint32_t> readers_;
};

} // namespace

Graph spreadCasts(const Graph& graph) {
  return graph.opsOf(OpKind::Cast).empty() ? graph : Spreading(graph).run();
}

} // namespace dfc
