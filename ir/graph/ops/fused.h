// fused(x0, x1, …): a chain of elementwise ops over broadcast operands, run as one loop, with an optional
// reduction at its end. Made by the pass fuse_elementwise. The body is straight-line code: instruction i
// writes register (operand count + i); the last one is the result.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc {
enum class OpKind : uint8_t;
}

namespace dfc::ops {

/// One scalar operation of a fused body.
struct FusedInstruction {
  OpKind kind{};                         ///< an elementwise op of the table
  uint8_t variant = 0;                   ///< compare: direction; gelu: approximation
  ElementType type = ElementType::F32;   ///< element type of what it writes
  llvm::SmallVector<uint32_t, 3> inputs; ///< registers: operands first, then earlier instructions
  friend bool operator==(const FusedInstruction&, const FusedInstruction&) = default;
};

/// Text form: "add:f32 %0 %1; relu:f32 %2", compare as "compare.lt:bool %0 %1", "gelu.tanh:f32 %0".
struct FusedBody : TextCoded {
  llvm::SmallVector<FusedInstruction, 1> instructions; ///< one within: see Dims
  std::string encode() const override;
  bool decode(std::string_view text) override;
};

struct Fused : OpDefaults {
  enum class Reduction : uint8_t { None, Sum, Mean, Max };
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{1, anyNumber};
  FusedBody body;
  Reduction reduction = Reduction::None;
  Dims axes; ///< reduced axes of the common shape, ascending
  bool keepDims = false;
  int64_t count = 0; ///< of the whole's elements in a mean, as in reduceMean
  void fields(AttributeVisitor& visitor);

  /// The shape that the operands broadcast to, before the reduction.
  static std::optional<Shape> commonShape(OperandTypes operands);

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
