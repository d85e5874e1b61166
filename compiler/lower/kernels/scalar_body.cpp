// Fused bodies, and single elementwise ops as bodies of one instruction: each register is a constant, rounded
// to its own type; the last one is stored at once.
#include "compiler/lower/kernels/chain.h"
#include "compiler/lower/kernels/formula_text.h"
#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/fused_instruction.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

constexpr std::array<std::string_view, 6> comparisons = {"==", "!=", "<", "<=", ">", ">="};

// What computes the instruction in the prelude; "" for those with a form of their own.
std::string functionOf(const ops::FusedInstruction& instruction) {
  switch (instruction.kind) {
  case OpKind::Add: return "plus";
  case OpKind::Sub: return "minus";
  case OpKind::Mul: return "times";
  case OpKind::Div: return "over";
  case OpKind::Maximum: return "larger";
  case OpKind::Minimum: return "smaller";
  case OpKind::Pow: return "powOf";
  case OpKind::And: return "bitsAnd";
  case OpKind::Or: return "bitsOr";
  case OpKind::Xor: return "bitsXor";
  case OpKind::Not: return "bitsNot";
  case OpKind::Neg: return "negated";
  case OpKind::Abs: return "magnitude";
  case OpKind::Sign: return "signOf";
  case OpKind::Floor: return "floorOf";
  case OpKind::Ceil: return "ceilOf";
  case OpKind::Round: return "roundOf";
  case OpKind::Exp: return "expOf";
  case OpKind::Log: return "logOf";
  case OpKind::Sqrt: return "rootOf";
  case OpKind::Sin: return "sinOf";
  case OpKind::Cos: return "cosOf";
  case OpKind::Erf: return "erfOf";
  case OpKind::Tanh: return "tanhOf";
  case OpKind::Relu: return "reluOf";
  case OpKind::Clip: return "clipped";
  default:
    return formulaOf(instruction.kind) == nullptr ? ""
                                                  : formulaFunction(instruction.kind, instruction.variant);
  }
}

// Results that are operands, whole numbers near them, or an operand's sign changed need no rounding.
bool needsRounding(OpKind kind) {
  switch (kind) {
  case OpKind::Maximum:
  case OpKind::Minimum:
  case OpKind::Clip:
  case OpKind::Neg:
  case OpKind::Abs:
  case OpKind::Sign:
  case OpKind::Floor:
  case OpKind::Ceil:
  case OpKind::Round:
  case OpKind::Relu:
  case OpKind::Select:
  case OpKind::Compare: return false;
  default: return true;
  }
}

std::string expression(const ops::FusedInstruction& instruction) {
  const auto& in = instruction.inputs;
  switch (instruction.kind) {
  case OpKind::Compare: return fmt::format("r{} {} r{}", in[0], comparisons[instruction.variant], in[1]);
  case OpKind::Select: return fmt::format("r{} ? r{} : r{}", in[0], in[1], in[2]);
  case OpKind::Cast: return fmt::format("castTo<{}>(r{})", storageName(instruction.type), in[0]);
  default: break;
  }
  const std::string function = functionOf(instruction);
  DFC_ASSERT(!function.empty(), "no scalar op");
  return fmt::format("{}(r{})", function, fmt::join(in, ", r"));
}

std::string bodyOf(const ops::FusedBody& body, size_t operands) {
  std::string text;
  for (size_t i = 0; i < body.instructions.size(); ++i) {
    const ops::FusedInstruction& instruction = body.instructions[i];
    const std::string value = expression(instruction);
    if (i + 1 == body.instructions.size()) {
      return text + fmt::format("  return stored<Element>({});\n", value);
    }
    const bool rounds = isHalf(instruction.type) && needsRounding(instruction.kind);
    text +=
        fmt::format("  const {} r{} = {};\n", valueName(instruction.type), operands + i,
                    rounds ? fmt::format("rounded<{}>({})", storageName(instruction.type), value) : value);
  }
  DFC_UNREACHABLE("a body without instructions");
}

} // namespace

Chain elementwiseChain(const OpAttributes& attributes, OperandTypes operands, ElementType result) {
  const Shape common = *commonShape(operands);
  const auto* fused = attributes.getIf<ops::Fused>();
  Chain chain{common.elements(), std::string(storageName(result)), byteWidth(result), {}, ""};
  for (size_t i = 0; i < operands.size(); ++i) {
    chain.sources.push_back(
        sourceOf(operands[i], Access::broadcast(operands[i].shape, common), static_cast<uint32_t>(i)));
  }
  chain.body = bodyOf(fused != nullptr ? fused->body : bodyOfOne(attributes, operands.size(), result),
                      operands.size());
  return chain;
}

} // namespace dfc::cuda
