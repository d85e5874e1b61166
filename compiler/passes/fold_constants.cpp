// fold_constants: an op whose operands are all constants becomes a constant, computed by the evaluator.
//
// Only where every backend must give the same bits as the evaluator: ops that move elements, integer
// arithmetic, the operations that IEEE 754 rounds correctly (+ - * / sqrt), and what only chooses or compares
// (neg, relu, max, min, select, compare, cast, argMax). Never transcendental functions, which libraries round
// differently, nor sums and products of floats, whose order matters. Left alone at the edges: max, min and
// relu of a -0, where the op table does not say which zero comes out, and casts to a 16-bit float that a
// backend may round twice.
//
// Folding must not make the program larger: a result takes at most as many bytes as its operands together,
// or one cache line, and 64 KiB at most (several results counted together); so a broadcast scalar stays a
// scalar and a plan stays small.
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

constexpr int64_t mostBytes = 64 << 10;
constexpr int64_t freeBytes = 64;

using Constants = llvm::SmallVector<Literal, 4>;

bool hasNegativeZero(const Literal& literal) {
  for (int64_t i = 0; isFloat(literal.type().element) && i < literal.type().shape.elements(); ++i) {
    const double element = literal.at(i);
    if (element == 0 && std::signbit(element)) {
      return true;
    }
  }
  return false;
}

// Whether a backend cannot but round this cast once.
bool castsOnce(ElementType from, ElementType to) {
  const bool narrow = to == ElementType::F16 || to == ElementType::BF16;
  const bool wide = from == ElementType::F64 || from == ElementType::I64 || from == ElementType::I32;
  return !(narrow && wide);
}

bool foldsExactly(const OpAttributes& attributes, const Constants& operands) {
  switch (kindOf(attributes)) {
  case OpKind::Maximum:
  case OpKind::Minimum:
  case OpKind::Clip:
  case OpKind::Relu:
  case OpKind::ReduceMin:
  case OpKind::ReduceMax: return llvm::none_of(operands, hasNegativeZero);
  case OpKind::Cast: return castsOnce(operands[0].type().element, attributes.as<ops::Cast>().to);
  case OpKind::ReduceSum:
  case OpKind::ReduceProduct:
  case OpKind::CumSum:
  case OpKind::ScatterAdd: return !isFloat(operands[0].type().element);
  case OpKind::Cut: return false;              // a constant would not say where it is cut
  default: return isExact(kindOf(attributes)); // as the op's own file says
  }
}

// The values of the op's operands in the new graph, when all are constants; else none.
Constants constantOperands(const Rewriter& rewriter, const Graph& made, const OpRow& row) {
  Constants operands;
  for (const ValueId operand : row.operands) {
    const auto* constant = made[made[rewriter.mapped(operand)].producer].getIf<ops::Constant>();
    if (constant == nullptr) {
      return {};
    }
    operands.push_back(constant->value);
  }
  return operands;
}

bool isSmall(OperandTypes results, const Constants& operands) {
  int64_t before = 0, after = 0;
  for (const Literal& operand : operands) {
    before += operand.type().bytes();
  }
  for (const TensorType& result : results) {
    after += result.bytes();
  }
  return before <= 2 * mostBytes && after <= mostBytes && after <= std::max(before, freeBytes);
}

// A constant for each result of `op`.
void fold(Rewriter& rewriter, OpId op, const Constants& operands) {
  const OpRow& row = rewriter.old()[op];
  auto values = evaluateOp(row.attributes, operands);
  for (const ValueId result : row.results()) {
    ops::Constant folded;
    folded.value = std::move(values[result.index() - row.firstResult.index()]);
    const OpId made = rewriter.append(std::move(folded), {}, op, rewriter.old().nameOf(result));
    rewriter.replace(result, rewriter.builder().result(made));
  }
}

} // namespace

Result<Graph> foldConstants(const Graph& graph, const PassOptions& /*options*/) {
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const Constants operands = constantOperands(rewriter, rewriter.builder().soFar(), row);
    if (!operands.empty() && isSmall(graph.resultTypesOf(op), operands) &&
        foldsExactly(row.attributes, operands)) {
      fold(rewriter, op, operands);
    } else {
      rewriter.copy(op);
    }
  }
  return std::move(rewriter).finish();
}

} // namespace dfc
