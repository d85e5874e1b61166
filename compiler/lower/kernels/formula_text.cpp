#include "compiler/lower/kernels/formula_text.h"

#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace dfc::cuda {
namespace {

using formula::Instruction;
using formula::Primitive;
using formula::Program;

// The formula ops that CUDA's own functions serve better than their bodies: the prelude has them by hand.
struct Override {
  OpKind kind;
  uint8_t variant;
};
constexpr Override overrides[] = {
    {OpKind::Gelu, static_cast<uint8_t>(Approximation::None)}, // normcdf
};

bool isByHand(OpKind kind, uint8_t variant) {
  return std::any_of(std::begin(overrides), std::end(overrides),
                     [&](const Override& row) { return row.kind == kind && row.variant == variant; });
}

std::string_view functionOf(Primitive primitive) {
  switch (primitive) {
  case Primitive::Add: return "plus";
  case Primitive::Sub: return "minus";
  case Primitive::Mul: return "times";
  case Primitive::Div: return "over";
  case Primitive::Neg: return "negated";
  case Primitive::Abs: return "magnitude";
  case Primitive::Max: return "larger";
  case Primitive::Min: return "smaller";
  case Primitive::Clip: return "clipped";
  case Primitive::MulAdd: return "mulAddOf";
  case Primitive::Sqrt: return "rootOf";
  case Primitive::Exp: return "expOf";
  case Primitive::Log: return "logOf";
  case Primitive::Log1p:
  case Primitive::Log1pWithin: return "log1pOf";
  case Primitive::Expm1: return "expm1Of";
  case Primitive::Sin: return "sinOf";
  case Primitive::Cos: return "cosOf";
  case Primitive::Tanh: return "tanhOf";
  case Primitive::Erf: return "erfOf";
  case Primitive::Erfc: return "erfcOf";
  case Primitive::Floor: return "floorOf";
  case Primitive::Ceil: return "ceilOf";
  case Primitive::Round: return "roundOf";
  case Primitive::Pow: return "powOf";
  case Primitive::Argument:
  case Primitive::Constant:
  case Primitive::Less:
  case Primitive::LessEqual:
  case Primitive::Select:
  case Primitive::Call: break;
  }
  DFC_UNREACHABLE("primitive of a formula without a function");
}

std::string valueText(const Program& body, uint8_t instruction) {
  return body[instruction].primitive == Primitive::Constant
             ? fmt::format("V({:.17g})", static_cast<double>(body[instruction].value))
             : fmt::format("v{}", instruction);
}

std::string expressionOf(const Program& body, const Instruction& instruction) {
  std::vector<std::string> in;
  for (size_t k = 0; k < instruction.operands; ++k) {
    in.push_back(valueText(body, instruction.inputs[k]));
  }
  switch (instruction.primitive) {
  case Primitive::Argument: return fmt::format("a{}", instruction.callee);
  case Primitive::Less: return fmt::format("{} < {}", in[0], in[1]);
  case Primitive::LessEqual: return fmt::format("{} <= {}", in[0], in[1]);
  case Primitive::Select: return fmt::format("{} ? {} : {}", in[0], in[1], in[2]);
  case Primitive::Call:
    return fmt::format("{}({})", formulaFunction(instruction.kind(), instruction.variant),
                       fmt::join(in, ", "));
  default: return fmt::format("{}({})", functionOf(instruction.primitive), fmt::join(in, ", "));
  }
}

std::string headOf(const FormulaFacts& formula, uint8_t variant) {
  std::string parameters;
  for (size_t i = 0; i < formula.operands; ++i) {
    parameters += fmt::format("{}V a{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format("template <class V> DFC_INLINE V {}({})", formulaFunction(formula.kind, variant),
                     parameters);
}

std::string bodyText(const Program& body) {
  std::string text;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i].primitive != Primitive::Constant) {
      text += fmt::format("  const {} v{} = {};\n", formula::isTruth(body[i].primitive) ? "bool" : "V", i,
                          expressionOf(body, body[i]));
    }
  }
  return text + fmt::format("  return v{};\n", body.result());
}

} // namespace

std::string formulaFunction(OpKind kind, uint8_t variant) {
  std::string name(nameOf(kind));
  if (variant != 0) {
    const std::string_view suffix = formulaOf(kind)->variantNames[variant];
    name += static_cast<char>(std::toupper(suffix.front()));
    name += suffix.substr(1);
  }
  return name + "Of";
}

std::string formulaFunctions() {
  std::string declarations = "// The formula ops, from their bodies; each may call any other.\n", definitions;
  for (const FormulaFacts* formula : allFormulas()) {
    for (uint8_t variant = 0; variant < formula->bodies.size(); ++variant) {
      if (!isByHand(formula->kind, variant)) {
        const std::string head = headOf(*formula, variant);
        declarations += head + ";\n";
        definitions += fmt::format("{} {{\n{}}}\n", head, bodyText(*formula->bodies[variant]));
      }
    }
  }
  return declarations + definitions + "\n";
}

} // namespace dfc::cuda
