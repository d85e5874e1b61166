#include "ir/author/gradients/normalisation/channel_math.h"

#include "ir/author/dsl.h"

namespace dfc {

ChannelMath::ChannelMath(const Shape& shape, int64_t axis) : channels_(shape, axis) {
  const size_t along = *normalAxis(axis, shape.rank());
  across_.assign(shape.rank() - along, 1);
  across_[0] = channels_.channels;
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (d != along) {
      others_.push_back(static_cast<int64_t>(d));
    }
  }
}

Tensor ChannelMath::across(Tensor vector) const {
  return across_.size() == 1 ? vector : reshape(vector, across_);
}

Tensor ChannelMath::sum(Tensor tensor) const { return others_.empty() ? tensor : reduceSum(tensor, others_); }

} // namespace dfc
