// Element types, static shapes, and the bytes that a tensor of a type takes. Row-major, dense, no padding.
#pragma once

#include "ir/base/visibility.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace DFC_PUBLIC dfc {

/// The element types: floats of 32, 64 and 16 bits (IEEE 754 binary16 and bfloat16), integers, bool.
enum class ElementType : uint8_t { F32, F64, F16, BF16, I32, I64, U8, Bool };
/// Every element type once, in the order of the enumeration.
inline constexpr std::array allElementTypes = {ElementType::F32,  ElementType::F64, ElementType::F16,
                                               ElementType::BF16, ElementType::I32, ElementType::I64,
                                               ElementType::U8,   ElementType::Bool};

/// Bytes of one element: f32 4, f64 8, f16 2, bf16 2, i32 4, i64 8, u8 1, bool 1 (0 or 1).
int64_t byteWidth(ElementType type);
bool isFloat(ElementType type);          ///< f32, f64, f16, bf16
bool isInteger(ElementType type);        ///< i32, i64, u8
std::string_view name(ElementType type); ///< "f32", …, "bool"
/// The type of this name ("f32"); none where no type has it.
std::optional<ElementType> elementTypeNamed(std::string_view name);

/// Up to 8 dimensions, each 0 or more; rank 0 is a scalar. A plain value, compared by its dimensions.
/// Dimensions that an author computed may be none of that: such a shape is ill-formed, has no elements, and
/// is refused, located, by the op that it is given to.
class Shape {
 public:
  /// The most axes that a tensor has.
  static constexpr size_t maxRank = 8;
  Shape() = default;
  /// The shape of these dimensions.
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  /// Ill-formed where `dims` are not `valid`; of more than 8 dimensions it keeps the first 8.
  explicit Shape(std::span<const int64_t> dims);

  /// Whether `dims` make a shape whose element count, times 8 bytes, fits in an int64.
  static bool valid(std::span<const int64_t> dims);

  /// Whether the dimensions make a shape that a tensor may have.
  bool wellFormed() const { return !illFormed_; }
  /// How many axes.
  size_t rank() const { return rank_; }
  /// The dimension of one axis; 0 beyond the rank, so that reading a shape after a mistake is safe.
  int64_t operator[](size_t axis) const { return axis < dims_.size() ? dims_[axis] : 0; }
  /// All dimensions.
  std::span<const int64_t> dims() const { return {dims_.data(), rank_}; }
  int64_t elements() const; ///< 1 for a scalar, 0 when any dimension is 0 or the shape is ill-formed
  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && a.dims_ == b.dims_ && a.illFormed_ == b.illFormed_;
  }

 private:
  std::array<int64_t, maxRank> dims_{};
  uint8_t rank_ = 0;
  bool illFormed_ = false;
};

/// Axes, permutations, starts, …; never more than 8.
using Dims = std::vector<int64_t>;

/// An element type and a shape: what is known of a value before it has contents.
struct TensorType {
  /// Of each element.
  ElementType element = ElementType::F32;
  /// The dimensions.
  Shape shape;
  /// Bytes of all elements.
  int64_t bytes() const { return shape.elements() * byteWidth(element); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

std::string toString(const Shape& shape);     ///< "[2, 3]", "[]"; a ninth axis is "..."
std::string toString(const TensorType& type); ///< "f32[2, 3]", "i64[]"

/// The shape that two shapes broadcast to, as NumPy does: aligned at the last axis, 1 stretches. None if they
/// clash.
std::optional<Shape> broadcastShapes(const Shape& a, const Shape& b);

/// The type f32 of this shape.
inline TensorType f32(Shape shape) { return {ElementType::F32, shape}; }
/// The type f64 of this shape.
inline TensorType f64(Shape shape) { return {ElementType::F64, shape}; }
/// The type i32 of this shape.
inline TensorType i32(Shape shape) { return {ElementType::I32, shape}; }
/// The type i64 of this shape.
inline TensorType i64(Shape shape) { return {ElementType::I64, shape}; }

} // namespace dfc
