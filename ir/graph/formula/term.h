// The language that bodies of formula ops are written in: `Term` is a scalar, `Truth` a condition; operators
// and functions on them record instructions of a Program (program.h). A plain number stands for a constant.
// Other formula ops are functions too, by their names in graph files: softplus(a).
#pragma once

#include "ir/graph/formula/program.h"

namespace dfc::formula {

/// A scalar of a body: an instruction, or a constant that no instruction has used so far.
class Term {
 public:
  constexpr Term(long double constant) : value_(constant) {}
  constexpr Term(Program& program, uint8_t instruction) : program_(&program), instruction_(instruction) {}
  constexpr bool isConstant() const { return program_ == nullptr; }
  constexpr bool is(long double constant) const { return isConstant() && value_ == constant; }
  constexpr long double value() const { return value_; }
  constexpr Program* program() const { return program_; }
  constexpr uint8_t in(Program& program) const {
    return isConstant() ? program.append({Primitive::Constant, 0, 0, 0, {}, value_}) : instruction_;
  }

 private:
  Program* program_ = nullptr;
  uint8_t instruction_ = 0;
  long double value_ = 0;
};

/// A condition of a body.
struct Truth {
  Program* program;
  uint8_t instruction;
};

namespace detail {

constexpr Program& programOf(std::initializer_list<Term> terms) {
  for (const Term& term : terms) {
    if (!term.isConstant()) {
      return *term.program();
    }
  }
  throw "a function of constants alone: write its value"; // at compile time: an error
}

constexpr Term record(Instruction instruction, std::initializer_list<Term> operands) {
  Program& program = programOf(operands);
  for (const Term& operand : operands) {
    instruction.inputs[instruction.operands++] = operand.in(program);
  }
  return {program, program.append(instruction)};
}

constexpr Term record(Primitive primitive, std::initializer_list<Term> operands) {
  return record(Instruction{primitive, 0, 0, 0, {}, 0}, operands);
}

constexpr Truth compared(Primitive primitive, Term a, Term b) {
  Program& program = programOf({a, b});
  return {&program, record(primitive, {a, b}).in(program)};
}

} // namespace detail

constexpr Term operator+(Term a, Term b) { return detail::record(Primitive::Add, {a, b}); }
constexpr Term operator-(Term a, Term b) { return detail::record(Primitive::Sub, {a, b}); }
constexpr Term operator*(Term a, Term b) { return detail::record(Primitive::Mul, {a, b}); }
constexpr Term operator/(Term a, Term b) { return detail::record(Primitive::Div, {a, b}); }
constexpr Term operator-(Term a) { return detail::record(Primitive::Neg, {a}); }
constexpr Truth operator<(Term a, Term b) { return detail::compared(Primitive::Less, a, b); }
constexpr Truth operator<=(Term a, Term b) { return detail::compared(Primitive::LessEqual, a, b); }
constexpr Truth operator>(Term a, Term b) { return b < a; }
constexpr Truth operator>=(Term a, Term b) { return b <= a; }
constexpr Term select(Truth truth, Term a, Term b) {
  return detail::record(Primitive::Select, {Term(*truth.program, truth.instruction), a, b});
}
constexpr Term abs(Term a) { return detail::record(Primitive::Abs, {a}); }
constexpr Term max(Term a, Term b) { return detail::record(Primitive::Max, {a, b}); }
constexpr Term min(Term a, Term b) { return detail::record(Primitive::Min, {a, b}); }
constexpr Term clip(Term a, Term low, Term high) { return detail::record(Primitive::Clip, {a, low, high}); }
constexpr Term mulAdd(Term a, Term b, Term c) { return detail::record(Primitive::MulAdd, {a, b, c}); }
constexpr Term sqrt(Term a) { return detail::record(Primitive::Sqrt, {a}); }
constexpr Term exp(Term a) { return detail::record(Primitive::Exp, {a}); }
constexpr Term log(Term a) { return detail::record(Primitive::Log, {a}); }
constexpr Term log1p(Term a) { return detail::record(Primitive::Log1p, {a}); }
constexpr Term log1pWithin(Term a) { return detail::record(Primitive::Log1pWithin, {a}); }
constexpr Term expm1(Term a) { return detail::record(Primitive::Expm1, {a}); }
constexpr Term sin(Term a) { return detail::record(Primitive::Sin, {a}); }
constexpr Term cos(Term a) { return detail::record(Primitive::Cos, {a}); }
constexpr Term tanh(Term a) { return detail::record(Primitive::Tanh, {a}); }
constexpr Term erf(Term a) { return detail::record(Primitive::Erf, {a}); }
constexpr Term erfc(Term a) { return detail::record(Primitive::Erfc, {a}); }
constexpr Term floor(Term a) { return detail::record(Primitive::Floor, {a}); }
constexpr Term ceil(Term a) { return detail::record(Primitive::Ceil, {a}); }
constexpr Term round(Term a) { return detail::record(Primitive::Round, {a}); }
constexpr Term pow(Term a, Term b) { return detail::record(Primitive::Pow, {a, b}); }

template <class... Terms>
constexpr Term call(OpKind kind, uint8_t variant, Terms... operands) {
  return detail::record(Instruction{Primitive::Call, 0, static_cast<uint8_t>(kind), variant, {}, 0},
                        {Term(operands)...});
}

#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name)                                                                           \
  template <class... Terms>                                                                                  \
  constexpr Term name(Term a, Terms... others) {                                                             \
    return call(OpKind::Type, 0, a, others...);                                                              \
  }
#include "ir/graph/ops.def"
#undef DFC_OP

} // namespace dfc::formula
