#include "ir/author/loss_scaling.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <limits>

namespace dfc {
namespace {

Tensor widened(Tensor tensor) {
  const ElementType element = tensor.type().element;
  return byteWidth(element) < byteWidth(ElementType::F32) ? cast(tensor, ElementType::F32) : tensor;
}

/// bool[]: not for infinities, and not for what is no number.
Tensor isFinite(Tensor scalar) {
  const bool wide = scalar.type().element == ElementType::F64;
  const double largest =
      wide ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max());
  return compare(scalar, largest, Direction::Le);
}

bool areInRange(const LossScalingOptions& options) {
  using Float = std::numeric_limits<float>; // the scale's type; below min() the factor would be infinite
  return options.growth > 1 && options.backoff > 0 && options.backoff < 1 && options.interval >= 1 &&
         options.least >= Float::min() && options.initial >= options.least &&
         options.most >= options.initial && options.most <= Float::max();
}

} // namespace

LossScaling::LossScaling(Builder& g, const LossScalingOptions& options, std::source_location where)
    : g_(&g), options_(options) {
  if (!areInRange(options)) {
    g.report(
        where,
        fmt::format("loss scaling from {} by {} and {}, every {} steps, from {} up to {}", options.initial,
                    options.growth, options.backoff, options.interval, options.least, options.most),
        "give `least`, the initial scale and `most` in this order, of which f32 holds 1/least and `most`, a "
        "growth above 1, a backoff between 0 and 1, and an interval of 1 or more");
    options_ = {};
  }
  const auto place = g.at(g.locate(where));
  scale_ = g.derivedParameter(ops::lossScaleName, f32({}), constantInit(options_.initial));
  factor_ = 1 / scale_;
}

Tensor LossScaling::scaled(Tensor loss) const {
  return widened(loss) * (loss.type().element == ElementType::F64 ? cast(scale_, ElementType::F64) : scale_);
}

std::vector<Tensor> LossScaling::unscaled(const std::vector<Tensor>& gradients, std::source_location where) {
  if (finite_.valid()) {
    g_->report(where, "a second call of LossScaling::unscaled in one step",
               "give it all gradients of the step at once");
    return gradients;
  }
  const auto place = g_->at(g_->locate(where));
  std::vector<Tensor> results;
  for (const Tensor& gradient : gradients) {
    results.push_back(gradient.valid() ? unscaledOne(gradient) : gradient);
    if (gradient.valid()) {
      watch(gradient, results.back().type().element);
    }
  }
  assignNext(where);
  return results;
}

Tensor LossScaling::unscaledOne(Tensor gradient) const {
  const Tensor wide = widened(gradient);
  return wide * (wide.type().element == ElementType::F64 ? cast(factor_, ElementType::F64) : factor_);
}

void LossScaling::watch(Tensor gradient, ElementType handedOn) {
  if (gradient.shape().elements() != 0) {
    const Tensor largest = unscaledOne(reduceMax(abs(widened(gradient))));
    unasked_.push_back(
        isFinite(largest.type().element == handedOn ? largest : widened(cast(largest, handedOn))));
  }
}

Tensor LossScaling::finite() {
  for (const Tensor& own : unasked_) {
    finite_ = finite_.valid() ? finite_ & own : own;
  }
  unasked_.clear();
  return finite_;
}

void LossScaling::assignNext(std::source_location where) {
  const auto place = g_->at(g_->locate(where));
  if (!finite().valid()) {
    return;
  }
  const Tensor steps = g_->derivedParameter(ops::finiteStepsName, f32({}), constantInit(0));
  const Tensor counted = select(finite_, steps + 1, 0);
  const Tensor grows = compare(counted, static_cast<double>(options_.interval), Direction::Ge);
  const Tensor grown = min(scale_ * options_.growth, options_.most);
  g_->assign(steps, select(grows, 0, counted), where);
  const Tensor shrunk = max(scale_ * options_.backoff, options_.least);
  g_->assign(scale_, select(finite_, select(grows, grown, scale_), shrunk), where);
}

} // namespace dfc
