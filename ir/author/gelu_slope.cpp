#include "ir/author/gelu_slope.h"

#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/author/gradients.h"
#include "ir/graph/fused_instruction.h"
#include "ir/graph/graph.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

/// product * slope(a), as the gradient rule writes it for one element.
struct Slope {
  Builder builder;
  Tensor a, product, result;

  explicit Slope(ElementType element)
      : a(builder.input("a", {element, Shape{1}})), product(builder.input("product", {element, Shape{1}})) {
    const Tensor y = gelu(a, Approximation::Tanh);
    const OpId op = graph()[y.value()].producer;
    GradientRule rule(builder, op, {product});
    const OpAttributes attributes = graph()[op].attributes; // the rule appends to the graph
    applyGradient(attributes, rule);
    result = rule.gradients()[0];
  }
  const Graph& graph() { return builder.graph().soFar(); }
};

/// Lays the rule's values over the registers of a body, from the result upwards.
class Overlay {
 public:
  Overlay(const Graph& graph, OpId op, Slope& slope)
      : graph_(graph), row_(graph[op]), instructions_(row_.as<ops::FusedMatmul>().body.instructions),
        slope_(slope), known_(slope.graph().valueCount()) {}

  std::optional<size_t> run() {
    const auto last = static_cast<uint32_t>(operandRegisters() + instructions_.size()) - 1;
    return covers(slope_.result.value(), last) ? std::optional(operandOf(*known_[slope_.a.value()]))
                                               : std::nullopt;
  }

 private:
  // A value that the rule uses twice lies in one register.
  bool covers(ValueId value, uint32_t inRegister) {
    if (known_[value]) {
      return *known_[value] == inRegister;
    }
    known_[value] = inRegister;
    if (value == slope_.product.value()) {
      return inRegister == 0;
    }
    if (value == slope_.a.value()) {
      return isOperand(inRegister) && graph_.typeOf(row_.operands[operandOf(inRegister)]) == resultType() &&
             constantIn(inRegister) == nullptr;
    }
    const OpRow& wanted = slope_.graph()[slope_.graph()[value].producer];
    if (const auto* constant = wanted.getIf<ops::Constant>()) {
      return isOperand(inRegister) && constantIn(inRegister) != nullptr &&
             constantIn(inRegister)->value == constant->value;
    }
    return inRegister >= operandRegisters() &&
           coversOp(wanted, instructions_[inRegister - operandRegisters()]);
  }

  bool coversOp(const OpRow& wanted, const ops::FusedInstruction& instruction) {
    ops::FusedInstruction same = instructionOf(wanted.attributes, resultType().element);
    same.inputs = instruction.inputs;
    return same == instruction && wanted.operands.size() == instruction.inputs.size() &&
           llvm::all_of(llvm::zip(wanted.operands, instruction.inputs),
                        [this](const auto& pair) { return covers(std::get<0>(pair), std::get<1>(pair)); });
  }

  // Register 0 is the product, then come the operands from the third on, then the instructions.
  size_t operandRegisters() const { return row_.operands.size() - 1; }
  bool isOperand(uint32_t inRegister) const { return inRegister > 0 && inRegister < operandRegisters(); }
  static size_t operandOf(uint32_t inRegister) { return size_t{inRegister} + 1; }

  const ops::Constant* constantIn(uint32_t inRegister) const {
    return graph_[graph_[row_.operands[operandOf(inRegister)]].producer].getIf<ops::Constant>();
  }
  const TensorType& resultType() const { return graph_.typeOf(row_.firstResult); }

  const Graph& graph_;
  const OpRow& row_;
  llvm::ArrayRef<ops::FusedInstruction> instructions_;
  Slope& slope_;
  SideTable<ValueId, std::optional<uint32_t>> known_;
};

// Most bodies are told apart without the rule's being written out.
bool mayHold(const ops::FusedBody& body) {
  return llvm::any_of(body.instructions, [](const auto& one) { return one.kind == OpKind::Tanh; }) &&
         body.instructions.back().kind == OpKind::Mul;
}

} // namespace

std::optional<size_t> geluSlopeOf(const Graph& graph, OpId op) {
  const auto* fused = graph[op].getIf<ops::FusedMatmul>();
  const ElementType element = graph.typeOf(graph[op].firstResult).element;
  if (fused == nullptr || !isFloat(element) || !mayHold(fused->body)) {
    return std::nullopt;
  }
  Slope slope(element);
  return Overlay(graph, op, slope).run();
}

} // namespace dfc
