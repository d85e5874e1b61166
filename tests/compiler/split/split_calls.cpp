#include "tests/compiler/split/split_calls.h"

#include "ir/graph/rules/index_rules.h"
#include "tests/compiler/split/larger_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace dfc::test {
namespace {

Literal indicesBelow(const TensorType& type, int64_t length, bool someOutside, Dice& dice) {
  Literal indices(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const bool outside = someOutside && dice.chance(10);
    indices.set(i, static_cast<double>(outside ? length + dice.below(3) : dice.below(length)));
    if (someOutside && !outside && dice.chance(25)) {
      indices.set(i, indices.at(i) - static_cast<double>(length));
    }
  }
  return indices;
}

bool isLabels(OpKind kind, size_t which) {
  return which == 1 && (kind == OpKind::SoftmaxCrossEntropy || kind == OpKind::SoftmaxCrossEntropyGradient);
}
bool isVariance(OpKind kind, size_t which) {
  return (kind == OpKind::BatchNorm && which == 4) || (kind == OpKind::BatchNormGradient && which == 3) ||
         (kind == OpKind::BatchNormGradientPass && which == 3);
}

Literal operandFor(const OpSample& sample, size_t which, SplitValues values, Dice& dice) {
  const OpKind kind = kindOf(sample.attributes);
  const TensorType& type = sample.operands[which];
  if (const auto length = indexedLength(sample.attributes, sample.operands, which)) {
    return indicesBelow(type, std::max<int64_t>(*length, 1), true, dice);
  }
  if (isLabels(kind, which)) {
    return indicesBelow(type, sample.operands[0].shape[1], false, dice);
  }
  Literal value = values == SplitValues::Whole || !isFloat(type.element) ? wholeNumbers(type, dice)
                                                                         : randomLiteral(type, dice);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    if (isVariance(kind, which)) {
      value.set(i, std::abs(value.at(i)) + 1);
    } else if (kind == OpKind::ReduceProduct && value.at(i) == 0) { // would hide all other factors
      value.set(i, 2);
    }
  }
  return value;
}

} // namespace

std::string SplitCall::text() const {
  std::vector<std::string> types;
  for (const TensorType& type : operandTypes) {
    types.push_back(toString(type));
  }
  return fmt::format("{} of {}", nameOf(kindOf(attributes)), fmt::join(types, ", "));
}

Literal wholeNumbers(const TensorType& type, Dice& dice) {
  Literal value(type);
  const int64_t low = type.element == ElementType::Bool || type.element == ElementType::U8 ? 0 : -3;
  const int64_t high = type.element == ElementType::Bool ? 1 : 3;
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    value.set(i, static_cast<double>(low + dice.below(high - low + 1)));
  }
  return value;
}

std::vector<OpSample> splitSamples(OpKind kind, ElementType element) {
  std::vector<OpSample> samples = largerSamples(kind, element);
  samples.push_back(sampleOf(kind, element));
  std::erase_if(samples,
                [](const OpSample& sample) { return !resultTypes(sample.attributes, sample.operands).ok(); });
  return samples;
}

SplitCall splitCall(const OpSample& sample, SplitValues values, Dice& dice) {
  SplitCall call{sample.attributes, {}, sample.operands, {}};
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    call.operands.push_back(operandFor(sample, i, values, dice));
  }
  const TypeResult results = resultTypes(sample.attributes, sample.operands);
  call.resultTypes.assign(results.types.begin(), results.types.end());
  return call;
}

} // namespace dfc::test
