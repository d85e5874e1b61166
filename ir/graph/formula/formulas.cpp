#include "ir/graph/formula/formulas.h"

#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace dfc {
namespace {

using formula::Instruction;
using formula::Primitive;
using formula::Program;

template <class Op, size_t variant>
void addVariant(FormulaFacts& facts) {
  facts.bodies.push_back(&formula::bodyOf<Op, variant>);
  if constexpr (formula::StatesDerivative<Op, variant>) {
    facts.statedDerivatives.push_back(&formula::statedDerivativesOf<Op, variant>);
  } else {
    facts.statedDerivatives.push_back(nullptr);
  }
}

template <class Op>
FormulaFacts factsOf() {
  FormulaFacts facts{detail::KindOf<Op>::value, Op::arity.most, Op::onnxName, Op::samples, {}, {}, {}, {}};
  for (const auto& known : Op::known) {
    facts.known.push_back({{known.arguments.begin(), known.arguments.end()}, known.result, known.variant});
  }
  if constexpr (Op::variantCount > 1) {
    facts.variantNames = Op::variantNames;
  }
  [&]<size_t... variant>(std::index_sequence<variant...>) { (addVariant<Op, variant>(facts), ...); }
  (std::make_index_sequence<Op::variantCount>());
  return facts;
}

const std::array<std::optional<FormulaFacts>, opKindCount>& table() {
  static const auto* facts = [] {
    auto* all = new std::array<std::optional<FormulaFacts>, opKindCount>;
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name) (*all)[static_cast<size_t>(OpKind::Type)] = factsOf<ops::Type>();
#include "ir/graph/ops.def"
#undef DFC_OP
    return all;
  }();
  return *facts;
}

double flopsOf(OpKind kind, uint8_t variant);

double flopsOf(const Instruction& instruction) {
  switch (instruction.primitive) {
  case Primitive::Argument:
  case Primitive::Constant: return 0;
  case Primitive::Clip:
  case Primitive::MulAdd: return 2;
  case Primitive::Div: return divFlops;
  case Primitive::Sqrt: return sqrtFlops;
  case Primitive::Exp:
  case Primitive::Expm1: return expFlops;
  case Primitive::Log:
  case Primitive::Log1p:
  case Primitive::Log1pWithin: return logFlops;
  case Primitive::Sin:
  case Primitive::Cos: return sinFlops;
  case Primitive::Tanh: return tanhFlops;
  case Primitive::Erf:
  case Primitive::Erfc: return erfFlops;
  case Primitive::Pow: return powFlops;
  case Primitive::Call: return flopsOf(instruction.kind(), instruction.variant);
  default: return 1;
  }
}

double flopsOf(OpKind kind, uint8_t variant) {
  const Program& body = *formulaOf(kind)->bodies[variant];
  double flops = 0;
  for (size_t i = 0; i < body.size(); ++i) {
    flops += flopsOf(body[i]);
  }
  return flops;
}

} // namespace

const FormulaFacts* formulaOf(OpKind kind) {
  const std::optional<FormulaFacts>& facts = table()[static_cast<size_t>(kind)];
  return facts ? &*facts : nullptr;
}

std::vector<const FormulaFacts*> allFormulas() {
  std::vector<const FormulaFacts*> all;
  for (const std::optional<FormulaFacts>& facts : table()) {
    if (facts) {
      all.push_back(&*facts);
    }
  }
  return all;
}

uint8_t formulaVariantOf(const OpAttributes& attributes) {
  switch (attributes.kind()) {
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name)                                                                           \
  case OpKind::Type:                                                                                         \
    return attributes.as<ops::Type>().variant();
#include "ir/graph/ops.def"
#undef DFC_OP
  default: return 0;
  }
}

void setFormulaVariant(OpAttributes& attributes, uint8_t variant) {
  switch (attributes.kind()) {
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name)                                                                           \
  case OpKind::Type:                                                                                         \
    return attributes.as<ops::Type>().setVariant(variant);
#include "ir/graph/ops.def"
#undef DFC_OP
  default: return;
  }
}

TypeResult formulaTypes(OpKind kind, uint8_t variant, OperandTypes operands) {
  const FormulaFacts& facts = *formulaOf(kind);
  if (variant >= facts.bodies.size()) {
    return refuse(kind, operands, "unknown variant",
                  fmt::format("it is one of {}", fmt::join(facts.variantNames, ", ")));
  }
  return elementwiseTypes(kind, operands, Domain::Float);
}

OpCost formulaCost(OpKind kind, uint8_t variant, OperandTypes operands, OperandTypes results) {
  return streamingCost(operands, results, flopsOf(kind, variant));
}

} // namespace dfc
