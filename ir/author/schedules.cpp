// All in f32, from the share of the steps that has passed.
#include "ir/author/schedules.h"

#include <fmt/format.h>

#include <numbers>

namespace dfc {
namespace {

// Whether a schedule over `step` can be written; reports it where it cannot.
bool isSchedule(Tensor step, std::string_view what, int64_t steps, std::source_location where) {
  if (step.builder() == nullptr || !step.valid()) {
    return false;
  }
  if (step.shape().rank() > 0 || steps < 1) {
    step.builder()->report(where, fmt::format("{} over {} steps of {}", what, steps, toString(step.type())),
                           "give a scalar, such as g.step(), and 1 step or more");
    return false;
  }
  return true;
}

// step / steps as it is.
Tensor share(Tensor step, int64_t steps) { return cast(step, ElementType::F32) / static_cast<double>(steps); }

} // namespace

Tensor warmUp(Tensor step, int64_t steps, std::source_location where) {
  if (!isSchedule(step, "warmUp", steps, where)) {
    return {step.builder(), {}};
  }
  const auto place = step.builder()->at(step.builder()->locate(where));
  return min(share(step + 1, steps), 1);
}

Tensor linearDecay(Tensor step, int64_t steps, double end, std::source_location where) {
  if (!isSchedule(step, "linearDecay", steps, where)) {
    return {step.builder(), {}};
  }
  const auto place = step.builder()->at(step.builder()->locate(where));
  return 1 - clip(share(step, steps), 0, 1) * (1 - end);
}

Tensor cosineDecay(Tensor step, int64_t steps, double end, std::source_location where) {
  if (!isSchedule(step, "cosineDecay", steps, where)) {
    return {step.builder(), {}};
  }
  const auto place = step.builder()->at(step.builder()->locate(where));
  const Tensor wave = cos(clip(share(step, steps), 0, 1) * std::numbers::pi);
  return (wave + 1) * ((1 - end) / 2) + end;
}

Tensor stepDecay(Tensor step, int64_t steps, double factor, std::source_location where) {
  if (!isSchedule(step, "stepDecay", steps, where)) {
    return {step.builder(), {}};
  }
  if (!(factor > 0)) {
    step.builder()->report(where, fmt::format("stepDecay by a factor of {}", factor),
                           "give a factor above 0");
    return {step.builder(), {}};
  }
  const auto place = step.builder()->at(step.builder()->locate(where));
  const Tensor whole = step / static_cast<double>(steps); // truncated where it is an integer
  return pow(step.builder()->scalar(ElementType::F32, factor), max(floor(cast(whole, ElementType::F32)), 0));
}

} // namespace dfc
