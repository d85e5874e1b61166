// RandomIndexing: calls that go by indices, order, place along an axis or chance (gather, topK, split,
// layerNorm, dropout, …) with random attributes. Part of random_graph.cpp.
#pragma once

#include "ir/graph/rules/index_rules.h"
#include "tests/support/random_windows.h"

namespace dfc::test {

class RandomIndexing : public RandomWindows {
 public:
  using RandomWindows::RandomWindows;

 protected:
  /// A value with an axis, of numbers or of any element type.
  ValueId withAxis(size_t leastRank, bool numbers) {
    const ElementType element =
        numbers ? someElement(isNumber, ElementType::F32) : dice_.oneOf(options_.elements);
    const Shape shape = leastRank == 1 ? Shape{anyDim()} : Shape{anyDim(), anyDim()};
    return find({element, shape}, [&](const TensorType& type) {
      return type.shape.rank() >= leastRank && (!numbers || isNumber(type.element));
    });
  }
  int64_t anyAxis(size_t rank) {
    const auto count = static_cast<int64_t>(rank);
    return dice_.below(2 * count) - count;
  }
  /// Places along an axis of this length, counted from either end; a few out of range.
  ValueId indices(const Shape& shape, int64_t length) {
    Literal value({dice_.chance(50) ? ElementType::I32 : ElementType::I64, shape});
    for (int64_t i = 0; i < shape.elements(); ++i) {
      value.set(i, static_cast<double>(dice_.chance(90) && length > 0 ? dice_.below(2 * length) - length
                                                                      : length + dice_.below(3)));
    }
    return constant(std::move(value));
  }
  Shape indexShape() {
    Dims dims;
    for (int64_t rank = dice_.below(3); rank > 0; --rank) {
      dims.push_back(anyDim());
    }
    return Shape(dims);
  }

