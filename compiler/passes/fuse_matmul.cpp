// fuse_matmul: a matrix product and the elementwise work that alone reads it become one `fusedMatmul`: a bias
// and an activation, the mask of a relu's gradient, the update of a weight by its gradient. The product then
// never reaches memory where a backend can finish it on the way out (an epilogue). On CPUs a convolution,
// which is a product, too, becomes a `fusedConv2d` likewise; on GPUs its kernels have no epilogues.
//
// Assumes that fuse_elementwise ran: the reader is an elementwise op that was left alone, or a fused body
// without reduction. They join under the rules of that pass (fusion_groups.h):
// - Nothing else sees the product: one op reads it, no fetch and no assign does. So the fused op stands where
//   the reader stood, behind all its operands, and no cycle can close.
// - The reader's result has the product's shape, for a product that is stretched would be finished many times
//   over.
// - Both agree in pin and in scope. Sums of gradients stand between two scopes, that of the value and that of
//   its last use, and belong to neither of the author's: such an addition joins the product that it adds.
// A reshape may stand between them, which moves no bytes: the product of a 1x1 convolution's pixels and the
// addition of images. The work is then done in the product's shape, and its result reshaped.
// Of several products that one reader could take, the one of most operations joins, the first among equals;
// the others stay operands. Promises the same bits, never more bytes read or written, and linear time.
#include "compiler/passes/fusion_groups.h"
#include "compiler/passes/passes.h"
#include "ir/graph/fused_instruction.h"
#include "ir/graph/rewriter.h"

#include <fmt/format.h>
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

// Whether `gradients` made the scope (`gradientScope`).
bool isOfGradients(const Graph& graph, OpId op) {
  const std::string_view scope = graph.scopeOf(op);
  return scope.ends_with(" gradient") || scope.ends_with(" backward");
}

bool samePlace(const Graph& graph, OpId product, OpId reader) {
  if (graph[product].pin != graph[reader].pin) {
    return false;
  }
  const bool sum =
      graph[reader].kind() == OpKind::Add && isOfGradients(graph, product) && isOfGradients(graph, reader);
  return sum || graph[product].scope == graph[reader].scope;
}

const Shape& resultShape(const Graph& graph, OpId op) { return graph.typeOf(graph[op].firstResult).shape; }

// Whether an operand of the reader can be read in step with the product's shape: one that has the reader's
// shape is reshaped, one element of no more axes is one element, and a row of the same length is repeated in
// either shape.
bool fitsBoth(const Shape& operand, const Shape& product, const Shape& reader) {
  const auto isRowOf = [&](const Shape& whole) {
    return operand.rank() == 1 && whole.rank() > 0 && whole[whole.rank() - 1] == operand[0];
  };
  return operand == reader || (operand.elements() == 1 && operand.rank() <= product.rank()) ||
         (isRowOf(product) && isRowOf(reader));
}

/// A product that a reader takes in, and the reshape between them, where there is one.
struct TakenProduct {
  OpId product, view;
};

// Whether the op's kernels have epilogues: those of matmul, and on CPUs those of convolutions in
// channels-last layouts. Kernels of nchw convolutions have none.
bool canHaveEpilogue(const Graph& graph, OpId op, const PassOptions& options) {
  const auto* convolution = graph[op].getIf<ops::Conv2d>();
  return graph[op].kind() == OpKind::Matmul ||
         (convolution != nullptr && convolution->layout != ImageLayout::Nchw && options.onCpus &&
          options.onCpus(graph.pinOf(op)));
}

// What stands before `operand` of `reader`; without a product where they may not join.
TakenProduct joinedBy(const Graph& graph, const SoleReaders& readers, OpId reader, ValueId operand,
                      const PassOptions& options) {
  TakenProduct joined{graph[operand].producer, {}};
  if (readers.of(operand) != reader || !samePlace(graph, joined.product, reader)) {
    return {};
  }
  if (graph[joined.product].kind() == OpKind::Reshape) {
    joined.view = joined.product;
    const ValueId viewed = graph[joined.view].operands[0];
    joined.product = graph[viewed].producer;
    if (readers.of(viewed) != joined.view || !samePlace(graph, joined.product, reader)) {
      return {};
    }
  }
  const Shape& whole = resultShape(graph, reader);
  if (!canHaveEpilogue(graph, joined.product, options) || graph.typeOf(operand).shape != whole) {
    return {};
  }
  const bool fits = llvm::all_of(graph[reader].operands, [&](ValueId other) {
    return fitsBoth(graph.typeOf(other).shape, resultShape(graph, joined.product), whole);
  });
  return !joined.view.valid() || fits ? joined : TakenProduct();
}

