// Pictures that are sampled at places which are computed: a table of rows, one for each point with all
// channels. What a place takes is a weighted sum of a few gathered rows.
#pragma once

#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

namespace dfc::onnx {

/// What one point along one axis gives: its index as a float, and its weight; `inside` where points outside
/// the picture count as 0.
struct Tap {
  Tensor index, weight, inside;
};

/// Pictures [N, C, lengths…] and places, one tensor an axis, of equal shapes.
class Pictures {
 public:
  explicit Pictures(Tensor a) : dims_(dimsOf(a)) {
    Dims order{0};
    for (size_t i = 2; i < dims_.size(); ++i) {
      order.push_back(static_cast<int64_t>(i));
    }
    order.push_back(1);
    table_ = reshape(transpose(a, order), {-1, dims_[1]});
  }
  int64_t length(size_t axis) const { return dims_[2 + axis]; }
  size_t axes() const { return dims_.size() - 2; }
  // The rows [places…, C] of these taps, one an axis, of the picture `number` (i64, broadcasts).
  Tensor at(const std::vector<Tap>& taps, Tensor number) const;
  // The sum over all combinations of taps: taps[axis] has the points along it.
  Tensor sum(const std::vector<std::vector<Tap>>& taps, Tensor number) const;

 private:
  Dims dims_;
  Tensor table_;
};

Tensor withChannels(Tensor a);          ///< with an axis of length 1 behind
Tensor channelsFirst(Tensor rows);      ///< [N, places…, C] as [N, C, places…]
Tensor lastAt(Tensor a, int64_t index); ///< element `index` of the last axis

} // namespace dfc::onnx
