// Element by element: operators, functions of one operand, comparisons, and the formula ops.
#include "ir/author/dsl.h"
#include "ir/author/dsl/apply.h"

namespace dfc {

Tensor operator+(Operand a, Operand b) { return dsl::apply(ops::Add{}, {a, b}); }
Tensor operator-(Operand a, Operand b) { return dsl::apply(ops::Sub{}, {a, b}); }
Tensor operator-(Operand a) { return dsl::apply(ops::Neg{}, {a}); }
Tensor operator*(Operand a, Operand b) { return dsl::apply(ops::Mul{}, {a, b}); }
Tensor operator/(Operand a, Operand b) { return dsl::apply(ops::Div{}, {a, b}); }
Tensor max(Operand a, Operand b) { return dsl::apply(ops::Maximum{}, {a, b}); }
Tensor min(Operand a, Operand b) { return dsl::apply(ops::Minimum{}, {a, b}); }
Tensor pow(Operand a, Operand b) { return dsl::apply(ops::Pow{}, {a, b}); }

Tensor operator&(Operand a, Operand b) { return dsl::apply(ops::And{}, {a, b}); }
Tensor operator|(Operand a, Operand b) { return dsl::apply(ops::Or{}, {a, b}); }
Tensor operator^(Operand a, Operand b) { return dsl::apply(ops::Xor{}, {a, b}); }
Tensor operator~(Operand a) { return dsl::apply(ops::Not{}, {a}); }

Tensor abs(Operand a) { return dsl::apply(ops::Abs{}, {a}); }
Tensor sign(Operand a) { return dsl::apply(ops::Sign{}, {a}); }
Tensor floor(Operand a) { return dsl::apply(ops::Floor{}, {a}); }
Tensor ceil(Operand a) { return dsl::apply(ops::Ceil{}, {a}); }
Tensor round(Operand a) { return dsl::apply(ops::Round{}, {a}); }

Tensor exp(Operand a) { return dsl::apply(ops::Exp{}, {a}); }
Tensor log(Operand a) { return dsl::apply(ops::Log{}, {a}); }
Tensor sqrt(Operand a) { return dsl::apply(ops::Sqrt{}, {a}); }
Tensor sin(Operand a) { return dsl::apply(ops::Sin{}, {a}); }
Tensor cos(Operand a) { return dsl::apply(ops::Cos{}, {a}); }
Tensor erf(Operand a) { return dsl::apply(ops::Erf{}, {a}); }
Tensor tanh(Operand a) { return dsl::apply(ops::Tanh{}, {a}); }
Tensor relu(Operand a) { return dsl::apply(ops::Relu{}, {a}); }

Tensor gelu(Operand a, Approximation approximate) {
  ops::Gelu attributes;
  attributes.approximate = approximate;
  return dsl::apply(attributes, {a});
}

#include "ir/author/formula_functions.inc" // generated: one function for each formula op

Tensor clip(Operand a, Operand low, Operand high) { return dsl::apply(ops::Clip{}, {a, low, high}); }

Tensor cast(Operand a, ElementType to) {
  ops::Cast attributes;
  attributes.to = to;
  return dsl::apply(attributes, {a});
}

Tensor compare(Operand a, Operand b, Direction direction) {
  ops::Compare attributes;
  attributes.direction = direction;
  return dsl::apply(attributes, {a, b});
}

Tensor select(Operand condition, Operand a, Operand b) {
  return dsl::apply(ops::Select{}, {condition, a, b});
}

} // namespace dfc
