// Around an optimiser: gradients of several steps, averages of its results.
#include "ir/author/optimizer_parts.h"

#include <fmt/format.h>

namespace dfc {
namespace {

// Whether both lists can be paired; reports it where they cannot.
bool arePairs(Builder* builder, std::string_view what, size_t parameters, size_t values,
              std::source_location where) {
  if (builder != nullptr && parameters != values) {
    builder->report(where, fmt::format("{} of {} parameters with {} values", what, parameters, values),
                    "give one value for each parameter, in their order");
  }
  return builder != nullptr && parameters == values;
}

} // namespace

Accumulated accumulateGradients(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                                int64_t steps, std::source_location where) {
  Builder* builder = builderOf(parameters);
  if (!arePairs(builder, "accumulateGradients", parameters.size(), gradients.size(), where)) {
    return {gradients, {}};
  }
  if (steps < 1) {
    builder->report(where, fmt::format("gradients accumulated over {} steps", steps), "give 1 or more");
    return {gradients, {}};
  }
  const auto place = builder->at(builder->locate(where));
  const Tensor before = builder->derivedParameter("gradientSteps", i64({})); // since the last update
  const Tensor count = before + 1;
  Accumulated result{{}, compare(count, static_cast<double>(steps), Direction::Eq)};
  builder->assign(before, select(result.ready, 0, count));
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].valid() || !gradients[i].valid()) {
      result.gradients.push_back(gradients[i]);
      continue;
    }
    const ElementType element = gradients[i].type().element, wide = stateElement(element);
    const Tensor sum = stateBeside(parameters[i], "gradientSum", {wide, gradients[i].shape()});
    const Tensor next = sum + castTo(gradients[i], wide);
    builder->assign(sum, select(result.ready, 0, next));
    result.gradients.push_back(castTo(next / cast(count, wide), element));
  }
  return result;
}

std::vector<Tensor> movingAverages(const std::vector<Tensor>& parameters, const std::vector<Tensor>& next,
                                   double decay, std::source_location where) {
  Builder* builder = builderOf(parameters);
  if (!arePairs(builder, "movingAverages", parameters.size(), next.size(), where)) {
    return std::vector<Tensor>(parameters.size(), Tensor(builder, {}));
  }
  if (!(decay >= 0 && decay < 1)) {
    builder->report(where, fmt::format("moving averages with a decay of {}", decay), "give 0 <= decay < 1");
    return std::vector<Tensor>(parameters.size(), Tensor(builder, {}));
  }
  const auto place = builder->at(builder->locate(where));
  const Tensor steps = builder->derivedParameter("averagedSteps", i64({}));
  const Tensor now = builder->assign(steps, steps + 1);
  const Tensor kept = min(cast(steps, ElementType::F64) / cast(now, ElementType::F64), decay);
  std::vector<Tensor> averages;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].valid() || !next[i].valid()) {
      averages.emplace_back(builder, ValueId());
      continue;
    }
    const TensorType type{stateElement(next[i].type().element), next[i].shape()};
    const Tensor average = stateBeside(parameters[i], "average", type);
    const Tensor part = castTo(kept, type.element);
    averages.push_back(builder->assign(average, average * part + castTo(next[i], type.element) * (1 - part)));
  }
  return averages;
}

} // namespace dfc
