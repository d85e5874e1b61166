// maxPoolGradient: which element is the largest does not change in the small, so operand a has no gradient of
// its own. The cotangent's is the elements of what arrives that lie where the maxima lie. No op picks those,
// so the rule does, one place of the window at a time and the first place last, so that it has the last word:
// a slice of a and a slice of what arrives for each place. A window of many places would be as many ops; for
// more than `mostPlaces` the rule gives nothing, and `gradients` refuses.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/windows.h"

#include <fmt/format.h>

namespace dfc {
namespace {

constexpr int64_t mostPlaces = 256;

// A padded tensor seen at one place of every window.
class Places {
 public:
  Places(const ops::MaxPoolGradient& op, const Shape& image)
      : op_(op), image_(image), windows_(windowsOf(image, windowAttributes(op))) {}

  int64_t count() const { return windows_.size(); }
  bool padded() const { return !op_.low.empty() || !op_.high.empty(); }
  Tensor withPadding(Tensor image) const {
    return padded() ? pad(image, padding(op_.low), padding(op_.high)) : image;
  }
  /// Of a tensor that withPadding gave.
  Tensor at(Tensor tensor, int64_t place) const {
    const int64_t row = place / windows_.columns.size * windows_.rows.dilation;
    const int64_t column = place % windows_.columns.size * windows_.columns.dilation;
    const auto end = [](const WindowAxis& axis, int64_t start) {
      return start + (axis.count - 1) * axis.stride + 1;
    };
    return slice(tensor, {0, 0, row, column},
                 {image_[0], image_[1], end(windows_.rows, row), end(windows_.columns, column)},
                 {1, 1, windows_.rows.stride, windows_.columns.stride});
  }
  /// 1 where a place of the padded image is an element, 0 where it is padding.
  Tensor elements(Builder& builder, ElementType element) const {
    return withPadding(broadcast(builder.scalar(element, 1), {image_[0], image_[1], image_[2], image_[3]}));
  }

 private:
  static Dims padding(const Dims& written) {
    return written.empty() ? Dims(4, 0) : Dims{0, 0, written[0], written[1]};
  }

  const ops::MaxPoolGradient& op_;
  Shape image_;
  Windows windows_;
};

Tensor pickedAtMaxima(const ops::MaxPoolGradient& op, Builder& builder, Tensor a, Tensor from) {
  const Places places(op, a.shape());
  const Tensor largest = maxPool(a, op.window, {op.strides, op.low, op.high, op.dilations});
  const Tensor image = places.withPadding(a), arrived = places.withPadding(from);
  const Tensor elements = places.padded() ? places.elements(builder, a.type().element) : Tensor();
  Tensor picked = broadcast(builder.scalar(a.type().element, 0),
                            {largest.shape().dims().begin(), largest.shape().dims().end()});
  for (int64_t place = places.count(); place-- > 0;) {
    const Tensor here = places.at(image, place), value = places.at(arrived, place);
    Tensor next = select(compare(here, largest, Direction::Eq), value, picked);
    next = select(compare(here, here, Direction::Ne), value, next); // the first NaN is the largest
    picked =
        places.padded() ? select(compare(places.at(elements, place), 1, Direction::Eq), next, picked) : next;
  }
  return picked;
}

} // namespace

void gradientRule(const ops::MaxPoolGradient& op, GradientRule& rule) {
  rule.independentOf(0);
  const Tensor a = rule.operand(0);
  const Shape image = channelsFirst(op.layout, a.shape());
  if (!rule.wanted(1) || windowsOf(image, windowAttributes(op)).size() > mostPlaces) {
    return;
  }
  if (op.layout == ImageLayout::Nchw) {
    return rule.give(1, pickedAtMaxima(op, rule.builder(), a, rule.cotangent()));
  }
  const Dims first(toChannelsFirst.begin(), toChannelsFirst.end());
  const Tensor picked = pickedAtMaxima(withChannelsFirst(op), rule.builder(), transpose(a, first),
                                       transpose(rule.cotangent(), first));
  rule.give(1, transpose(picked, Dims(toChannelsLast.begin(), toChannelsLast.end())));
}

} // namespace dfc
