// A formula as data: straight-line code over scalar primitives, in which every instruction reads earlier
// ones. The body of a formula op is recorded as a program while dfc is compiled (term.h). Evaluator, lanes,
// device text, derivatives, costs and error bounds are interpreters of it.
//
// Why data and not a template over the scalar type: a function that is not compiled for an instruction set
// cannot be inlined into a kernel that is, so the lanes of the cpu kernels could not go through the bodies.
#pragma once

#include "ir/graph/op_kind.h"

#include <algorithm>
#include <array>

namespace dfc::formula {

enum class Primitive : uint8_t {
  Argument, ///< number `callee` of the formula's operands
  Constant,
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Abs,
  Max,    ///< NaN if either is; of equal ones the first
  Min,    ///< likewise
  Clip,   ///< min(max(a, low), high)
  MulAdd, ///< a b + c, with one rounding or two
  Less,   ///< a truth value, which only Select reads
  LessEqual,
  Select, ///< of a truth value: the second operand where it holds, else the third
  Sqrt,
  Exp,
  Log,
  Log1p,
  Log1pWithin, ///< log(1 + a) for 0 <= a <= 1 (or NaN) only, where kernels need not look for edges
  Expm1,
  Sin,
  Cos,
  Tanh,
  Erf,
  Erfc,
  Floor,
  Ceil,
  Round, ///< halves to even
  Pow,
  Call, ///< of another formula op
};

constexpr size_t inputCount(Primitive primitive) {
  switch (primitive) {
  case Primitive::Argument:
  case Primitive::Constant: return 0;
  case Primitive::Add:
  case Primitive::Sub:
  case Primitive::Mul:
  case Primitive::Div:
  case Primitive::Max:
  case Primitive::Min:
  case Primitive::Less:
  case Primitive::LessEqual:
  case Primitive::Pow: return 2;
  case Primitive::Clip:
  case Primitive::MulAdd:
  case Primitive::Select: return 3;
  case Primitive::Call: return 3; // at most; see Instruction::operands
  default: return 1;
  }
}

constexpr bool isTruth(Primitive primitive) {
  return primitive == Primitive::Less || primitive == Primitive::LessEqual;
}

struct Instruction {
  Primitive primitive = Primitive::Constant;
  uint8_t operands = 0; ///< how many of `inputs` are read
  uint8_t callee = 0;   ///< an argument's number; of a call the OpKind
  uint8_t variant = 0;  ///< of a call
  std::array<uint8_t, 3> inputs{};
  long double value = 0; ///< of a constant

  constexpr OpKind kind() const { return static_cast<OpKind>(callee); }
};

class Program {
 public:
  static constexpr size_t mostInstructions = 96, mostResults = 3;

  /// The number of the new instruction. A constant that is there already is used again.
  constexpr uint8_t append(const Instruction& instruction) {
    for (size_t i = 0; instruction.primitive == Primitive::Constant && i < size_; ++i) {
      if (instructions_[i].primitive == Primitive::Constant && instructions_[i].value == instruction.value) {
        return static_cast<uint8_t>(i);
      }
    }
    if (size_ == mostInstructions) {
      throw "a formula of more instructions than Program::mostInstructions"; // at compile time: an error
    }
    instructions_[size_] = instruction;
    return static_cast<uint8_t>(size_++);
  }
  constexpr void addResult(uint8_t instruction) { results_[resultCount_++] = instruction; }

  constexpr size_t size() const { return size_; }
  constexpr const Instruction& operator[](size_t i) const { return instructions_[i]; }
  constexpr size_t resultCount() const { return resultCount_; }
  constexpr uint8_t result(size_t i = 0) const { return results_[i]; }

  /// Which instructions these results need.
  constexpr std::array<bool, mostInstructions> neededFor(std::array<bool, mostResults> wanted) const {
    std::array<bool, mostInstructions> needed{};
    for (size_t i = 0; i < resultCount_; ++i) {
      needed[results_[i]] = needed[results_[i]] || wanted[i];
    }
    for (size_t i = size_; i-- > 0;) {
      for (size_t k = 0; needed[i] && k < instructions_[i].operands; ++k) {
        needed[instructions_[i].inputs[k]] = true;
      }
    }
    return needed;
  }

 private:
  std::array<Instruction, mostInstructions> instructions_{};
  std::array<uint8_t, mostResults> results_{};
  size_t size_ = 0, resultCount_ = 0;
};

} // namespace dfc::formula
