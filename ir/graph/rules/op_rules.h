// What the rules in ops/ share: how a refused call is described, the common type of broadcast operands, axes,
// reduced shapes, and the prices of scalar functions. Passes, kernels and the evaluator read axes through the
// same functions, so that "-1" or "no axes" mean one thing everywhere. The op's name comes from the op table.
#pragma once

#include "ir/graph/op.h"

#include <optional>
#include <string>

namespace dfc {

/// Floating-point operations that one element of a costly scalar function counts as; every other scalar
/// function counts 1. The reasons are in ops/README.md.
inline constexpr double divFlops = 4;
inline constexpr double sqrtFlops = 4;
inline constexpr double expFlops = 8;
inline constexpr double logFlops = 8;
inline constexpr double sinFlops = 10;                       // range reduction and a polynomial
inline constexpr double erfFlops = expFlops + divFlops + 6;  // 1 - a rational polynomial times e^-x^2
inline constexpr double powFlops = expFlops + logFlops + 4;  // e^(b log a), with the logarithm in two parts
inline constexpr double tanhFlops = expFlops + divFlops + 2; // (e^2x - 1) / (e^2x + 1)

/// "add of f32[2, 3] and f32[4]"
std::string describeCall(OpKind kind, OperandTypes operands);
/// A refusal: "add of f32[2, 3] and f32[4]: <why>", with the way out.
TypeResult refuse(OpKind kind, OperandTypes operands, std::string_view why, std::string hint);

/// Element types that an op works on. Number: all but bool; Whole: all but floats.
enum class Domain : uint8_t { Any, Number, Float, Whole };
/// Ok (without types) when all operands have one element type, and it is in the domain.
TypeResult checkElements(OpKind kind, OperandTypes operands, Domain domain);

/// The shape that all operands broadcast to; none when two of them clash or the result is too large.
std::optional<Shape> commonShape(OperandTypes operands);
/// The same as a type rule: a result of `element` in the common shape, or which dimensions clash.
TypeResult broadcastTypes(OpKind kind, OperandTypes operands, ElementType element);
/// Both checks: the rule of an elementwise op whose result has its operands' element type.
TypeResult elementwiseTypes(OpKind kind, OperandTypes operands, Domain domain);

/// A result of these dimensions, or the refusal of a shape that no tensor may have.
TypeResult resultOf(OpKind kind, OperandTypes operands, ElementType element, llvm::ArrayRef<int64_t> dims);

/// `axis` counted from the front; none when it is outside [-rank, rank).
std::optional<size_t> normalAxis(int64_t axis, size_t rank);
/// Axes to reduce, ascending and counted from the front; no axes mean all. None when one is outside the rank
/// or named twice.
std::optional<Dims> normalAxes(llvm::ArrayRef<int64_t> axes, size_t rank);
/// A shape without `axes` (as `normalAxes` gives them), or with 1 in their place.
Shape reducedShape(const Shape& shape, llvm::ArrayRef<int64_t> axes, bool keepDims);
/// How many elements are reduced to one result; `axes` as `normalAxes` gives them.
int64_t reducedLength(const Shape& shape, llvm::ArrayRef<int64_t> axes);
/// Ok (without types), or why a mean over `axes` cannot be a part of one of `count` elements (0: of its own).
TypeResult checkMeanCount(OpKind kind, OperandTypes operands, const Shape& shape,
                          llvm::ArrayRef<int64_t> axes, int64_t count);
/// The rule of an op that looks along one axis (softmax, argMax): ok without types, or the refusal.
TypeResult checkAxis(OpKind kind, OperandTypes operands, int64_t axis);
/// The rule of a reduction. `emptyAllowed`: an axis of length 0 may be reduced.
TypeResult reductionTypes(OpKind kind, OperandTypes operands, llvm::ArrayRef<int64_t> axes, bool keepDims,
                          Domain domain, bool emptyAllowed);
/// One operation for each element that is read.
OpCost reductionCost(OperandTypes operands, OperandTypes results);
/// The result's elements read once and written once: what an op costs that only moves elements.
OpCost movementCost(OperandTypes results);

/// Whether the type can hold this number: an integer type takes whole numbers within its range, bool 0 and 1,
/// a float type anything (rounded).
bool canHold(ElementType type, double value);

} // namespace dfc
