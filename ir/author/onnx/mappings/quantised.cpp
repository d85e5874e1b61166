// ONNX's quantised arithmetic as formulas over wider integers and floats: exact where ONNX's is.
#include "ir/author/onnx/quantised.h"
#include "ir/author/dsl.h"
#include "ir/author/onnx/mappings/windows.h"

#include <fmt/format.h>

namespace dfc::onnx {

Range rangeOf(NodeCall& call, int64_t element) {
  switch (element) {
  case element::u8: return {0, 255};
  case element::i8: return {-128, 127};
  case element::u16: return {0, 65535};
  case element::i16: return {-32768, 32767};
  case element::u4: return {0, 15};
  case element::i4: return {-8, 7};
  default: call.refuse("quantised elements of type " + elementName(element));
  }
}

Tensor quantised(NodeCall& call, Tensor real, int64_t element) {
  const Range range = rangeOf(call, element);
  return call.ofElement(cast(clip(round(real), range.least, range.most), elementOfOnnx(element)), element);
}

namespace {

// A number for all elements, for each index of an axis, or for each block of an axis, as it broadcasts to
// `a`.
Tensor along(NodeCall& call, Tensor a, Tensor parameter, int64_t axisGiven, int64_t block) {
  const size_t rank = a.shape().rank(), own = parameter.shape().rank();
  if (own == 0 || (own == 1 && parameter.shape()[0] == 1)) {
    return reshape(parameter, {});
  }
  const size_t axis = call.normal(axisGiven, rank);
  if (block == 0) {
    if (own != 1) {
      call.refuse(fmt::format("a scale of shape {}", toString(parameter.shape())));
    }
    Dims line(rank, 1);
    line[axis] = parameter.shape()[0];
    return reshape(parameter, line);
  }
  Dims dims = dimsOf(parameter), spread = dims;
  if (own != rank || block < 0) {
    call.refuse(fmt::format("blocks of {} and a scale of shape {}", block, toString(parameter.shape())));
  }
  dims.insert(dims.begin() + static_cast<int64_t>(axis) + 1, 1);
  spread.insert(spread.begin() + static_cast<int64_t>(axis) + 1, block);
  if (dims.size() > Shape::maxRank) {
    call.refuse(fmt::format("blocks of rank {}", rank));
  }
  Dims whole = dimsOf(parameter), starts(rank, 0);
  whole[axis] *= block;
  return slice(reshape(broadcast(reshape(parameter, dims), spread), whole), starts, dimsOf(a));
}

NodeResults quantise(NodeCall& call) {
  const Tensor a = call.operand(0);
  const int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  call.ignore("saturate"); // of 8-bit floats
  call.ignore("precision");
  const int64_t wanted = call.integer("output_dtype", 0);
  Tensor scaled = a / cast(along(call, a, call.operand(1), axis, block), a.type().element);
  int64_t element = wanted == 0 ? element::u8 : wanted;
  if (call.has(2)) {
    element = call.elementOf(call.operand(2));
    scaled = round(scaled) + cast(along(call, a, call.operand(2), axis, block), a.type().element);
  }
  return {quantised(call, scaled, element)};
}

NodeResults dequantise(NodeCall& call) {
  const Tensor a = call.operand(0), scale = call.operand(1);
  const int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  call.only("output_dtype", call.integer("output_dtype", 0)); // as the scale has it
  Tensor whole = a;
  if (call.has(2)) {
    whole = cast(a, ElementType::I32) - cast(along(call, a, call.operand(2), axis, block), ElementType::I32);
  }
  return {cast(whole, scale.type().element) * along(call, a, scale, axis, block)};
}

/// An operand less its zero point, in f64, whose products and sums of such numbers are exact.
Tensor centred(NodeCall& call, size_t index, size_t zero, bool rows) {
  const Tensor a = cast(call.operand(index), ElementType::F64);
  if (!call.has(zero)) {
    return a;
  }
  Tensor point = cast(call.operand(zero), ElementType::F64);
  if (rows && point.shape().rank() == 1 && point.shape()[0] > 1) {
    point = reshape(point, {point.shape()[0], 1});
  }
  return a - (point.shape().rank() == 1 && point.shape()[0] == 1 ? reshape(point, {}) : point);
}

NodeResults integerProduct(NodeCall& call) {
  return {cast(matmul(centred(call, 0, 2, true), centred(call, 1, 3, false)), ElementType::I32)};
}

NodeResults quantisedProduct(NodeCall& call) {
  const Tensor product = matmul(centred(call, 0, 2, true), centred(call, 3, 5, false));
  const auto real = [&](size_t index) { return cast(call.operand(index), ElementType::F64); };
  const Tensor scaled = product * (real(1) * real(4) / real(6));
  return {quantised(call, round(scaled) + real(7), call.elementOf(call.operand(7)))};
}

// A number, or one for each filter, as it broadcasts to what the filters make, or to the filters.
Tensor perFilter(NodeCall& call, size_t index, size_t rank, size_t axis) {
  const Tensor given = cast(call.operand(index), ElementType::F64);
  if (given.shape().elements() == 1) {
    return reshape(given, {});
  }
  Dims line(rank, 1);
  line[axis] = given.shape().elements();
  return reshape(given, line);
}

// The convolution of an image less its zero point by filters less theirs, in f64, where it is exact.
Tensor exactConvolution(NodeCall& call, size_t filterIndex, size_t zero, size_t filterZero) {
  const Tensor a = call.operandOfRank(0, 3), filter = call.operandOfRank(filterIndex, 3);
  const size_t rank = filter.shape().rank();
  const Dims size(filter.shape().dims().begin() + 2, filter.shape().dims().end());
  call.only("kernel_shape", size);
  const Windows w = windowsOf(call, size, pictureOf(a));
  Tensor image = cast(a, ElementType::F64), filters = cast(filter, ElementType::F64);
  image = call.has(zero) ? image - perFilter(call, zero, 0, 0) : image;
  filters = call.has(filterZero) ? filters - perFilter(call, filterZero, rank, 0) : filters;
  return as1d(convolved(call, as2d(image), as2d(filters), w, call.integer("group", 1)), w.flat);
}

NodeResults integerConvolution(NodeCall& call) {
  return {cast(exactConvolution(call, 1, 2, 3), ElementType::I32)};
}

NodeResults quantisedConvolution(NodeCall& call) {
  Tensor made = exactConvolution(call, 3, 2, 5);
  const size_t rank = made.shape().rank();
  made = call.has(8) ? made + perFilter(call, 8, rank, 1) : made;
  const auto real = [&](size_t index) { return perFilter(call, index, rank, 1); };
  const Tensor scaled = made * (real(1) * real(4) / real(6));
  return {quantised(call, round(scaled) + real(7), call.elementOf(call.operand(7)))};
}

// To u8, by the range of the operand, which is made to contain 0.
NodeResults dynamic(NodeCall& call) {
  const Tensor a = call.operand(0);
  const Tensor least = min(reduceMin(a), 0), most = max(reduceMax(a), 0);
  const Tensor scale = (most - least) / 255;
  const Tensor zero = clip(round(-least / scale), 0, 255);
  return {quantised(call, round(a / scale) + zero, element::u8), scale, cast(zero, ElementType::U8)};
}

} // namespace

MappingTable quantisedMappings() {
  return {{"ConvInteger", integerConvolution},   {"DequantizeLinear", dequantise},
          {"DynamicQuantizeLinear", dynamic},    {"MatMulInteger", integerProduct},
          {"QLinearConv", quantisedConvolution}, {"QLinearMatMul", quantisedProduct},
          {"QuantizeLinear", quantise}};
}

} // namespace dfc::onnx