// What `reader` takes in; without a product when there is none.
TakenProduct chosenProduct(const Graph& graph, const SoleReaders& readers, OpId reader,
                           const PassOptions& options) {
  TakenProduct chosen;
  for (const ValueId operand : graph[reader].operands) {
    const TakenProduct joined = joinedBy(graph, readers, reader, operand, options);
    if (joined.product.valid() && (!chosen.product.valid() || operationsOf(graph, joined.product) >
                                                                  operationsOf(graph, chosen.product))) {
      chosen = joined;
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

  void join(const TakenProduct& joined, OpId reader) {
    const OpAttributes& product = graph_[joined.product].attributes;
    if (const auto* matmul = product.getIf<ops::Matmul>()) {
      ops::FusedMatmul op;
      op.transposeA = matmul->transposeA;
      op.transposeB = matmul->transposeB;
      op.precision = matmul->precision;
      join(std::move(op), joined, reader);
    } else {
      ops::FusedConv2d op;
      static_cast<ops::Conv2d&>(op) = product.as<ops::Conv2d>();
      join(std::move(op), joined, reader);
    }
  }

 private:
  template <class FusedOp>
  void join(FusedOp op, const TakenProduct& joined, OpId reader) {
    op.body = bodyOf(graph_, reader);
    llvm::SmallVector<ValueId, 4> operands;
    for (const ValueId factor : graph_[joined.product].operands) {
      operands.push_back(rewriter_.mapped(factor));
    }
    const auto registers = registersOf(joined, reader, operands);
    renumber(op.body, registers, static_cast<uint32_t>(operands.size()) - 1);
    ValueId result;
    if (joined.view.valid()) {
      const std::string name = fmt::format("{}.product", graph_.nameOf(reader));
      const OpId made = rewriter_.append(std::move(op), operands, reader, name);
      result = reshaped(rewriter_.builder().result(made), resultShape(graph_, reader), reader, {});
    } else {
      result = rewriter_.builder().result(rewriter_.append(std::move(op), operands, reader));
    }
    rewriter_.replace(graph_[reader].firstResult, result);
  }

  // Of each operand of the reader; appends the ones beside the product to `operands`, each once.
  llvm::SmallVector<uint32_t, 8> registersOf(const TakenProduct& joined, OpId reader,
                                             llvm::SmallVectorImpl<ValueId>& operands) {
    const ValueId taken = graph_[joined.view.valid() ? joined.view : joined.product].firstResult;
    llvm::SmallVector<uint32_t, 8> registers;
    reshaped_.clear();
    for (const ValueId operand : graph_[reader].operands) {
      if (operand == taken) {
        registers.push_back(0);
        continue;
      }
      const ValueId other = inStep(operand, joined, reader);
      const auto* known = std::find(operands.begin() + 2, operands.end(), other);
      registers.push_back(static_cast<uint32_t>(known - operands.begin()) - 1);
      if (known == operands.end()) {
        operands.push_back(other);
      }
    }
    return registers;
  }

  // The operand in the shape of the product, each reshaped once.
  ValueId inStep(ValueId operand, const TakenProduct& joined, OpId reader) {
    const ValueId value = rewriter_.mapped(operand);
    if (!joined.view.valid() || graph_.typeOf(operand).shape != resultShape(graph_, reader)) {
      return value;
    }
    const auto known = llvm::find_if(reshaped_, [&](const auto& pair) { return pair.first == operand; });
    if (known != reshaped_.end()) {
      return known->second;
    }
    const std::string name = fmt::format("{}.addend", graph_.nameOf(reader));
    reshaped_.emplace_back(operand, reshaped(value, resultShape(graph_, joined.product), reader, name));
    return reshaped_.back().second;
  }

  ValueId reshaped(ValueId value, const Shape& shape, OpId like, std::string_view name) {
    ops::Reshape reshape;
    reshape.shape.assign(shape.dims().begin(), shape.dims().end());
    return rewriter_.builder().result(rewriter_.append(std::move(reshape), {value}, like, name));
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
  llvm::SmallVector<std::pair<ValueId, ValueId>, 2> reshaped_; // operands of the op that is joined
};

} // namespace

Result<Graph> fuseMatmul(const Graph& graph, const PassOptions& options) {
  const SoleReaders readers(graph);
  SideTable<OpId, TakenProduct> productOf(graph.opCount());
  SideTable<OpId, bool> isTaken(graph.opCount(), false);
  for (const OpId op : graph.ops()) {
    if (isEpilogue(graph[op])) {
      productOf[op] = chosenProduct(graph, readers, op, options);
    }
    if (productOf[op].product.valid()) {
      isTaken[productOf[op].product] = true;
    }
    if (productOf[op].view.valid()) {
      isTaken[productOf[op].view] = true;
    }
  }
  Rewriter rewriter(graph);
  Joiner joiner(graph, rewriter);
  for (const OpId op : graph.ops()) {
    if (productOf[op].product.valid()) {
      joiner.join(productOf[op], op);
    } else if (!isTaken[op]) {
      rewriter.copy(op);
    }
  }
  return std::move(rewriter).finish();
}

} // namespace dfc
