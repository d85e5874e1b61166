// The evaluator's arithmetic on single elements. See evaluate.h for what it promises.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/formula/value.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc::evaluation {
namespace {

double realFunction(OpKind kind, double a, double b) {
  switch (kind) {
  case OpKind::Add: return a + b;
  case OpKind::Sub: return a - b;
  case OpKind::Mul: return a * b;
  case OpKind::Div: return a / b;
  case OpKind::Pow: return std::pow(a, b);
  case OpKind::Neg: return -a;
  case OpKind::Abs: return std::fabs(a);
  case OpKind::Sign: return std::isnan(a) || a == 0 ? a : std::copysign(1, a);
  case OpKind::Floor: return std::floor(a);
  case OpKind::Ceil: return std::ceil(a);
  case OpKind::Round: return std::nearbyint(a); // halves to even
  case OpKind::Exp: return std::exp(a);
  case OpKind::Log: return std::log(a);
  case OpKind::Sqrt: return std::sqrt(a);
  case OpKind::Sin: return std::sin(a);
  case OpKind::Cos: return std::cos(a);
  case OpKind::Erf: return std::erf(a);
  case OpKind::Tanh: return std::tanh(a);
  case OpKind::Relu: return std::isnan(a) || a > 0 ? a : 0;
  default: DFC_UNREACHABLE("no function of floats: " + std::string(nameOf(kind)));
  }
}

// Division of the low 64 bits; the one quotient that does not fit wraps.
uint64_t quotient(int64_t a, int64_t b) {
  if (b == 0) {
    return 0;
  }
  return b == -1 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a / b);
}

uint64_t wholeFunction(OpKind kind, int64_t a, int64_t b) {
  const auto left = static_cast<uint64_t>(a), right = static_cast<uint64_t>(b);
  switch (kind) {
  case OpKind::Add: return left + right;
  case OpKind::Sub: return left - right;
  case OpKind::Mul: return left * right;
  case OpKind::Div: return quotient(a, b);
  case OpKind::And: return left & right;
  case OpKind::Or: return left | right;
  case OpKind::Xor: return left ^ right;
  case OpKind::Not: return ~left;
  case OpKind::Neg: return 0 - left;
  case OpKind::Abs: return a < 0 ? 0 - left : left;
  case OpKind::Sign: return a > 0 ? 1 : a < 0 ? ~uint64_t{0} : 0;
  case OpKind::Relu: return a > 0 ? left : 0;
  default: DFC_UNREACHABLE("no function of integers: " + std::string(nameOf(kind)));
  }
}

template <class T>
bool holds(ops::Compare::Direction direction, T a, T b) {
  switch (direction) {
  case ops::Compare::Direction::Eq: return a == b;
  case ops::Compare::Direction::Ne: return a != b;
  case ops::Compare::Direction::Lt: return a < b;
  case ops::Compare::Direction::Le: return a <= b;
  case ops::Compare::Direction::Gt: return a > b;
  case ops::Compare::Direction::Ge: return a >= b;
  }
  DFC_UNREACHABLE("direction of a compare");
}

Scalar compared(ops::Compare::Direction direction, const Scalar& a, const Scalar& b) {
  const bool truth = isFloat(a.type) ? holds(direction, a.real, b.real) : holds(direction, a.whole, b.whole);
  return wrapped(ElementType::Bool, truth ? 1 : 0);
}

int64_t saturated(ElementType to, double value) {
  if (std::isnan(value)) {
    return 0;
  }
  switch (to) {
  case ElementType::U8: return static_cast<int64_t>(std::clamp(value, 0.0, 255.0));
  case ElementType::I32: return static_cast<int64_t>(std::clamp(value, -0x1p31, 0x1p31 - 1));
  default: break;
  }
  if (value >= 0x1p63) {
    return std::numeric_limits<int64_t>::max();
  }
  return value < -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

double toReal(ElementType to, int64_t value) {
  // From the integer at once: by way of double an i64 would be rounded twice.
  return to == ElementType::F64 ? static_cast<double>(value) : static_cast<double>(static_cast<float>(value));
}

} // namespace

Scalar rounded(ElementType type, double value) {
  switch (type) {
  case ElementType::F64: return {type, value, 0};
  case ElementType::F32: return {type, static_cast<float>(value), 0};
  case ElementType::F16: return {type, static_cast<float>(Half(static_cast<float>(value))), 0};
  case ElementType::BF16: return {type, static_cast<float>(BFloat16(static_cast<float>(value))), 0};
  default: DFC_UNREACHABLE("no float type");
  }
}

Scalar wrapped(ElementType type, uint64_t value) {
  switch (type) {
  case ElementType::I64: return {type, 0, static_cast<int64_t>(value)};
  case ElementType::I32: return {type, 0, static_cast<int32_t>(static_cast<uint32_t>(value))};
  case ElementType::U8: return {type, 0, static_cast<uint8_t>(value)};
  case ElementType::Bool: return {type, 0, value != 0 ? 1 : 0};
  default: DFC_UNREACHABLE("no integer type");
  }
}

Scalar converted(ElementType to, const Scalar& from) {
  if (isFloat(from.type)) {
    if (isFloat(to)) {
      return rounded(to, from.real);
    }
    return to == ElementType::Bool ? wrapped(to, from.real != 0 ? 1 : 0)
                                   : wrapped(to, static_cast<uint64_t>(saturated(to, from.real)));
  }
  return isFloat(to) ? rounded(to, toReal(to, from.whole)) : wrapped(to, static_cast<uint64_t>(from.whole));
}

Scalar larger(const Scalar& a, const Scalar& b) {
  if (isFloat(a.type)) {
    return std::isnan(a.real) || !(b.real > a.real || std::isnan(b.real)) ? a : b;
  }
  return b.whole > a.whole ? b : a;
}

Scalar smaller(const Scalar& a, const Scalar& b) {
  if (isFloat(a.type)) {
    return std::isnan(a.real) || !(b.real < a.real || std::isnan(b.real)) ? a : b;
  }
  return b.whole < a.whole ? b : a;
}

Scalar applyScalar(OpKind kind, uint8_t variant, ElementType type, llvm::ArrayRef<Scalar> inputs) {
  switch (kind) {
  case OpKind::Compare: return compared(static_cast<ops::Compare::Direction>(variant), inputs[0], inputs[1]);
  case OpKind::Select: return inputs[0].whole != 0 ? inputs[1] : inputs[2];
  case OpKind::Cast: return converted(type, inputs[0]);
  case OpKind::Maximum: return larger(inputs[0], inputs[1]);
  case OpKind::Minimum: return smaller(inputs[0], inputs[1]);
  case OpKind::Clip: return smaller(larger(inputs[0], inputs[1]), inputs[2]);
  default: break;
  }
  const Scalar& a = inputs.front();
  const Scalar& b = inputs.back();
  if (formulaOf(kind) != nullptr) {
    llvm::SmallVector<double, 3> operands;
    for (const Scalar& input : inputs) {
      operands.push_back(input.real);
    }
    return rounded(type, static_cast<double>(formula::valueOf(kind, variant, operands)));
  }
  if (isFloat(type)) {
    return rounded(type, realFunction(kind, a.real, b.real));
  }
  if (kind == OpKind::Not && type == ElementType::Bool) {
    return wrapped(type, a.whole == 0 ? 1 : 0); // of the one bit that it has
  }
  return wrapped(type, wholeFunction(kind, a.whole, b.whole));
}

} // namespace dfc::evaluation
