// fused: the rule asks the scalar ops' own rules about every instruction, so a body can say nothing that an
// unfused graph could not. It has no gradient: fusion comes after differentiation.
#include "ir/graph/fused_instruction.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::ops {
namespace {

constexpr std::array<std::string_view, 4> reductionNames = {"none", "sum", "mean", "max"};

llvm::SmallVector<TensorType, 3> inputTypes(const FusedInstruction& instruction,
                                            llvm::ArrayRef<ElementType> registers) {
  llvm::SmallVector<TensorType, 3> types;
  for (const uint32_t input : instruction.inputs) {
    types.push_back({registers[input], {}});
  }
  return types;
}

// Why an instruction is wrong, given the element types of the registers before it; "" when it is right.
std::string wrongWith(const FusedInstruction& instruction, llvm::ArrayRef<ElementType> registers) {
  if (static_cast<size_t>(instruction.kind) >= opKindCount ||
      classOf(instruction.kind) != OpClass::Elementwise) {
    return "it is no elementwise op";
  }
  if (instruction.variant != 0 && variantNames(instruction.kind).empty()) {
    return fmt::format("{} has no variants", nameOf(instruction.kind));
  }
  for (const uint32_t input : instruction.inputs) {
    if (input >= registers.size()) {
      return fmt::format("it reads %{}, which is not written yet", input);
    }
  }
  const TypeResult types = resultTypes(opOf(instruction), inputTypes(instruction, registers));
  if (!types.ok()) {
    return types.error;
  }
  const ElementType made = types.types.front().element;
  return made == instruction.type ? ""
                                  : fmt::format("it makes {}, not {}", name(made), name(instruction.type));
}

// The element type of every register, or the refusal of the first wrong instruction.
TypeResult bodyTypes(const FusedBody& body, OperandTypes operands) {
  llvm::SmallVector<ElementType, 8> registers;
  for (const TensorType& operand : operands) {
    registers.push_back(operand.element);
  }
  for (size_t i = 0; i < body.instructions.size(); ++i) {
    const std::string why = wrongWith(body.instructions[i], registers);
    if (!why.empty()) {
      return refuse(OpKind::Fused, operands, fmt::format("instruction {} of the body: {}", i, why),
                    "a body is written by the pass fuse_elementwise; leave the ops unfused");
    }
    registers.push_back(body.instructions[i].type);
  }
  return TypeResult::of({registers.back(), {}});
}

bool ascending(llvm::ArrayRef<int64_t> axes) {
  return std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<>()) == axes.end();
}

} // namespace

void Fused::fields(AttributeVisitor& visitor) {
  visitor.field("body", static_cast<TextCoded&>(body), Presence::Required);
  auto chosen = static_cast<uint8_t>(reduction);
  visitor.choice("reduction", chosen, reductionNames, Presence::Optional);
  reduction = static_cast<Reduction>(chosen);
  visitor.field("axes", axes, Presence::Optional);
  visitor.field("keepDims", keepDims, Presence::Optional);
  visitor.field("count", count, Presence::Optional);
}

std::optional<Shape> Fused::commonShape(OperandTypes operands) { return dfc::commonShape(operands); }

TypeResult Fused::types(OperandTypes operands) const {
  if (body.instructions.empty()) {
    return refuse(OpKind::Fused, operands, "the body is empty", "give it at least one instruction");
  }
  if (static_cast<size_t>(reduction) >= reductionNames.size()) {
    return refuse(OpKind::Fused, operands, "unknown reduction", "it is one of none, sum, mean, max");
  }
  TypeResult last = bodyTypes(body, operands);
  if (!last.ok()) {
    return last;
  }
  const ElementType element = last.types.front().element;
  TypeResult common = broadcastTypes(OpKind::Fused, operands, element);
  if (!common.ok() || reduction == Reduction::None) {
    return common.ok() && (!axes.empty() || keepDims)
               ? refuse(OpKind::Fused, operands, "axes without a reduction", "leave axes and keepDims out")
               : common;
  }
  if (!ascending(axes) || (!axes.empty() && axes.front() < 0) ||
      (axes.empty() && common.types.front().shape.rank() != 0)) {
    return refuse(OpKind::Fused, operands, "the reduced axes are not listed in ascending order",
                  "list each axis once, counted from the front");
  }
  if (count != 0 && reduction != Reduction::Mean) {
    return refuse(OpKind::Fused, operands, "a count without a mean", "leave count out");
  }
  const Domain domain = reduction == Reduction::Mean ? Domain::Float : Domain::Number;
  TypeResult types =
      reductionTypes(OpKind::Fused, common.types, axes, keepDims, domain, reduction == Reduction::Sum);
  if (!types.ok()) {
    return types;
  }
  TypeResult counted = checkMeanCount(OpKind::Fused, operands, common.types.front().shape, axes, count);
  return counted.ok() ? types : counted;
}

OpCost Fused::cost(OperandTypes operands, OperandTypes results) const {
  llvm::SmallVector<ElementType, 8> registers;
  for (const TensorType& operand : operands) {
    registers.push_back(operand.element);
  }
  double flops = reduction == Reduction::None ? 0 : 1;
  for (const FusedInstruction& instruction : body.instructions) {
    const auto inputs = inputTypes(instruction, registers);
    flops += costOf(opOf(instruction), inputs, {{instruction.type, {}}}).flops;
    registers.push_back(instruction.type);
  }
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops = flops * static_cast<double>(commonShape(operands)->elements());
  return cost;
}

SplitRule Fused::split(OperandTypes operands, OperandTypes results) const {
  static constexpr std::array kinds = {SplitKind::Free, SplitKind::Sum, SplitKind::Sum, SplitKind::Max};
  const TensorType common{results[0].element, *commonShape(operands)};
  SplitRule rule = reductionSplit({common}, results, axes, keepDims, kinds[static_cast<size_t>(reduction)]);
  for (SplitFactor& factor : rule.factors) {
    const size_t axis = factor.operands[0].axis;
    factor.operands.clear();
    for (const TensorType& operand : operands) {
      factor.operands.push_back(broadcastAxis(operand, common.shape, axis));
    }
  }
  return rule;
}

void Fused::restrictTo(const SplitPart& part) {
  if (reduction == Reduction::Mean && part.factor.kind == SplitKind::Sum && count == 0) {
    count = reducedLength(*commonShape(part.operands), axes);
  }
}

} // namespace dfc::ops
