#include "ir/author/onnx/mappings/pictures.h"

namespace dfc::onnx {

Tensor withChannels(Tensor a) {
  Dims dims = dimsOf(a);
  dims.push_back(1);
  return reshape(a, dims);
}

Tensor Pictures::at(const std::vector<Tap>& taps, Tensor number) const {
  Tensor row = number, weight, inside;
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const Tap& tap = taps[axis];
    const auto last = static_cast<double>(length(axis) - 1);
    row = row * static_cast<double>(length(axis)) + cast(clip(tap.index, 0, last), ElementType::I64);
    if (tap.weight.valid()) {
      weight = weight.valid() ? weight * tap.weight : tap.weight;
    }
    if (tap.inside.valid()) {
      inside = inside.valid() ? inside & tap.inside : tap.inside;
    }
  }
  Tensor rows = gather(table_, row);
  rows = inside.valid() ? select(withChannels(inside), rows, 0) : rows;
  return weight.valid() ? rows * withChannels(cast(weight, rows.type().element)) : rows;
}

Tensor Pictures::sum(const std::vector<std::vector<Tap>>& taps, Tensor number) const {
  size_t count = 1;
  for (const std::vector<Tap>& along : taps) {
    count *= along.size();
  }
  Tensor total;
  for (size_t i = 0; i < count; ++i) {
    std::vector<Tap> chosen(taps.size());
    size_t rest = i;
    for (size_t axis = taps.size(); axis-- > 0; rest /= taps[axis].size()) {
      chosen[axis] = taps[axis][rest % taps[axis].size()];
    }
    const Tensor part = at(chosen, number);
    total = total.valid() ? total + part : part;
  }
  return total;
}

Tensor channelsFirst(Tensor rows) {
  const auto rank = static_cast<int64_t>(rows.shape().rank());
  Dims order{0, rank - 1};
  for (int64_t i = 1; i + 1 < rank; ++i) {
    order.push_back(i);
  }
  return transpose(rows, order);
}

Tensor lastAt(Tensor a, int64_t index) {
  Dims starts(a.shape().rank(), 0), ends = dimsOf(a), dims = ends;
  starts.back() = index;
  ends.back() = index + 1;
  dims.pop_back();
  return reshape(slice(a, starts, ends), dims);
}

} // namespace dfc::onnx
