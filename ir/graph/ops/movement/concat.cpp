#include "ir/graph/ops/movement/concat.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {
namespace {

bool agreeBeside(size_t axis, const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && reducedShape(a, {static_cast<int64_t>(axis)}, true) ==
                                     reducedShape(b, {static_cast<int64_t>(axis)}, true);
}

} // namespace

TypeResult Concat::types(OperandTypes operands) const {
  if (TypeResult elements = checkElements(OpKind::Concat, operands, Domain::Any); !elements.ok()) {
    return elements;
  }
  if (TypeResult known = checkAxis(OpKind::Concat, operands, axis); !known.ok()) {
    return known;
  }
  const Shape& first = operands.front().shape;
  const size_t along = *normalAxis(axis, first.rank());
  Dims dims(first.dims().begin(), first.dims().end());
  for (const TensorType& type : operands.drop_front()) {
    if (!agreeBeside(along, first, type.shape)) {
      return refuse(
          OpKind::Concat, operands,
          fmt::format("{} and {} differ beside axis {}", toString(first), toString(type.shape), along),
          "operands of concat agree in every dimension but the one along which they are joined");
    }
    if (__builtin_add_overflow(dims[along], type.shape[along], &dims[along])) {
      dims[along] = -1; // refused below as no shape
    }
  }
  return resultOf(OpKind::Concat, operands, operands.front().element, dims);
}

OpCost Concat::cost(OperandTypes, OperandTypes results) const { return movementCost(results); }

SplitRule Concat::split(OperandTypes operands, OperandTypes results) const {
  SplitRule rule = elementwiseSplit(operands, results);
  const size_t along = *normalAxis(axis, results[0].shape.rank());
  llvm::SmallVector<uint32_t, 2> all;
  for (size_t i = 0; i < operands.size(); ++i) {
    all.push_back(static_cast<uint32_t>(i));
  }
  for (SplitFactor& factor : rule.factors) {
    int64_t first = 0;
    for (size_t i = 0; i < operands.size() && factor.results[0].axis == along; ++i) {
      factor.operands[i] = pieceOfAxis(operands[i], along, first);
      first += operands[i].shape[along];
    }
  }
  return std::move(rule).with({all});
}

} // namespace dfc::ops
