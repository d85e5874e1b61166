#include "ir/graph/formula/derivative.h"

#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/formula/term.h"

#include <optional>

namespace dfc::formula {
namespace {

constexpr long double twoOverRootPi = 1.12837916709551257390L;

// A derivative so far; none is 0. Products with 1 and sums with 0 are not written.
using Partial = std::optional<Term>;

Term product(Term a, Term b) {
  if (a.isConstant() && b.isConstant()) {
    return a.value() * b.value();
  }
  return a.is(1) ? b : b.is(1) ? a : a * b;
}
Term sum(Term a, Term b) { return a.isConstant() && b.isConstant() ? Term(a.value() + b.value()) : a + b; }

class Backwards {
 public:
  Backwards(const Program& body, size_t operands) : body_(body), operands_(operands) {}

  Program run() {
    for (size_t i = 0; i <= operands_; ++i) {
      arguments_.push_back({to_, to_.append({Primitive::Argument, 0, static_cast<uint8_t>(i), 0, {}, 0})});
    }
    for (size_t i = 0; i < body_.size(); ++i) {
      values_.push_back(copied(i));
    }
    partials_.assign(body_.size(), std::nullopt);
    partials_[body_.result()] = Term(1);
    for (size_t i = body_.size(); i-- > 0;) {
      if (partials_[i]) {
        passOn(body_[i], values_[i], *partials_[i]);
      }
    }
    for (size_t i = 0; i < operands_; ++i) {
      to_.addResult(ofArgument(i).value_or(Term(0)).in(to_));
    }
    return to_;
  }

 private:
  // The body's instruction in the new program; its result is given. Those that nothing reads cost nothing.
  Term copied(size_t i) {
    Instruction instruction = body_[i];
    if (i == body_.result()) {
      return arguments_.back();
    }
    if (instruction.primitive == Primitive::Argument) {
      return arguments_[instruction.callee];
    }
    for (size_t k = 0; k < instruction.operands; ++k) {
      instruction.inputs[k] = values_[instruction.inputs[k]].in(to_);
    }
    return instruction.primitive == Primitive::Constant ? Term(instruction.value)
                                                        : Term(to_, to_.append(instruction));
  }
  Partial ofArgument(size_t argument) const {
    for (size_t i = 0; i < body_.size(); ++i) {
      if (body_[i].primitive == Primitive::Argument && body_[i].callee == argument) {
        return partials_[i];
      }
    }
    return std::nullopt;
  }
  void add(uint8_t to, Term partial) {
    if (body_[to].primitive != Primitive::Constant) {
      partials_[to] = partials_[to] ? sum(*partials_[to], partial) : partial;
    }
  }
  Truth truth(uint8_t instruction) { return {&to_, values_[instruction].in(to_)}; }

  // `from`, passed on where the condition holds to one operand, where not to another.
  void choose(Truth first, Term from, uint8_t one, uint8_t other) {
    add(one, select(first, inProgram(from), 0));
    add(other, select(first, 0, inProgram(from)));
  }
  Term inProgram(Term term) { return {to_, term.in(to_)}; }

