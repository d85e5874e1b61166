// layerNorm, rmsNorm, dropout and randomUniform by the formulas of the op headers, in double; dropout's
// factor is rounded as ir/graph/rules/dropout_mask.h says.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/graph/rules/dropout_mask.h"
#include "ir/graph/rules/op_rules.h"
#include "ir/graph/rules/uniform_number.h"

#include <cmath>

namespace dfc::evaluation {
namespace {

// Rows of the axes from `axis` on; each element less the row's mean (0 unless `centred`), over the root of
// the mean square of that, times scale, plus bias.
Literal normalised(Operands operands, int64_t axis, double epsilon, bool centred, const TensorType& type) {
  const Shape row(dimRange(type.shape).drop_front(*normalAxis(axis, type.shape.rank())));
  const int64_t length = row.elements();
  Literal result(type);
  for (int64_t first = 0; first < type.shape.elements(); first += length) {
    const auto at = [&](int64_t i) { return load(operands[0], first + i).real; };
    double mean = 0, square = 0;
    for (int64_t i = 0; i < length && centred; ++i) {
      mean += at(i) / static_cast<double>(length);
    }
    for (int64_t i = 0; i < length; ++i) {
      square += (at(i) - mean) * (at(i) - mean) / static_cast<double>(length);
    }
    const double root = std::sqrt(square + epsilon);
    for (int64_t i = 0; i < length; ++i) {
      const double bias = operands.size() > 2 ? load(operands[2], i).real : 0;
      store(result, first + i,
            rounded(type.element, (at(i) - mean) / root * load(operands[1], i).real + bias));
    }
  }
  return result;
}

} // namespace

Literal layerNorm(const ops::LayerNorm& op, Operands operands, const TensorType& type) {
  return normalised(operands, op.axis, op.epsilon, true, type);
}

Literal rmsNorm(const ops::RmsNorm& op, Operands operands, const TensorType& type) {
  return normalised(operands, op.axis, op.epsilon, false, type);
}

Literal dropout(const ops::Dropout& op, Operands operands) {
  const TensorType& type = operands[0].type();
  const DropoutMask mask(op.rate, type.element);
  const auto step = static_cast<uint64_t>(load(operands[1], 0).whole);
  Literal result(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const auto place = static_cast<uint64_t>(op.part.indexInWhole(type.shape, i));
    const PhiloxCounter words = dropoutWords(static_cast<uint64_t>(op.seed), step, place / 4);
    if (words[place % 4] >= mask.threshold) {
      store(result, i, rounded(type.element, load(operands[0], i).real * mask.factor));
    }
  }
  return result;
}

Literal randomUniform(const ops::RandomUniform& op, const Literal& stepValue) {
  const auto step = static_cast<uint64_t>(load(stepValue, 0).whole);
  Literal result(op.type);
  for (int64_t i = 0; i < op.type.shape.elements(); ++i) {
    const auto place = static_cast<uint64_t>(op.part.indexInWhole(op.type.shape, i));
    const uint32_t word = dropoutWords(static_cast<uint64_t>(op.seed), step, place / 4)[place % 4];
    const bool wide = op.type.element == ElementType::F64;
    store(result, i, rounded(op.type.element, wide ? uniformDouble(word) : uniformFloat(word)));
  }
  return result;
}

} // namespace dfc::evaluation
