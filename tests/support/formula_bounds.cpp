#include "tests/support/formula_bounds.h"

#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/formula/value.h"

#include <cmath>
#include <limits>

namespace dfc::test {
namespace {

using formula::Instruction;
using formula::Primitive;
using formula::Program;
using Real = long double;

struct Approximate {
  Real value = 0, error = 0; ///< of a truth value: an error of 1 where it is not certain
};

struct Arithmetic {
  Real epsilon, leastNormal, least;
};

Arithmetic arithmeticOf(ElementType compute) {
  return compute == ElementType::F64 ? Arithmetic{0x1p-52L, 0x1p-1022L, 0x1p-1074L}
                                     : Arithmetic{0x1p-23L, 0x1p-126L, 0x1p-149L};
}

// In units of the last place, the worse of Highway's documentation (and our own functions') and the table of
// CUDA's programming guide; what IEEE 754 rounds is off by half of one.
Real ulpsOf(Primitive primitive) {
  switch (primitive) {
  case Primitive::Neg:
  case Primitive::Abs:
  case Primitive::Max:
  case Primitive::Min:
  case Primitive::Clip:
  case Primitive::Less:
  case Primitive::LessEqual:
  case Primitive::Select:
  case Primitive::Floor:
  case Primitive::Ceil:
  case Primitive::Round: return 0;
  case Primitive::Exp: return 2;
  case Primitive::Log1p:
  case Primitive::Log1pWithin:
  case Primitive::Sin:
  case Primitive::Cos: return 3;
  case Primitive::Expm1:
  case Primitive::Log:
  case Primitive::Tanh:
  case Primitive::Erf:
  case Primitive::Pow: return 4;
  case Primitive::Erfc: return 5;
  default: return 0.5L;
  }
}

// The formulas that a backend computes by other means, and the ulps of those.
struct Override {
  OpKind kind;
  uint8_t variant;
  Real ulps;
};
constexpr Override overrides[] = {{OpKind::Gelu, 0, 8}}; // our own is good to 7, CUDA's to 5 and a product

class Analysis {
 public:
  explicit Analysis(const Arithmetic& arithmetic) : arithmetic_(arithmetic) {}

  Approximate run(const Program& body, llvm::ArrayRef<Approximate> operands) const {
    std::array<Approximate, Program::mostInstructions> values;
    for (size_t i = 0; i < body.size(); ++i) {
      llvm::SmallVector<Approximate, 3> in;
      for (size_t k = 0; k < body[i].operands; ++k) {
        in.push_back(values[body[i].inputs[k]]);
      }
      values[i] = body[i].primitive == Primitive::Argument ? operands[body[i].callee] : valueOf(body[i], in);
    }
    return values[body.result()];
  }

 private:
  Approximate valueOf(const Instruction& instruction, llvm::ArrayRef<Approximate> in) const {
    if (instruction.primitive == Primitive::Constant) {
      const Real half = arithmetic_.epsilon / 2, value = instruction.value;
      const bool exact = static_cast<float>(value) == value;
      return {value, exact ? 0 : half * std::fabs(value)};
    }
    if (instruction.primitive == Primitive::Call) {
      return run(*formulaOf(instruction.kind())->bodies[instruction.variant], in);
    }
    const Real value = at(instruction.primitive, in, {});
    if (!std::isfinite(value)) {
      return {value, 0};
    }
    const Real magnitude = std::fabs(value), ulps = ulpsOf(instruction.primitive);
    const bool subnormal = ulps > 0 && magnitude > 0 && magnitude < arithmetic_.leastNormal;
    return {value, passedOn(instruction.primitive, in, value) + ulps * arithmetic_.epsilon * magnitude +
                       (subnormal ? arithmetic_.least : 0)};
  }

  static Real at(Primitive primitive, llvm::ArrayRef<Approximate> in, std::array<int, 3> side) {
    std::array<Real, 3> values{};
    for (size_t k = 0; k < in.size(); ++k) {
      values[k] = in[k].value + side[k] * in[k].error;
    }
    return formula::primitiveValue(primitive, values);
  }

  // What the operands' errors become: of functions that rise or fall throughout, the largest distance among
  // the corners of the box in which the operands lie.
  static Real passedOn(Primitive primitive, llvm::ArrayRef<Approximate> in, Real value) {
    switch (primitive) {
    case Primitive::Less:
    case Primitive::LessEqual:
      return std::fabs(in[0].value - in[1].value) <= in[0].error + in[1].error &&
                     in[0].error + in[1].error > 0
                 ? 1
                 : 0;
    case Primitive::Select: return ofSelect(in);
    case Primitive::Sin:
    case Primitive::Cos: return std::fmin(in[0].error, Real(2));
    default: break;
    }
    Real most = 0;
    for (int corner = 0; corner < 27; ++corner) {
      const std::array<int, 3> side = {corner % 3 - 1, corner / 3 % 3 - 1, corner / 9 - 1};
      if ((in.size() < 3 && side[2] != 0) || (in.size() < 2 && side[1] != 0)) {
        continue;
      }
      const Real distance = std::fabs(at(primitive, in, side) - value);
      most = std::isnan(distance) ? std::numeric_limits<Real>::infinity() : std::fmax(most, distance);
    }
    return most;
  }
  static Real ofSelect(llvm::ArrayRef<Approximate> in) {
    const Approximate& chosen = in[0].value != 0 ? in[1] : in[2];
    const Approximate& other = in[0].value != 0 ? in[2] : in[1];
    return in[0].error == 0 ? chosen.error
                            : std::fmax(chosen.error, std::fabs(other.value - chosen.value) + other.error);
  }

  Arithmetic arithmetic_;
};

} // namespace

double formulaError(OpKind kind, uint8_t variant, llvm::ArrayRef<double> operands, ElementType compute) {
  const Arithmetic arithmetic = arithmeticOf(compute);
  llvm::SmallVector<Approximate, 3> arguments;
  for (const double operand : operands) {
    arguments.push_back({operand, 0});
  }
  const Approximate result = Analysis(arithmetic).run(*formulaOf(kind)->bodies[variant], arguments);
  Real error = result.error;
  for (const Override& row : overrides) {
    if (row.kind == kind && row.variant == variant) {
      error = std::fmax(error, row.ulps * arithmetic.epsilon * std::fabs(result.value) +
                                   std::fabs(arguments[0].value) * arithmetic.least);
    }
  }
  return std::isfinite(result.value) ? static_cast<double>(error) : 0;
}

llvm::SmallVector<double, 3> operandsAt(llvm::ArrayRef<Literal> operands, const Shape& result, int64_t at) {
  llvm::SmallVector<double, 3> values;
  for (const Literal& operand : operands) {
    const Shape& shape = operand.type().shape;
    int64_t rest = at, offset = 0, stride = 1;
    for (size_t back = 1; back <= result.rank(); ++back) {
      const int64_t dim = result[result.rank() - back], index = rest % dim;
      rest /= dim;
      if (back <= shape.rank()) {
        const int64_t own = shape[shape.rank() - back];
        offset += (own == 1 ? 0 : index) * stride;
        stride *= own;
      }
    }
    values.push_back(operand.at(offset));
  }
  return values;
}

} // namespace dfc::test