  Call gather() {
    const ValueId a = withAxis(1, false);
    ops::Gather op;
    op.axis = anyAxis(shapeOf(a).rank());
    return {op, {a, indices(indexShape(), shapeOf(a)[*normalAxis(op.axis, shapeOf(a).rank())])}};
  }
  Call scatterAdd() {
    const ValueId a = withAxis(1, true);
    ops::ScatterAdd op;
    op.axis = anyAxis(shapeOf(a).rank());
    const size_t along = *normalAxis(op.axis, shapeOf(a).rank());
    const ValueId places = indices(indexShape(), shapeOf(a)[along]);
    const Dims dims = gatheredDims(shapeOf(a), shapeOf(places), along);
    const ValueId updates = dims.size() <= Shape::maxRank ? exactly({typeOf(a).element, Shape(dims)}) : a;
    return {op, {a, places, updates}};
  }
  Call oneHot() {
    ops::OneHot op;
    op.depth = anyDim();
    op.to = dice_.oneOf(options_.elements);
    const ValueId places = indices(indexShape(), op.depth);
    op.axis = anyAxis(shapeOf(places).rank() + 1);
    return {op, {places}};
  }
  Call iota() {
    ops::Iota op;
    op.type = {someElement(isNumber, ElementType::F32), Shape{anyDim(), anyDim()}};
    op.axis = anyAxis(2);
    return {op, {}};
  }
  Call trilu() {
    ops::Trilu op;
    op.k = dice_.below(7) - 3;
    op.upper = dice_.chance(50);
    return {op, {withAxis(2, false)}};
  }
  Call tile() {
    const ValueId operand = anyValue();
    ops::Tile op;
    for (size_t axis = 0; axis < shapeOf(operand).rank(); ++axis) {
      op.repeats.push_back(dice_.chance(50) ? 1 : dice_.chance(90) ? 2 + dice_.below(2) : 0);
    }
    return {op, {operand}};
  }
  Call split() {
    const ValueId operand = withAxis(1, false);
    ops::Split op;
    op.axis = anyAxis(shapeOf(operand).rank());
    int64_t rest = shapeOf(operand)[*normalAxis(op.axis, shapeOf(operand).rank())];
    for (int64_t more = dice_.below(3); more > 0; --more) {
      op.sizes.push_back(dice_.below(rest + 1));
      rest -= op.sizes.back();
    }
    op.sizes.push_back(rest);
    return {op, {operand}};
  }
  Call topK() {
    const ValueId operand = withAxis(1, true);
    ops::TopK op;
    op.axis = anyAxis(shapeOf(operand).rank());
    op.k = dice_.below(shapeOf(operand)[*normalAxis(op.axis, shapeOf(operand).rank())] + 1);
    op.largest = dice_.chance(60);
    return {op, {operand}};
  }
  Call cumSum() {
    const ValueId operand = withAxis(1, true);
    ops::CumSum op;
    op.axis = anyAxis(shapeOf(operand).rank());
    op.exclusive = dice_.chance(40);
    op.reverse = dice_.chance(40);
    return {op, {operand}};
  }
  template <class Op>
  Call norm(bool biased) {
    const ValueId operand = real(1);
    Op op;
    op.axis = anyAxis(shapeOf(operand).rank());
    const TensorType row{
        typeOf(operand).element,
        Shape(dimRange(shapeOf(operand)).drop_front(*normalAxis(op.axis, shapeOf(operand).rank())))};
    Call call{op, {operand, exactly(row)}};
    if (biased) {
      call.operands.push_back(exactly(row));
    }
    return call;
  }
  /// The same, its result in 16 bits now and then.
  template <class Op>
  Call roundedNorm(bool biased) {
    Call call = norm<Op>(biased);
    if (typeOf(call.operands[0]).element == ElementType::F32 && dice_.chance(30)) {
      call.attributes.template as<Op>().result = dice_.chance(50) ? NormResult::F16 : NormResult::Bf16;
    }
    return call;
  }
  template <class Op>
  Call normGradient() {
    Call call = norm<Op>(false);
    call.attributes.template as<Op>().toScale = dice_.chance(70);
    TensorType cotangent = typeOf(call.operands[0]);
    if (cotangent.element == ElementType::F32 && dice_.chance(30)) {
      cotangent.element = dice_.chance(50) ? ElementType::F16 : ElementType::BF16;
    }
    call.operands.push_back(exactly(cotangent));
    return call;
  }
  /// A start for each axis, a few out of range, of a shape that the rules take.
  ValueId starts(const Shape& whole, const Dims& axes) {
    const auto count = static_cast<int64_t>(axes.size());
    Literal value({dice_.chance(50) ? ElementType::I32 : ElementType::I64,
                   count == 1 && dice_.chance(70) ? Shape() : Shape{count}});
    for (int64_t i = 0; i < count; ++i) {
      const auto axis = static_cast<size_t>(axes[static_cast<size_t>(i)]);
      value.set(i, static_cast<double>(dice_.below(whole[axis] + 4) - 2));
    }
    return constant(std::move(value));
  }
  /// Some axes of a value, in any order.
  Dims someAxes(const Shape& shape) {
    Dims axes;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      if (dice_.chance(60)) {
        axes.insert(dice_.chance(50) ? axes.begin() : axes.end(), static_cast<int64_t>(axis));
      }
    }
    return axes.empty() ? Dims{0} : axes;
  }
  Call dynamicSlice() {
    const ValueId a = withAxis(1, false);
    ops::DynamicSlice op;
    op.axes = someAxes(shapeOf(a));
    for (const int64_t axis : op.axes) {
      op.sizes.push_back(dice_.below(shapeOf(a)[static_cast<size_t>(axis)] + 1));
    }
    return {op, {a, starts(shapeOf(a), op.axes)}};
  }
  Call dynamicUpdateSlice() {
    const ValueId a = withAxis(1, false);
    ops::DynamicUpdateSlice op;
    op.axes = someAxes(shapeOf(a));
    Dims dims(shapeOf(a).dims().begin(), shapeOf(a).dims().end());
    for (const int64_t axis : op.axes) {
      int64_t& dim = dims[static_cast<size_t>(axis)];
      dim = dice_.below(dim + 1);
    }
    const ValueId update = exactly({typeOf(a).element, Shape(dims)});
    return {op, {a, update, starts(shapeOf(a), op.axes)}};
  }
  Call randomUniform() {
    ops::RandomUniform op;
    op.type = {dice_.chance(70) ? ElementType::F32 : ElementType::F64, Shape{anyDim(), anyDim()}};
    op.seed = dice_.below(5);
    return {op, {exactly(i64({}))}};
  }
  Call dropout() {
    ops::Dropout op;
    op.rate = dice_.chance(20) ? 0 : dice_.unit();
    op.seed = dice_.below(5);
    return {op, {real(), exactly(i64({}))}};
  }
};

} // namespace dfc::test
