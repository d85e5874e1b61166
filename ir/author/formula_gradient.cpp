#include "ir/author/formula_gradient.h"

#include "ir/author/dsl.h"
#include "ir/base/assert.h"
#include "ir/graph/formula/derivative.h"
#include "ir/graph/formula/formulas.h"

namespace dfc {
namespace {

using formula::Instruction;
using formula::Primitive;
using formula::Program;

// Functions that are no op are written with ops that are: right to the rounding of the operand, which is as
// good as a derivative needs.
Operand written(const Instruction& instruction, llvm::ArrayRef<Operand> in) {
  switch (instruction.primitive) {
  case Primitive::Add: return in[0] + in[1];
  case Primitive::Sub: return in[0] - in[1];
  case Primitive::Mul: return in[0] * in[1];
  case Primitive::Div: return in[0] / in[1];
  case Primitive::Neg: return -in[0];
  case Primitive::Abs: return abs(in[0]);
  case Primitive::Max: return max(in[0], in[1]);
  case Primitive::Min: return min(in[0], in[1]);
  case Primitive::Clip: return clip(in[0], in[1], in[2]);
  case Primitive::MulAdd: return in[0] * in[1] + in[2];
  case Primitive::Less: return compare(in[0], in[1], Direction::Lt);
  case Primitive::LessEqual: return compare(in[0], in[1], Direction::Le);
  case Primitive::Select: return select(in[0], in[1], in[2]);
  case Primitive::Sqrt: return sqrt(in[0]);
  case Primitive::Exp: return exp(in[0]);
  case Primitive::Log: return log(in[0]);
  case Primitive::Log1p:
  case Primitive::Log1pWithin: return log(1 + in[0]);
  case Primitive::Expm1: return exp(in[0]) - 1;
  case Primitive::Sin: return sin(in[0]);
  case Primitive::Cos: return cos(in[0]);
  case Primitive::Tanh: return tanh(in[0]);
  case Primitive::Erf: return erf(in[0]);
  case Primitive::Erfc: return 1 - erf(in[0]);
  case Primitive::Floor: return floor(in[0]);
  case Primitive::Ceil: return ceil(in[0]);
  case Primitive::Round: return round(in[0]);
  case Primitive::Pow: return pow(in[0], in[1]);
  case Primitive::Argument:
  case Primitive::Constant:
  case Primitive::Call: break;
  }
  DFC_UNREACHABLE("primitive of a formula");
}

Operand called(Builder& builder, const Instruction& call, llvm::ArrayRef<Operand> in) {
  OpAttributes attributes = defaultAttributes(call.kind());
  setFormulaVariant(attributes, call.variant);
  const auto tensor =
      std::find_if(in.begin(), in.end(), [](const Operand& a) { return a.tensor() != nullptr; });
  std::vector<Tensor> operands;
  for (const Operand& operand : in) {
    operands.push_back(operand.tensor() != nullptr
                           ? *operand.tensor()
                           : builder.scalar(tensor->tensor()->type().element, *operand.number()));
  }
  return builder.op(attributes, operands, std::source_location::current());
}

// Select chooses between two numbers only beside a tensor.
Operand asTensor(Builder& builder, ElementType element, const Operand& operand) {
  return operand.tensor() != nullptr ? operand : Operand(builder.scalar(element, *operand.number()));
}

class Writer {
 public:
  explicit Writer(GradientRule& rule) : rule_(rule) {}

  std::vector<Operand> write(const Program& program, std::array<bool, Program::mostResults> wanted) {
    const auto needed = program.neededFor(wanted);
    for (size_t i = 0; i < program.size(); ++i) {
      values_.push_back(needed[i] ? valueOf(program[i]) : Operand(0.0));
    }
    std::vector<Operand> results;
    for (size_t i = 0; i < program.resultCount(); ++i) {
      results.push_back(values_[program.result(i)]);
    }
    return results;
  }

 private:
  Operand valueOf(const Instruction& instruction) {
    if (instruction.primitive == Primitive::Constant) {
      return static_cast<double>(instruction.value);
    }
    if (instruction.primitive == Primitive::Argument) {
      return instruction.callee == rule_.operandCount() ? rule_.result() : rule_.operand(instruction.callee);
    }
    std::vector<Operand> in;
    for (size_t k = 0; k < instruction.operands; ++k) {
      in.push_back(values_[instruction.inputs[k]]);
    }
    if (instruction.primitive == Primitive::Call) {
      return called(rule_.builder(), instruction, in);
    }
    if (instruction.primitive == Primitive::Select && in[1].number() != nullptr &&
        in[2].number() != nullptr) {
      in[1] = asTensor(rule_.builder(), rule_.result().type().element, in[1]);
    }
    return written(instruction, in);
  }

  GradientRule& rule_;
  std::vector<Operand> values_;
};

} // namespace

void formulaGradient(OpKind kind, uint8_t variant, GradientRule& rule) {
  std::array<bool, Program::mostResults> wanted{};
  for (size_t i = 0; i < rule.operandCount(); ++i) {
    wanted[i] = rule.wanted(i);
  }
  const std::vector<Operand> derivatives = Writer(rule).write(formula::derivativesOf(kind, variant), wanted);
  for (size_t i = 0; i < derivatives.size(); ++i) {
    if (const double* number = derivatives[i].number(); wanted[i] && number != nullptr && *number == 0) {
      rule.independentOf(i);
    } else if (wanted[i]) {
      rule.give(i, rule.cotangent() * derivatives[i]);
    }
  }
}

} // namespace dfc
