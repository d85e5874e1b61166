#include "ir/graph/fused_instruction.h"

#include "ir/graph/formula/formulas.h"

namespace dfc {

llvm::ArrayRef<std::string_view> variantNames(OpKind kind) {
  if (kind == OpKind::Compare) {
    return ops::Compare::directionNames;
  }
  const FormulaFacts* formula = formulaOf(kind);
  return formula == nullptr ? llvm::ArrayRef<std::string_view>() : formula->variantNames;
}

uint8_t variantOf(const OpAttributes& attributes) {
  if (const auto* compare = attributes.getIf<ops::Compare>()) {
    return static_cast<uint8_t>(compare->direction);
  }
  return formulaVariantOf(attributes);
}

ops::FusedInstruction instructionOf(const OpAttributes& attributes, ElementType result) {
  return {kindOf(attributes), variantOf(attributes), result, {}};
}

ops::FusedBody bodyOfOne(const OpAttributes& attributes, size_t operands, ElementType result) {
  ops::FusedInstruction instruction = instructionOf(attributes, result);
  for (size_t operand = 0; operand < operands; ++operand) {
    instruction.inputs.push_back(static_cast<uint32_t>(operand));
  }
  ops::FusedBody body;
  body.instructions.push_back(std::move(instruction));
  return body;
}

OpAttributes opOf(const ops::FusedInstruction& instruction) {
  OpAttributes attributes = defaultAttributes(instruction.kind);
  if (auto* compare = attributes.getIf<ops::Compare>()) {
    compare->direction = static_cast<ops::Compare::Direction>(instruction.variant);
  }
  setFormulaVariant(attributes, instruction.variant);
  if (auto* cast = attributes.getIf<ops::Cast>()) {
    cast->to = instruction.type;
  }
  return attributes;
}

} // namespace dfc
