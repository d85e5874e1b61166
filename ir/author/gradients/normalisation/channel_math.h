// Channel arithmetic for the gradient rules of the batch normalisations.
#pragma once

#include "ir/author/builder.h"
#include "ir/graph/rules/batch_norm_rules.h"

namespace dfc {

/// The work of gradient rules on tensors [.., C, ..] and vectors [C]. Appends ops with the builder's present
/// scope, pin and place.
class ChannelMath {
 public:
  ChannelMath(const Shape& shape, int64_t axis);
  /// A vector as a tensor that broadcasts to the shape.
  Tensor across(Tensor vector) const;
  /// The sum of each channel: a vector.
  Tensor sum(Tensor tensor) const;
  double elements() const { return static_cast<double>(channels_.elements()); }

 private:
  Channels channels_;
  Dims across_, others_;
};

} // namespace dfc
