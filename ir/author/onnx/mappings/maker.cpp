// ONNX's ops that make elements: constants, ranges, windows, what a shape says.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dfc::onnx {
namespace {

NodeResults shapeOf(NodeCall& call) {
  const auto dims = call.operand(0).shape().dims();
  const auto rank = static_cast<int64_t>(dims.size());
  const auto bounded = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t begin = bounded(call.integer("start", 0)), end = bounded(call.integer("end", rank));
  return {call.whole(begin < end ? std::vector<int64_t>(dims.begin() + begin, dims.begin() + end)
                                 : std::vector<int64_t>())};
}

NodeResults sizeOf(NodeCall& call) {
  return {call.constant(Literal::scalar(call.operand(0).shape().elements()))};
}

NodeResults constantNode(NodeCall& call) {
  const auto scalarOr = [&](const char* one, const char* many, auto zero) -> std::optional<Tensor> {
    using T = decltype(zero);
    if (call.hasAttribute(one)) {
      const OnnxAttribute& attribute = call.attribute(one);
      return call.constant(Literal::scalar(static_cast<T>(
          attribute.integer ? static_cast<double>(*attribute.integer) : attribute.real.value())));
    }
    if (!call.hasAttribute(many)) {
      return std::nullopt;
    }
    std::vector<T> values;
    for (const int64_t value : call.attribute(many).integers) {
      values.push_back(static_cast<T>(value));
    }
    for (const double value : call.attribute(many).reals) {
      values.push_back(static_cast<T>(value));
    }
    return call.constant(Literal(Shape{static_cast<int64_t>(values.size())}, std::span<const T>(values)));
  };
  if (const auto whole = scalarOr("value_int", "value_ints", int64_t(0))) {
    return {*whole};
  }
  if (const auto real = scalarOr("value_float", "value_floats", 0.0F)) {
    return {*real};
  }
  if (!call.hasAttribute("value")) {
    throw Unsupported("a constant that is text or sparse");
  }
  const OnnxAttribute& value = call.attribute("value");
  if (!value.tensor) {
    throw Unsupported(value.refused);
  }
  return {call.ofElement(call.constant(*value.tensor), value.tensorElement)};
}

NodeResults filled(NodeCall& call) {
  const Dims dims = call.dims(0);
  if (dims.size() > Shape::maxRank || !Shape::valid(dims)) {
    throw BadFile(fmt::format("no tensor has the shape [{}]", fmt::join(dims, ", ")));
  }
  const TensorType type{call.hasAttribute("value") && call.attribute("value").tensor
                            ? call.attribute("value").tensor->type().element
                            : ElementType::F32,
                        Shape(std::span<const int64_t>(dims))};
  if (call.hasAttribute("value") && !call.attribute("value").tensor) {
    throw Unsupported(call.attribute("value").refused);
  }
  const double value = call.hasAttribute("value") ? call.attribute("value").tensor->at(0) : 0;
  return {broadcast(call.builder().scalar(type.element, value),
                    Dims(type.shape.dims().begin(), type.shape.dims().end()))};
}

NodeResults counted(NodeCall& call) {
  const Tensor start = call.operand(0);
  const double first = call.number(0), limit = call.number(1), delta = call.number(2);
  const double turns = std::ceil((limit - first) / delta);
  if (!(turns < 1e15)) {
    call.refuse(fmt::format("a range from {} to {} by {}", first, limit, delta));
  }
  const auto count = static_cast<int64_t>(std::max(0.0, turns));
  const Tensor steps = iota(call.builder(), {start.type().element, {count}});
  return {start + steps * call.operand(2)};
}

// constant - first * cos(2 pi i / n) + second * cos(4 pi i / n) for i = 0, 1, …
NodeResults window(NodeCall& call, double constant, double first, double second) {
  if (!(call.number(0) >= 0 && call.number(0) < 1e15)) {
    call.refuse(fmt::format("a window of {} elements", call.number(0)));
  }
  const auto size = static_cast<int64_t>(call.number(0));
  const auto whole = static_cast<double>(call.integer("periodic", 1) != 0 ? size : size - 1);
  const Tensor angle = (2 * std::numbers::pi / whole) * iota(call.builder(), f64({size}));
  return {cast(constant - first * cos(angle) + second * cos(2 * angle),
               elementOfOnnx(call.integer("output_datatype", 1)))};
}
NodeResults hann(NodeCall& call) { return window(call, 0.5, 0.5, 0); }
NodeResults hamming(NodeCall& call) { return window(call, 25.0 / 46, 21.0 / 46, 0); }
NodeResults blackman(NodeCall& call) { return window(call, 0.42, 0.5, 0.08); }

NodeResults eye(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 2);
  const Dims dims = dimsOf(a);
  const ElementType element =
      call.hasAttribute("dtype") ? elementOfOnnx(call.integer("dtype", 1)) : a.type().element;
  const Tensor rows = iota(call.builder(), i64({dims[0], 1})), columns = iota(call.builder(), i64({dims[1]}));
  const Tensor shift = call.builder().scalar(ElementType::I64, static_cast<double>(call.integer("k", 0)));
  return {cast(compare(columns - rows, shift, Direction::Eq), element)};
}

} // namespace

MappingTable makerMappings() {
  return {{"BlackmanWindow", blackman},
          {"Constant", constantNode},
          {"ConstantOfShape", filled},
          {"EyeLike", eye},
          {"HammingWindow", hamming},
          {"HannWindow", hann},
          {"Range", counted},
          {"Shape", shapeOf},
          {"Size", sizeOf}};
}

} // namespace dfc::onnx
