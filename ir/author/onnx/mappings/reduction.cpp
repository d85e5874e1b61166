// ONNX's reductions, and what looks along axes: softmax, argMax, topK, running sums.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/graph/rules/op_rules.h"

#include <algorithm>
#include <limits>

namespace dfc::onnx {
namespace {

struct Axes {
  Dims axes;
  bool keep = true, none = false; ///< none: nothing is reduced
};

// The axes are an attribute up to opset 17 (12 for ReduceSum), an operand since.
Axes axesOf(const NodeCall& call) {
  Axes axes;
  axes.keep = call.integer("keepdims", 1) != 0;
  axes.axes = call.has(1) ? call.dims(1) : call.integers("axes");
  const bool noop = call.integer("noop_with_empty_axes", 0) != 0;
  axes.none = axes.axes.empty() && noop;
  return axes;
}

using Reduction = Tensor (*)(Operand, Dims, bool);

// The reduction of `before(a)`, then `after`.
template <Reduction reduction>
NodeResults reduced(NodeCall& call, Tensor a, Tensor (*after)(Tensor) = nullptr) {
  const Axes axes = axesOf(call);
  const Tensor result = axes.none ? a : reduction(a, axes.axes, axes.keep);
  return {after == nullptr ? result : after(result)};
}

template <Reduction reduction>
NodeResults plain(NodeCall& call) {
  return reduced<reduction>(call, call.operand(0));
}

bool reducesNothing(Tensor a, const Axes& axes) {
  const auto normal = normalAxes(axes.axes, a.shape().rank());
  return !axes.none && normal && std::any_of(normal->begin(), normal->end(), [&](int64_t axis) {
    return a.shape()[static_cast<size_t>(axis)] == 0;
  });
}

NodeResults average(NodeCall& call) {
  if (reducesNothing(call.operand(0), axesOf(call))) {
    call.refuse("no elements to take the mean of");
  }
  return plain<reduceMean>(call);
}

// What the largest (smallest) of no elements is: the smallest (largest) of the type.
template <class T>
Literal extreme(bool largest) {
  using Limits = std::numeric_limits<T>;
  const bool infinite = Limits::has_infinity;
  return Literal::scalar(largest ? (infinite ? -Limits::infinity() : Limits::lowest())
                                 : (infinite ? Limits::infinity() : Limits::max()));
}

Literal extremeOf(NodeCall& call, ElementType element, bool largest) {
  switch (element) {
  case ElementType::F32: return extreme<float>(largest);
  case ElementType::F64: return extreme<double>(largest);
  case ElementType::I32: return extreme<int32_t>(largest);
  case ElementType::I64: return extreme<int64_t>(largest);
  case ElementType::U8: return extreme<uint8_t>(largest);
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::Bool: break;
  }
  call.refuse("no elements of " + std::string(name(element)));
}

// Of bools as of the numbers 0 and 1.
template <Reduction reduction, bool largest>
NodeResults extremum(NodeCall& call) {
  const Tensor given = call.operand(0);
  const bool truth = given.type().element == ElementType::Bool;
  const Tensor a = truth ? cast(given, ElementType::U8) : given;
  const Axes axes = axesOf(call);
  if (reducesNothing(a, axes)) {
    const Shape shape = reducedShape(a.shape(), *normalAxes(axes.axes, a.shape().rank()), axes.keep);
    const Tensor none = call.constant(extremeOf(call, a.type().element, largest));
    const Tensor result = broadcast(none, Dims(shape.dims().begin(), shape.dims().end()));
    return {truth ? compare(result, 0, Direction::Ne) : result};
  }
  const Tensor result = reduced<reduction>(call, a)[0];
  return {truth ? compare(result, 0, Direction::Ne) : result};
}

NodeResults normOne(NodeCall& call) { return reduced<reduceSum>(call, abs(call.operand(0))); }
NodeResults normTwo(NodeCall& call) {
  const Tensor a = call.operand(0);
  return reduced<reduceSum>(call, a * a, [](Tensor sum) { return sqrt(sum); });
}
NodeResults sumSquare(NodeCall& call) {
  const Tensor a = call.operand(0);
  return reduced<reduceSum>(call, a * a);
}
NodeResults logSum(NodeCall& call) {
  return reduced<reduceSum>(call, call.operand(0), [](Tensor sum) { return log(sum); });
}
NodeResults logSumExp(NodeCall& call) {
  return reduced<reduceSum>(call, exp(call.operand(0)), [](Tensor sum) { return log(sum); });
}

// Elements of `axis` from the last to the first.
Tensor reversed(NodeCall& call, Tensor a, int64_t axis) {
  const int64_t length = a.shape()[call.normal(axis, a.shape().rank())];
  call.spend(length);
  std::vector<int64_t> order;
  for (int64_t i = length; i-- > 0;) {
    order.push_back(i);
  }
  return gather(a, call.whole(order), axis);
}

NodeResults argument(NodeCall& call, bool largest) {
  const int64_t axis = call.integer("axis", 0);
  const bool keep = call.integer("keepdims", 1) != 0;
  const Tensor given = call.operand(0);
  const Tensor a = largest ? given : isFloat(given.type().element) ? -given : ~given; // ~ has no overflow
  if (call.integer("select_last_index", 0) == 0) {
    return {argMax(a, axis, keep)};
  }
  const int64_t length = a.shape()[call.normal(axis, a.shape().rank())];
  return {static_cast<double>(length - 1) - argMax(reversed(call, a, axis), axis, keep)};
}
NodeResults argumentMax(NodeCall& call) { return argument(call, true); }
NodeResults argumentMin(NodeCall& call) { return argument(call, false); }

// Before opset 13 the axes from `axis` on count as one.
Tensor alongAxis(const NodeCall& call, Tensor a, Tensor (*function)(Operand, int64_t)) {
  if (call.opset() >= 13) {
    return function(a, call.integer("axis", -1));
  }
  const size_t axis = call.axis("axis", 1, a.shape().rank());
  const Dims dims(a.shape().dims().begin(), a.shape().dims().end());
  int64_t rows = 1;
  for (size_t i = 0; i < axis; ++i) {
    rows *= dims[i];
  }
  return reshape(function(reshape(a, {rows, -1}), 1), dims);
}

NodeResults softmaxOf(NodeCall& call) { return {alongAxis(call, call.operand(0), softmax)}; }
NodeResults logSoftmaxOf(NodeCall& call) { return {alongAxis(call, call.operand(0), logSoftmax)}; }

Tensor largestOnly(Operand a, int64_t axis) {
  const Tensor& tensor = *a.tensor();
  const auto rank = static_cast<int64_t>(tensor.shape().rank());
  const std::optional<size_t> normal = normalAxis(axis, tensor.shape().rank());
  if (!normal) {
    throw BadFile("an axis that the operand does not have");
  }
  const auto at = static_cast<int64_t>(*normal);
  return oneHot(argMax(tensor, axis), tensor.shape()[static_cast<size_t>(at)], at < rank ? at : -1,
                tensor.type().element);
}
NodeResults hardmax(NodeCall& call) { return {alongAxis(call, call.operand(0), largestOnly)}; }

NodeResults topOf(NodeCall& call) {
  call.ignore("sorted"); // without it any order will do
  const TopK top =
      topK(call.operand(0), call.wholeNumber(1), call.integer("axis", -1), call.integer("largest", 1) != 0);
  return {top.values, top.indices};
}

NodeResults running(NodeCall& call) {
  return {
      cumSum(call.operand(0), call.wholeNumber(1),
             {.exclusive = call.integer("exclusive", 0) != 0, .reverse = call.integer("reverse", 0) != 0})};
}

} // namespace

MappingTable reductionMappings() {
  return {{"ArgMax", argumentMax},
          {"ArgMin", argumentMin},
          {"CumSum", running},
          {"Hardmax", hardmax},
          {"LogSoftmax", logSoftmaxOf},
          {"ReduceL1", normOne},
          {"ReduceL2", normTwo},
          {"ReduceLogSum", logSum},
          {"ReduceLogSumExp", logSumExp},
          {"ReduceMax", extremum<reduceMax, true>},
          {"ReduceMean", average},
          {"ReduceMin", extremum<reduceMin, false>},
          {"ReduceProd", plain<reduceProduct>},
          {"ReduceSum", plain<reduceSum>},
          {"ReduceSumSquare", sumSquare},
          {"Softmax", softmaxOf},
          {"TopK", topOf}};
}

} // namespace dfc::onnx
