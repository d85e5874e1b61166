// Fused bodies, and single elementwise ops as bodies of one instruction: each register is a constant, rounded
// to its own type; the last one is stored at once.
#include "ir/assert.h"
#include "ir/op_rules.h"
#include "runtime/cuda/kernels/chain.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

constexpr std::array<std::string_view, 6> comparisons = {"==", "!=", "<", "<=", ">", ">="};

// What computes the kind in the prelude; "" for those with a form of their own.
std::string_view functionOf(OpKind kind) {
  switch (kind) {
  case OpKind::Add: return "plus";
  case OpKind::Sub: return "minus";
  case OpKind::Mul: return "times";
  case OpKind::Div: return "over";
  case OpKind::Maximum: return "larger";
  case OpKind::Minimum: return "smaller";
  case OpKind::Neg: return "negated";
  case OpKind::Exp: return "expOf";
  case OpKind::Log: return "logOf";
  case OpKind::Sqrt: return "rootOf";
  case OpKind::Tanh: return "tanhOf";
  case OpKind::Sigmoid: return "sigmoidOf";
  case OpKind::Relu: return "reluOf";
  default: return "";
  }
}

// Results that are operands, or an operand's sign changed, need no rounding.
bool exact(OpKind kind) {
  return kind == OpKind::Maximum || kind == OpKind::Minimum || kind == OpKind::Neg || kind == OpKind::Relu ||
         kind == OpKind::Select || kind == OpKind::Compare;
}

std::string expression(const ops::FusedInstruction& instruction) {
  const auto& in = instruction.inputs;
  switch (instruction.kind) {
  case OpKind::Compare: return fmt::format("r{} {} r{}", in[0], comparisons[instruction.variant], in[1]);
  case OpKind::Select: return fmt::format("r{} ? r{} : r{}", in[0], in[1], in[2]);
  case OpKind::Cast: return fmt::format("castTo<{}>(r{})", storageName(instruction.type), in[0]);
  default: break;
  }
  const std::string_view function = functionOf(instruction.kind);
  DFC_ASSERT(!function.empty(), "no scalar op");
  return in.size() == 1 ? fmt::format("{}(r{})", function, in[0])
                        : fmt::format("{}(r{}, r{})", function, in[0], in[1]);
}

std::string bodyOf(const ops::FusedBody& body, size_t operands) {
  std::string text;
  for (size_t i = 0; i < body.instructions.size(); ++i) {
    const ops::FusedInstruction& instruction = body.instructions[i];
    const std::string value = expression(instruction);
    if (i + 1 == body.instructions.size()) {
      return text + fmt::format("  return stored<Element>({});\n", value);
    }
    const bool rounds = isHalf(instruction.type) && !exact(instruction.kind);
    text +=
        fmt::format("  const {} r{} = {};\n", valueName(instruction.type), operands + i,
                    rounds ? fmt::format("rounded<{}>({})", storageName(instruction.type), value) : value);
  }
  DFC_UNREACHABLE("a body without instructions");
}

// The op as a body of its own.
ops::FusedBody bodyOf(const OpAttributes& attributes, size_t operands, ElementType result) {
  ops::FusedInstruction instruction{kindOf(attributes), 0, result, {}};
  if (const auto* compare = std::get_if<ops::Compare>(&attributes)) {
    instruction.variant = static_cast<uint8_t>(compare->direction);
  }
  for (size_t i = 0; i < operands; ++i) {
    instruction.inputs.push_back(static_cast<uint32_t>(i));
  }
  ops::FusedBody body;
  body.instructions.push_back(instruction);
  return body;
}

} // namespace

Chain elementwiseChain(const OpAttributes& attributes, OperandTypes operands, ElementType result) {
  const Shape common = *commonShape(operands);
  const auto* fused = std::get_if<ops::Fused>(&attributes);
  Chain chain{common.elements(), std::string(storageName(result)), byteWidth(result), {}, ""};
  for (size_t i = 0; i < operands.size(); ++i) {
    chain.sources.push_back(
        sourceOf(operands[i], Access::broadcast(operands[i].shape, common), static_cast<uint32_t>(i)));
  }
  chain.body =
      bodyOf(fused != nullptr ? fused->body : bodyOf(attributes, operands.size(), result), operands.size());
  return chain;
}

} // namespace dfc::cuda
