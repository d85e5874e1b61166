// Everything that can go wrong with the operands themselves is said here; types are the business of the ops'
// own rules.
#include "ir/author/dsl/apply.h"

#include "ir/graph/graph.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::dsl {
namespace {

// The operands that a number takes its element type from.
llvm::ArrayRef<Operand> sameTyped(const OpAttributes& attributes, llvm::ArrayRef<Operand> operands) {
  return kindOf(attributes) == OpKind::Select ? operands.drop_front() : operands;
}

const Tensor* firstTensor(llvm::ArrayRef<Operand> operands) {
  for (const Operand& operand : operands) {
    if (operand.tensor() != nullptr && operand.tensor()->builder() != nullptr) {
      return operand.tensor();
    }
  }
  return nullptr;
}

// A number as a scalar of the type of `model`; poisoned when that cannot hold it.
Tensor scalarLike(Tensor model, OpKind kind, const Operand& number) {
  if (!model.valid()) {
    return {model.builder(), {}};
  }
  const ElementType element = model.type().element;
  if (!canHold(element, *number.number())) {
    model.builder()->report(number.where(),
                            fmt::format("{} of {} and {}: {} cannot hold {}", nameOf(kind),
                                        toString(model.type()), *number.number(), name(element),
                                        *number.number()),
                            "cast the tensor to a float type first, or give a number of its type");
    return {model.builder(), {}};
  }
  return model.builder()->scalar(element, *number.number(), number.where());
}

Tensor refuseNumbers(Builder& builder, const OpAttributes& attributes, std::source_location where) {
  const bool select = kindOf(attributes) == OpKind::Select;
  builder.report(where,
                 fmt::format("{} of numbers only: they have no element type", nameOf(kindOf(attributes))),
                 select ? "make one branch a tensor with Builder::scalar, and the condition with compare"
                        : "make a tensor with Builder::scalar");
  return {&builder, {}};
}

std::vector<Tensor> applyMulti(OpAttributes attributes, llvm::ArrayRef<Operand> operands) {
  const Tensor* any = firstTensor(operands);
  if (any == nullptr) {
    return {};
  }
  Builder& builder = *any->builder();
  const Tensor* model = firstTensor(sameTyped(attributes, operands));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const bool isSameTyped = operands.size() - i <= sameTyped(attributes, operands).size();
    if (operand.number() != nullptr && (model == nullptr || !isSameTyped)) {
      return {refuseNumbers(builder, attributes, operand.where())};
    }
    tensors.push_back(operand.number() != nullptr ? scalarLike(*model, kindOf(attributes), operand)
                                                  : *operand.tensor());
  }
  return builder.multiOp(std::move(attributes), tensors, operands.front().where());
}

} // namespace

std::vector<Tensor> applySeveral(OpAttributes attributes, llvm::ArrayRef<Operand> operands, size_t count) {
  std::vector<Tensor> results = applyMulti(std::move(attributes), operands);
  if (results.size() != count) {
    const Tensor* any = firstTensor(operands);
    results.assign(count, any == nullptr ? Tensor() : Tensor(any->builder(), {}));
  }
  return results;
}

Tensor apply(OpAttributes attributes, llvm::ArrayRef<Operand> operands) {
  return applySeveral(std::move(attributes), operands, 1).front();
}

} // namespace dfc::dsl
