// Literal: a tensor of known contents in host memory. Constants of a graph, feeds, results and saved state
// are literals. Copies share storage; writing detaches, so a literal behaves as a value.
//
// Threads: literals that share storage may be read, written and destroyed on different threads; one literal,
// as any value, is read by many or written by one at a time.
#pragma once

#include "ir/base/half.h"
#include "ir/base/visibility.h"
#include "ir/graph/tensor_type.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace DFC_PUBLIC dfc {

/// The C++ type that stores an element: float, double, Half, BFloat16, int32_t, int64_t, uint8_t, bool.
template <class T>
struct ElementTypeOf;
/// @cond INTERNAL
template <>
struct ElementTypeOf<float> {
  static constexpr ElementType value = ElementType::F32;
};
template <>
struct ElementTypeOf<double> {
  static constexpr ElementType value = ElementType::F64;
};
template <>
struct ElementTypeOf<Half> {
  static constexpr ElementType value = ElementType::F16;
};
template <>
struct ElementTypeOf<BFloat16> {
  static constexpr ElementType value = ElementType::BF16;
};
template <>
struct ElementTypeOf<int32_t> {
  static constexpr ElementType value = ElementType::I32;
};
template <>
struct ElementTypeOf<int64_t> {
  static constexpr ElementType value = ElementType::I64;
};
template <>
struct ElementTypeOf<uint8_t> {
  static constexpr ElementType value = ElementType::U8;
};
template <>
struct ElementTypeOf<bool> {
  static constexpr ElementType value = ElementType::Bool;
};
/// @endcond

/// A literal was asked for something that it does not hold: elements of another type, or one that is not
/// there. `what()` names both sides and the way out. The caller's mistake, where InternalError would be ours.
class LiteralError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

class Literal;
/// The same type and the same bits of every element. Declared here and not only as a friend, so that a shared
/// library exports it.
bool operator==(const Literal& a, const Literal& b);

/// A tensor of known contents: a type and its elements. See the top of this file.
class Literal {
 public:
  Literal() : Literal(TensorType{}) {}
  /// All elements zero. Storage is aligned to 64 bytes; throws std::bad_alloc where there is no room. Of an
  /// ill-formed shape it has no elements, and is refused, located, by the op or feed that it is given to.
  explicit Literal(const TensorType& type);
  /// Copies `values`, row-major; throws LiteralError unless there are as many as the shape has elements.
  template <class T>
  Literal(const Shape& shape, std::span<const T> values);
  /// Takes over storage of at least `type.bytes()` bytes, aligned to 64, that nobody else writes any more.
  Literal(const TensorType& type, std::shared_ptr<std::byte> storage)
      : type_(type), storage_(std::move(storage)) {}
  /// The same from a list: Literal::of<float>({2, 2}, {1, 2, 3, 4}).
  template <class T>
  static Literal of(const Shape& shape, std::initializer_list<T> values) {
    return Literal(shape, std::span<const T>(values.begin(), values.size()));
  }
  /// A literal of no axes.
  template <class T>
  static Literal scalar(T value) {
    return Literal(Shape{}, std::span<const T>(&value, 1));
  }

  /// Element type and shape.
  const TensorType& type() const { return type_; }
  /// The elements as they are stored, row-major.
  std::span<const std::byte> bytes() const { return {storage_.get(), static_cast<size_t>(type_.bytes())}; }
  std::span<std::byte> mutableBytes(); ///< detaches from other copies first
  /// The elements, row-major; throws LiteralError unless T stores this element type (ElementTypeOf).
  template <class T>
  std::span<const T> data() const;
  /// The same for writing; detaches from other copies first.
  template <class T>
  std::span<T> mutableData();
  /// Element `index` (row-major) converted to double; bool gives 0 or 1. Throws LiteralError outside the
  /// shape.
  double at(int64_t index) const;
  /// Sets element `index` from a double, rounded as a cast does. Throws LiteralError outside the shape.
  void set(int64_t index, double value);
  /// Same type and same bits.
  friend bool operator==(const Literal& a, const Literal& b);

 private:
  void checkElement(ElementType wanted) const;
  void checkCount(size_t count) const;
  void checkIndex(int64_t index) const;
  TensorType type_;
  std::shared_ptr<std::byte> storage_;
};

/// Literals by the names of what they hold: feeds, fetches, parameters. A std::map whose `at` says which name
/// is missing and which is nearest.
class NamedLiterals : public std::map<std::string, Literal, std::less<>> {
 public:
  /// The map that it is.
  using Map = std::map<std::string, Literal, std::less<>>;
  using Map::Map;
  NamedLiterals() = default;
  /// The literals of `map`.
  NamedLiterals(Map map) : Map(std::move(map)) {}
  /// Throws std::out_of_range with "did you mean" where there is no such name.
  const Literal& at(std::string_view name) const;
  /// The same for writing.
  Literal& at(std::string_view name);
};

/// A literal of `type` with every element `value`, converted as a cast does.
Literal filledLiteral(const TensorType& type, double value);

template <class T>
Literal::Literal(const Shape& shape, std::span<const T> values)
    : Literal(TensorType{ElementTypeOf<T>::value, shape}) {
  checkCount(values.size());
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(storage_.get()));
}

template <class T>
std::span<const T> Literal::data() const {
  checkElement(ElementTypeOf<T>::value);
  return {reinterpret_cast<const T*>(storage_.get()), static_cast<size_t>(type_.shape.elements())};
}

template <class T>
std::span<T> Literal::mutableData() {
  checkElement(ElementTypeOf<T>::value);
  return {reinterpret_cast<T*>(mutableBytes().data()), static_cast<size_t>(type_.shape.elements())};
}

} // namespace dfc