  void passOn(const Instruction& instruction, Term value, Term from) {
    const auto in = [&](size_t k) { return values_[instruction.inputs[k]]; };
    const auto& to = instruction.inputs;
    switch (instruction.primitive) {
    case Primitive::Argument:
    case Primitive::Constant:
    case Primitive::Less:
    case Primitive::LessEqual:
    case Primitive::Floor:
    case Primitive::Ceil:
    case Primitive::Round: return;
    case Primitive::Add: add(to[0], from); return add(to[1], from);
    case Primitive::Sub: add(to[0], from); return add(to[1], -inProgram(from));
    case Primitive::Mul: add(to[0], product(from, in(1))); return add(to[1], product(from, in(0)));
    case Primitive::Div: {
      const Term quotient = inProgram(from) / in(1);
      add(to[0], quotient);
      return add(to[1], -(quotient * value));
    }
    case Primitive::Neg: return add(to[0], -inProgram(from));
    case Primitive::Abs: {
      const Term a = inProgram(in(0));
      return add(to[0], product(from, select(a > 0, 1, select(a < 0, -1, 0))));
    }
    case Primitive::Max: return choose(in(0) >= in(1), from, to[0], to[1]);
    case Primitive::Min: return choose(in(0) <= in(1), from, to[0], to[1]);
    case Primitive::Clip: {
      const Truth above = max(in(0), in(1)) > in(2), below = in(0) < in(1);
      const Term within = inProgram(from);
      add(to[0], select(above, 0, select(below, 0, within)));
      add(to[1], select(above, 0, select(below, within, 0)));
      return add(to[2], select(above, within, 0));
    }
    case Primitive::MulAdd:
      add(to[0], product(from, in(1)));
      add(to[1], product(from, in(0)));
      return add(to[2], from);
    case Primitive::Select: {
      const Truth chosen = truth(to[0]);
      add(to[1], select(chosen, inProgram(from), 0));
      return add(to[2], select(chosen, 0, inProgram(from)));
    }
    case Primitive::Sqrt: return add(to[0], inProgram(from) * 0.5L / value);
    case Primitive::Exp: return add(to[0], product(from, value));
    case Primitive::Log: return add(to[0], inProgram(from) / in(0));
    case Primitive::Log1p:
    case Primitive::Log1pWithin: return add(to[0], inProgram(from) / (1 + in(0)));
    case Primitive::Expm1: return add(to[0], product(from, exp(in(0))));
    case Primitive::Sin: return add(to[0], product(from, cos(in(0))));
    case Primitive::Cos: return add(to[0], -product(from, sin(in(0))));
    case Primitive::Tanh: return add(to[0], product(from, 1 - value * value));
    case Primitive::Erf: return add(to[0], product(from, twoOverRootPi * exp(-(in(0) * in(0)))));
    case Primitive::Erfc: return add(to[0], product(from, -twoOverRootPi * exp(-(in(0) * in(0)))));
    case Primitive::Pow: {
      // As gradients/elementwise/pow.cpp: no derivative by the exponent where the base is not positive.
      const Term a = in(0), b = in(1);
      add(to[0], product(from, b * pow(a, b - 1)));
      if (!b.isConstant()) {
        const Truth positive = inProgram(a) > 0;
        add(to[1], product(from, select(positive, value * log(select(positive, a, 1)), 0)));
      }
      return;
    }
    case Primitive::Call: return passThrough(instruction, value, from);
    }
    DFC_UNREACHABLE("primitive of a formula");
  }

  // The callee's derivatives, over its operands and its result.
  void passThrough(const Instruction& call, Term value, Term from) {
    const Program callee = derivativesOf(call.kind(), call.variant);
    std::vector<Term> values;
    for (size_t i = 0; i < callee.size(); ++i) {
      Instruction instruction = callee[i];
      if (instruction.primitive == Primitive::Argument) {
        values.push_back(instruction.callee == call.operands ? value
                                                             : values_[call.inputs[instruction.callee]]);
        continue;
      }
      for (size_t k = 0; k < instruction.operands; ++k) {
        instruction.inputs[k] = values[instruction.inputs[k]].in(to_);
      }
      values.push_back(instruction.primitive == Primitive::Constant ? Term(instruction.value)
                                                                    : Term(to_, to_.append(instruction)));
    }
    for (size_t k = 0; k < call.operands; ++k) {
      add(call.inputs[k], product(from, values[callee.result(k)]));
    }
  }

  const Program& body_;
  size_t operands_;
  Program to_;
  std::vector<Term> arguments_, values_;
  std::vector<Partial> partials_;
};

} // namespace

Program automaticDerivativesOf(OpKind kind, uint8_t variant) {
  const FormulaFacts& formula = *formulaOf(kind);
  return Backwards(*formula.bodies[variant], formula.operands).run();
}

Program derivativesOf(OpKind kind, uint8_t variant) {
  const Program* stated = formulaOf(kind)->statedDerivatives[variant];
  return stated != nullptr ? *stated : automaticDerivativesOf(kind, variant);
}

} // namespace dfc::formula
