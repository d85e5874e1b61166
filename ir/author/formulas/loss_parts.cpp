#include "ir/author/formulas/loss_parts.h"

#include "ir/graph/graph.h"

#include <fmt/format.h>

namespace dfc {
namespace {

// The second operand in the first one's element type, whatever its shape.
Tensor targetsFor(Builder& builder, Tensor predictions, const Operand& targets) {
  const ElementType element = predictions.type().element;
  if (targets.number() != nullptr) {
    return builder.scalar(element, *targets.number(), targets.where());
  }
  const Tensor x = *targets.tensor();
  if (x.builder() == nullptr) {
    builder.report(targets.where(), "a loss with an empty Tensor as its targets",
                   "give a tensor or a number");
  }
  return x.valid() && !isFloat(x.type().element) ? cast(x, element) : widened(x);
}

} // namespace

Builder* lossBuilder(const Operand& a, const Operand& b) {
  for (const Operand* operand : {&a, &b}) {
    if (operand->tensor() != nullptr && operand->tensor()->builder() != nullptr) {
      return operand->tensor()->builder();
    }
  }
  return nullptr;
}

Tensor floatsOf(Builder& builder, std::string_view what, const Operand& operand) {
  const Tensor* x = operand.tensor();
  if (x == nullptr || x->builder() == nullptr) {
    builder.report(operand.where(), fmt::format("{} of a number or an empty Tensor", what),
                   fmt::format("{} takes a tensor of floats first", what));
    return {&builder, {}};
  }
  if (x->valid() && !isFloat(x->type().element)) {
    builder.report(operand.where(), fmt::format("{} of {}", what, toString(x->type())),
                   "cast it to a float type");
    return {&builder, {}};
  }
  return widened(*x);
}

LossPair lossPair(std::string_view what, const Operand& predictions, const Operand& targets) {
  LossPair pair{lossBuilder(predictions, targets)};
  if (pair.builder == nullptr) {
    return pair;
  }
  pair.predictions = floatsOf(*pair.builder, what, predictions);
  if (!pair.predictions.valid()) {
    return pair;
  }
  pair.targets = targetsFor(*pair.builder, pair.predictions, targets);
  if (pair && pair.targets.shape().rank() > 0 && pair.targets.shape() != pair.predictions.shape()) {
    pair.builder->report(predictions.where(),
                         fmt::format("{} of {} and {}: the shapes differ", what,
                                     toString(pair.predictions.type()), toString(pair.targets.type())),
                         "reshape one to the other's shape, or give a scalar");
    pair.targets = pair.none();
  }
  return pair;
}

Tensor reducedLoss(Tensor losses, LossReduction reduction) {
  switch (reduction) {
  case LossReduction::Mean: return reduceMean(losses);
  case LossReduction::Sum: return reduceSum(losses);
  case LossReduction::None: return losses;
  }
  return losses;
}

} // namespace dfc
