// Tile functions: one instruction on a short contiguous range of elements. They are all the arithmetic that
// the cpu kernels do on elements, compiled for several instruction sets; the best set is chosen when the
// program runs.
//
// A tile holds elements of a compute type: f32, f64, i32, i64, u8 or bool (a byte, 0 or 1). f16 and bf16 are
// computed as f32 and rounded after each instruction. An element's result depends on its operands only, never
// on its position in the tile: the last elements go through the same vector code as the rest. The output may
// be exactly an input.
#pragma once

#include "ir/graph/op.h"

#include <cstddef>
#include <cstdint>

namespace dfc {

/// Elements in a full tile: a few tiles of f64 fit in any L1 cache.
inline constexpr int64_t tileElements = 1024;

/// The compute type: f32 for f16 and bf16, else the type itself.
constexpr ElementType computeTypeOf(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ? ElementType::F32 : type;
}

/// inputs[i][0, count) -> output[0, count).
using TileFunction = void (*)(const void* const* inputs, void* output, size_t count);

/// The arithmetic op `kind` (`variant`: as in a fused instruction) on compute type `type`; null where the op
/// does not take that type.
TileFunction arithmeticTile(OpKind kind, ElementType type, uint8_t variant = 0);
/// `type`, `type` -> bool.
TileFunction compareTile(ops::Compare::Direction direction, ElementType type);
/// bool, `type`, `type` -> `type`.
TileFunction selectTile(ElementType type);
/// Between compute types as `cast` says; a copy for equal types.
TileFunction castTile(ElementType from, ElementType to);

/// f16 or bf16 -> f32, exact.
TileFunction widenTile(ElementType half);
/// f32 -> f16 or bf16, to nearest even.
TileFunction narrowTile(ElementType half);
/// f32 -> f32 that holds values of f16 or bf16: narrow, then widen.
TileFunction roundTile(ElementType half);

enum class ReductionKind : uint8_t { Sum, Product, Max, Min };

/// Accumulator: f64 for floats, so that sums of f32, f16 and bf16 are rounded once, and i64 for integers,
/// which wrap. Max and Min give NaN if any element is NaN.
template <class Carry>
struct ReductionFunctions {
  static constexpr int64_t maxRow = tileElements;
  Carry identity;
  /// Reduces one row of at most `maxRow` elements: 16 interleaved partial results, then a tree over them.
  Carry (*row)(const void* elements, size_t count);
  /// carry[i] = join(carry[i], elements[i]).
  void (*column)(Carry* carry, const void* elements, size_t count);
  /// carry[i] = join(carry[i], other[i]).
  void (*merge)(Carry* carry, const Carry* other, size_t count);
};

ReductionFunctions<double> floatReduction(ReductionKind kind, ElementType type);
ReductionFunctions<int64_t> integerReduction(ReductionKind kind, ElementType type);

} // namespace dfc
