// ONNX's pools.
#include "ir/author/onnx/mappings/windows.h"

#include <algorithm>

namespace dfc::onnx {
namespace {

Tensor largestInDepth(const NodeCall& call, Tensor a, const Windows& w) {
  const Depth depth(call, a, w, leastOf(a.type().element));
  Tensor most;
  for (int64_t k = 0; k < depth.places(); ++k) {
    const Tensor part = maxPool(depth.at(k), {w.size[1], w.size[2]}, depth.rest());
    most = most.valid() ? max(most, part) : part;
  }
  return depth.whole(most);
}

NodeResults largestOf(NodeCall& call) {
  call.ignore("storage_order"); // of the places alone
  const Tensor a = call.operandOfRank(0, 3);
  const Windows w = windowsOf(call, call.integers("kernel_shape"), pictureOf(a));
  NodeResults results{w.size.size() == 3 ? largestInDepth(call, a, w)
                                         : as1d(maxPool(as2d(a), w.size, windowOf(w)), w.flat)};
  if (call.wants(1)) {
    results.push_back(as1d(placesOfLargest(call, as2d(a), w), w.flat));
  }
  return results;
}

// The sum of each window of pictures of one channel.
Tensor sumPool(NodeCall& call, Tensor a, const Windows& w) {
  Dims filter{1, 1};
  filter.insert(filter.end(), w.size.begin(), w.size.end());
  return convolved(call, a, broadcast(call.scalar(a, 1), filter), w, 1);
}

// The sums of the windows by the number of elements that each counts: those of the picture, or those of the
// picture with the padding that the node asks for. Says what averagePool cannot: dilations, three axes, and
// windows that reach behind the padding.
Tensor averageByCount(NodeCall& call, Tensor a, const Windows& w, bool countPadding) {
  const Dims d = dimsOf(a);
  Windows over = w;
  Dims counted = d, alone = d;
  counted[0] = counted[1] = alone[1] = 1;
  alone[0] = d[0] * d[1];
  for (size_t i = 0; countPadding && i < w.size.size(); ++i) {
    counted[2 + i] += w.low[i] + std::min(w.counted[i], w.high[i]);
    over.low[i] = 0;
    over.high[i] = w.high[i] - std::min(w.counted[i], w.high[i]);
  }
  const Tensor sum = sumPool(call, reshape(a, alone), w);
  const Tensor mean = sum / sumPool(call, broadcast(call.scalar(a, 1), counted), over);
  Dims made = dimsOf(mean);
  made[0] = d[0];
  made[1] = d[1];
  return reshape(mean, made);
}

NodeResults averageOf(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 3);
  const Windows w = windowsOf(call, call.integers("kernel_shape"), pictureOf(a));
  const bool countPadding = call.integer("count_include_pad", 0) != 0;
  const bool plain =
      w.size.size() == 2 && w.dilations == Dims{1, 1} && (!countPadding || w.high == w.counted);
  return {as1d(plain ? averagePool(as2d(a), w.size, windowOf(w), countPadding)
                     : averageByCount(call, as2d(a), w, countPadding),
               w.flat)};
}

Dims innerAxes(Tensor a) {
  Dims axes;
  for (size_t i = 2; i < a.shape().rank(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

NodeResults wholeAverage(NodeCall& call) {
  return {reduceMean(call.operand(0), innerAxes(call.operand(0)), true)};
}
NodeResults wholeMax(NodeCall& call) {
  return {reduceMax(call.operand(0), innerAxes(call.operand(0)), true)};
}

} // namespace

MappingTable poolMappings() {
  return {{"AveragePool", averageOf},
          {"GlobalAveragePool", wholeAverage},
          {"GlobalMaxPool", wholeMax},
          {"MaxPool", largestOf}};
}

} // namespace dfc::onnx
