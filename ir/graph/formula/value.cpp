#include "ir/graph/formula/value.h"

#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"

#include <cmath>

namespace dfc::formula {
namespace {

using Real = long double;

Real larger(Real a, Real b) { return std::isnan(a) || !(b > a || std::isnan(b)) ? a : b; }
Real smaller(Real a, Real b) { return std::isnan(a) || !(b < a || std::isnan(b)) ? a : b; }

} // namespace

long double primitiveValue(Primitive primitive, std::array<long double, 3> in) {
  const auto [a, b, c] = in;
  switch (primitive) {
  case Primitive::Add: return a + b;
  case Primitive::Sub: return a - b;
  case Primitive::Mul: return a * b;
  case Primitive::Div: return a / b;
  case Primitive::Neg: return -a;
  case Primitive::Abs: return std::fabs(a);
  case Primitive::Max: return larger(a, b);
  case Primitive::Min: return smaller(a, b);
  case Primitive::Clip: return smaller(larger(a, b), c);
  case Primitive::MulAdd: return a * b + c;
  case Primitive::Less: return a < b ? 1 : 0;
  case Primitive::LessEqual: return a <= b ? 1 : 0;
  case Primitive::Select: return a != 0 ? b : c;
  case Primitive::Sqrt: return std::sqrt(a);
  case Primitive::Exp: return std::exp(a);
  case Primitive::Log: return std::log(a);
  case Primitive::Log1p:
  case Primitive::Log1pWithin: return std::log1p(a);
  case Primitive::Expm1: return std::expm1(a);
  case Primitive::Sin: return std::sin(a);
  case Primitive::Cos: return std::cos(a);
  case Primitive::Tanh: return std::tanh(a);
  case Primitive::Erf: return std::erf(a);
  case Primitive::Erfc: return std::erfc(a);
  case Primitive::Floor: return std::floor(a);
  case Primitive::Ceil: return std::ceil(a);
  case Primitive::Round: return std::nearbyint(a);
  case Primitive::Pow: return std::pow(a, b);
  case Primitive::Argument:
  case Primitive::Constant:
  case Primitive::Call: break;
  }
  DFC_UNREACHABLE("primitive of a formula without a value of its own");
}

std::array<long double, Program::mostResults> valuesOf(const Program& program,
                                                       llvm::ArrayRef<long double> arguments) {
  std::array<Real, Program::mostInstructions> values;
  for (size_t i = 0; i < program.size(); ++i) {
    const Instruction& instruction = program[i];
    std::array<Real, 3> in{};
    for (size_t k = 0; k < instruction.operands; ++k) {
      in[k] = values[instruction.inputs[k]];
    }
    switch (instruction.primitive) {
    case Primitive::Argument: values[i] = arguments[instruction.callee]; break;
    case Primitive::Constant: values[i] = instruction.value; break;
    case Primitive::Call:
      values[i] = valuesOf(*formulaOf(instruction.kind())->bodies[instruction.variant],
                           llvm::ArrayRef<Real>(in.data(), instruction.operands))[0];
      break;
    default: values[i] = primitiveValue(instruction.primitive, in);
    }
  }
  std::array<Real, Program::mostResults> results{};
  for (size_t i = 0; i < program.resultCount(); ++i) {
    results[i] = values[program.result(i)];
  }
  return results;
}

long double valueOf(OpKind kind, uint8_t variant, llvm::ArrayRef<double> operands) {
  const llvm::SmallVector<long double, 3> arguments(operands.begin(), operands.end());
  return valuesOf(*formulaOf(kind)->bodies[variant], arguments)[0];
}

} // namespace dfc::formula
