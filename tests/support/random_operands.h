// RandomOperands: the operands of ops in a random graph. A value that fits comes from the graph where a few
// tries find one (recent values preferred, so that chains grow), else it is made: a constant, a parameter or
// an input. Part of random_graph.cpp.
#pragma once

#include "tests/support/random_graph.h"

#include <algorithm>

namespace dfc::test {

class RandomOperands {
 public:
  RandomOperands(uint64_t seed, const RandomGraphOptions& options) : options_(options), dice_(seed) {}

 protected:
  const Graph& graph() const { return builder_.soFar(); }
  const TensorType& typeOf(ValueId value) const { return graph().typeOf(value); }
  const Shape& shapeOf(ValueId value) const { return typeOf(value).shape; }

  int64_t anyDim() {
    static constexpr std::array<int64_t, 8> dims = {1, 2, 3, 3, 4, 5, 1, 2};
    return options_.zeroSized && dice_.chance(4) ? 0 : dice_.oneOf(dims);
  }
  Shape anyShape() {
    Dims dims;
    for (int64_t rank = dice_.below(4); rank > 0; --rank) {
      dims.push_back(anyDim());
    }
    return Shape(dims);
  }
  // A shape that broadcasts with `shape`, mostly to it.
  Shape partnerShape(const Shape& shape) {
    if (dice_.chance(40)) {
      return shape;
    }
    const llvm::ArrayRef<int64_t> all = dimRange(shape);
    Dims dims(all.begin() + dice_.below(static_cast<int64_t>(all.size()) + 1), all.end());
    for (int64_t& dim : dims) {
      dim = dice_.chance(30) ? 1 : dim == 1 && dice_.chance(30) ? anyDim() : dim;
    }
    return Shape(dims);
  }

  Provenance provenance(std::string_view name = {}) {
    Provenance provenance;
    provenance.name = name;
    provenance.scope =
        options_.scopes.empty() || dice_.chance(40) ? "" : std::string_view(dice_.oneOf(options_.scopes));
    provenance.pin =
        options_.pins.empty() || dice_.chance(50) ? "" : std::string_view(dice_.oneOf(options_.pins));
    return provenance;
  }
  ValueId appended(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, std::string_view name = {}) {
    return builder_.result(builder_.append(std::move(attributes), operands, provenance(name)));
  }
  ValueId constant(Literal value) {
    ops::Constant attributes;
    attributes.value = std::move(value);
    return appended(std::move(attributes), {});
  }
  Literal constantValue(const TensorType& type) {
    static constexpr std::array<double, 4> fillings = {0, 1, 1, 2};
    return dice_.chance(50)
               ? filledLiteral(type, type.element == ElementType::Bool ? 1 : dice_.oneOf(fillings))
               : randomLiteral(type, dice_);
  }
  // A new source of this type.
  ValueId supply(const TensorType& type) {
    if (dice_.chance(40) && options_.constants) {
      return constant(constantValue(type));
    }
    if (options_.state && dice_.chance(30)) {
      ops::Parameter attributes;
      attributes.type = type;
      return appended(std::move(attributes), {}, "p");
    }
    ops::Input attributes;
    attributes.type = type;
    return appended(std::move(attributes), {}, "x");
  }
  ValueId anyValue() {
    const auto count = static_cast<int64_t>(graph().valueCount());
    const int64_t recent = std::min<int64_t>(count, 8);
    return ValueId(
        static_cast<uint32_t>(dice_.chance(70) ? count - 1 - dice_.below(recent) : dice_.below(count)));
  }
  // A value that satisfies `fits`: one of the graph if a few tries find one, else a source of `otherwise`.
  template <class Fits>
  ValueId find(const TensorType& otherwise, Fits fits) {
    for (int tries = 0; tries < 6; ++tries) {
      const ValueId value = anyValue();
      if (fits(typeOf(value))) {
        return value;
      }
    }
    return supply(otherwise);
  }
  ElementType someElement(bool (*wanted)(ElementType), ElementType fallback) {
    std::vector<ElementType> fitting;
    std::copy_if(options_.elements.begin(), options_.elements.end(), std::back_inserter(fitting), wanted);
    return fitting.empty() ? fallback : dice_.oneOf(fitting);
  }
  static bool isNumber(ElementType type) { return type != ElementType::Bool; }
  ValueId number() {
    return find({someElement(isNumber, ElementType::F32), anyShape()},
                [](const TensorType& type) { return isNumber(type.element); });
  }
  static bool isWhole(ElementType type) { return !isFloat(type); }
  ValueId whole() {
    return find({someElement(isWhole, ElementType::I32), anyShape()},
                [](const TensorType& type) { return isWhole(type.element); });
  }
  ValueId real(size_t leastRank = 0) {
    const Shape shape = leastRank == 0   ? anyShape()
                        : leastRank == 1 ? Shape{anyDim()}
                                         : Shape{anyDim(), anyDim()};
    return find({someElement(isFloat, ElementType::F32), shape}, [&](const TensorType& type) {
      return isFloat(type.element) && type.shape.rank() >= leastRank;
    });
  }
  ValueId partner(ElementType element, const Shape& shape) {
    return find({element, partnerShape(shape)}, [&](const TensorType& type) {
      return type.element == element && broadcastShapes(type.shape, shape).has_value();
    });
  }
  ValueId exactly(const TensorType& wanted) {
    return find(wanted, [&](const TensorType& type) { return type == wanted; });
  }

  const RandomGraphOptions& options_;
  Dice dice_;
  GraphBuilder builder_{"random"};
};

} // namespace dfc::test
