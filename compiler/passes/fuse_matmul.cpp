// fuse_matmul: a matrix product and the elementwise work that alone reads it become one `fusedMatmul`: a bias
// and an activation, the mask of a relu's gradient, the update of a weight by its gradient. The product then
// never reaches memory where a backend can finish it on the way out (an epilogue).
//
// Assumes that fuse_elementwise ran: the reader is an elementwise op that was left alone, or a fused body
// without reduction. They join under the rules of that pass (fusion_groups.h):
// - Nothing else sees the product: one op reads it, no fetch and no assign does. So the fused op stands where
//   the reader stood, behind all its operands, and no cycle can close.
// - The reader's result has the product's shape, for a product that is stretched would be finished many times
//   over.
// - Both agree in pin and in scope.
// Of several products that one reader could take, the one of most operations joins, the first among equals;
// the others stay operands. Promises the same bits, never more bytes read or written, and linear time.
#include "compiler/passes/fusion_groups.h"
#include "compiler/passes/passes.h"
#include "ir/graph/fused_instruction.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

// The one op that reads a value, where nothing else does.
class SoleReaders {
 public:
  explicit SoleReaders(const Graph& graph) : reader_(graph.valueCount()), others_(graph.valueCount(), false) {
    for (const Fetch& fetch : graph.fetches()) {
      others_[fetch.value] = true;
    }
    for (const OpId op : graph.ops()) {
      for (const ValueId operand : graph[op].operands) {
        others_[operand] = others_[operand] || (reader_[operand].valid() && reader_[operand] != op);
        reader_[operand] = op;
      }
    }
  }
  OpId of(ValueId value) const { return others_[value] ? OpId() : reader_[value]; }

 private:
  SideTable<ValueId, OpId> reader_;
  SideTable<ValueId, bool> others_;
};

bool isEpilogue(const OpRow& row) {
  const auto* fused = row.getIf<ops::Fused>();
  return fused != nullptr ? fused->reduction == ops::Fused::Reduction::None
                          : classOf(row.kind()) == OpClass::Elementwise;
}

double operationsOf(const Graph& graph, OpId op) {
  return costOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).flops;
}

bool mayJoin(const Graph& graph, OpId product, OpId reader) {
  const OpRow &first = graph[product], &second = graph[reader];
  return first.kind() == OpKind::Matmul && first.pin == second.pin && first.scope == second.scope &&
         graph.typeOf(first.firstResult).shape == graph.typeOf(second.firstResult).shape;
}

// The product that `reader` takes in; invalid when there is none.
OpId chosenProduct(const Graph& graph, const SoleReaders& readers, OpId reader) {
  OpId chosen;
  for (const ValueId operand : graph[reader].operands) {
    const OpId product = graph[operand].producer;
    if (readers.of(operand) == reader && mayJoin(graph, product, reader) &&
        (!chosen.valid() || operationsOf(graph, product) > operationsOf(graph, chosen))) {
      chosen = product;
    }
  }
  return chosen;
}

// The reader's work as a body over its own operands.
ops::FusedBody bodyOf(const Graph& graph, OpId reader) {
  const OpRow& row = graph[reader];
  const auto* fused = row.getIf<ops::Fused>();
  return fused != nullptr
             ? fused->body
             : bodyOfOne(row.attributes, row.operands.size(), graph.typeOf(row.firstResult).element);
}

// Writes a product and its reader as one op.
class Joiner {
 public:
  Joiner(const Graph& graph, Rewriter& rewriter) : graph_(graph), rewriter_(rewriter) {}

  void join(OpId product, OpId reader) {
    const auto& matmul = graph_[product].as<ops::Matmul>();
    ops::FusedMatmul op;
    op.transposeA = matmul.transposeA;
    op.transposeB = matmul.transposeB;
    op.precision = matmul.precision;
    op.body = bodyOf(graph_, reader);
    llvm::SmallVector<ValueId, 4> operands;
    for (const ValueId factor : graph_[product].operands) {
      operands.push_back(rewriter_.mapped(factor));
    }
    const auto registers = registersOf(product, reader, operands);
    renumber(op.body, registers, static_cast<uint32_t>(operands.size()) - 1);
    const OpId made = rewriter_.append(std::move(op), operands, reader);
    rewriter_.replace(graph_[reader].firstResult, rewriter_.builder().result(made));
  }

 private:
  // Of each operand of the reader; appends the ones beside the product to `operands`, each once.
  llvm::SmallVector<uint32_t, 8> registersOf(OpId product, OpId reader,
                                             llvm::SmallVectorImpl<ValueId>& operands) const {
    llvm::SmallVector<uint32_t, 8> registers;
    for (const ValueId operand : graph_[reader].operands) {
      if (operand == graph_[product].firstResult) {
        registers.push_back(0);
        continue;
      }
      const ValueId other = rewriter_.mapped(operand);
      const auto* known = std::find(operands.begin() + 2, operands.end(), other);
      registers.push_back(static_cast<uint32_t>(known - operands.begin()) - 1);
      if (known == operands.end()) {
        operands.push_back(other);
      }
    }
    return registers;
  }

  // `registers`: the new register of each operand of the body, which has `count` of them now.
  static void renumber(ops::FusedBody& body, llvm::ArrayRef<uint32_t> registers, uint32_t count) {
    const auto before = static_cast<uint32_t>(registers.size());
    for (ops::FusedInstruction& instruction : body.instructions) {
      for (uint32_t& input : instruction.inputs) {
        input = input < before ? registers[input] : input - before + count;
      }
    }
  }

  const Graph& graph_;
  Rewriter& rewriter_;
};

} // namespace

Result<Graph> fuseMatmul(const Graph& graph, const PassOptions& /*options*/) {
  const SoleReaders readers(graph);
  SideTable<OpId, OpId> productOf(graph.opCount());
  SideTable<OpId, bool> isTaken(graph.opCount(), false);
  for (const OpId op : graph.ops()) {
    if (isEpilogue(graph[op])) {
      productOf[op] = chosenProduct(graph, readers, op);
    }
    if (productOf[op].valid()) {
      isTaken[productOf[op]] = true;
    }
  }
  Rewriter rewriter(graph);
  Joiner joiner(graph, rewriter);
  for (const OpId op : graph.ops()) {
    if (productOf[op].valid()) {
      joiner.join(productOf[op], op);
    } else if (!isTaken[op]) {
      rewriter.copy(op);
    }
  }
  return std::move(rewriter).finish();
}

} // namespace dfc
