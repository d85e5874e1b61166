#include "ir/author/quantized.h"

#include "ir/author/dsl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

Result<int64_t> groupOf(const Literal& matrix, const Quantization& how) {
  const Shape& shape = matrix.type().shape;
  if (!isFloat(matrix.type().element) || shape.rank() != 2) {
    return errorWithoutPlace(fmt::format("{} cannot be quantised", toString(matrix.type())),
                             "give a matrix of floats, [out, in]");
  }
  if (how.bits != 8 && how.bits != 4) {
    return errorWithoutPlace(fmt::format("{} bits", how.bits), "weights have 8 bits or 4");
  }
  const int64_t group = how.group == 0 ? std::max<int64_t>(shape[1], 8 / how.bits) : how.group;
  if (group < 1 || shape[1] % group != 0 || group % (8 / how.bits) != 0) {
    return errorWithoutPlace(
        fmt::format("groups of {} in rows of {} elements of {} bits", group, shape[1], how.bits),
        how.bits == 4 ? "give an even length that divides the row" : "give a length that divides the row");
  }
  return group;
}

/// Writes the integers of one run, and gives its scale.
double quantizeRun(const Literal& matrix, int64_t first, int64_t count, int64_t bits, uint8_t* to) {
  double largest = 0;
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    const double value = matrix.at(first + i);
    finite = finite && std::isfinite(value);
    largest = std::max(largest, std::fabs(value));
  }
  const int64_t zero = int64_t{1} << (bits - 1);
  const double scale = finite ? largest / static_cast<double>(zero - 1) : std::nan("");
  for (int64_t i = 0; i < count; ++i) {
    const double steps = finite && scale > 0 ? std::nearbyint(matrix.at(first + i) / scale) : 0;
    const auto q = static_cast<uint8_t>(static_cast<int64_t>(steps) + zero);
    if (bits == 8) {
      to[i] = q;
    } else {
      to[i / 2] = static_cast<uint8_t>(i % 2 == 0 ? q : to[i / 2] | q << 4);
    }
  }
  return scale;
}

} // namespace

Result<QuantizedMatrix> quantize(const Literal& matrix, const Quantization& how) {
  const auto group = groupOf(matrix, how);
  if (!group) {
    return group.errors();
  }
  const Shape& shape = matrix.type().shape;
  const int64_t rows = shape[0], inner = shape[1], runs = inner / *group, perByte = 8 / how.bits;
  QuantizedMatrix made{Literal({ElementType::U8, {rows, inner / perByte}}),
                       Literal({matrix.type().element, {rows, runs}})};
  auto bytes = made.weights.mutableData<uint8_t>();
  for (int64_t run = 0; run < rows * runs; ++run) {
    const int64_t first = run * *group;
    made.scales.set(run, quantizeRun(matrix, first, *group, how.bits, bytes.data() + first / perByte));
  }
  return made;
}

Tensor dequantized(Operand weights, Operand scales, int64_t bits) {
  const Tensor *const q = weights.tensor(), *const scale = scales.tensor();
  if (q == nullptr || scale == nullptr || !q->valid() || !scale->valid()) {
    return q != nullptr ? Tensor(q->builder(), {}) : Tensor();
  }
  const int64_t rows = q->shape()[0], inner = q->shape()[1] * (8 / bits), runs = scale->shape()[1];
  const ElementType element = scale->type().element;
  Tensor whole = *q;
  if (bits == 4) {
    const Tensor high = *q / 16;
    const Tensor low = *q - high * 16;
    whole = concat({reshape(low, {rows, inner / 2, 1}), reshape(high, {rows, inner / 2, 1})}, 2);
  }
  const double zero = bits == 4 ? 8 : 128;
  const Tensor steps = reshape(cast(whole, element), {rows, runs, inner / std::max<int64_t>(runs, 1)}) - zero;
  return reshape(steps * reshape(*scale, {rows, runs, 1}), {rows, inner});
}

} // namespace dfc
