// ONNX's normalisations: over the batch, over axes, over neighbouring channels.
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::onnx {
namespace {

Dims innerAxes(Tensor a) {
  Dims axes;
  for (size_t i = 2; i < a.shape().rank(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

// In training the running numbers move towards those of the batch.
NodeResults batchNormalised(NodeCall& call) {
  const Tensor a = call.operand(0), scale = call.operand(1), bias = call.operand(2);
  const Tensor mean = call.operand(3), variance = call.operand(4);
  const double epsilon = call.real("epsilon", 1e-5), momentum = call.real("momentum", 0.9);
  if (call.integer("training_mode", 0) == 0) {
    return {batchNorm(a, scale, bias, mean, variance, 1, epsilon)};
  }
  const Normalised made = batchNormTraining(a, scale, bias, 1, epsilon);
  return {made.result, momentum * mean + (1 - momentum) * made.mean,
          momentum * variance + (1 - momentum) * made.variance};
}

NodeResults instanceNormalised(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 2);
  const Dims axes = innerAxes(a);
  Dims channel(a.shape().rank(), 1);
  channel[1] = a.shape()[1];
  const Tensor centred = a - reduceMean(a, axes, true);
  const Tensor variance = reduceMean(centred * centred, axes, true);
  return {reshape(call.operand(1), channel) * (centred * rsqrt(variance + call.real("epsilon", 1e-5))) +
          reshape(call.operand(2), channel)};
}

// Each group of channels by its own mean and variance; scale and bias are of the groups before opset 21, of
// the channels since.
NodeResults groupNormalised(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 3);
  const int64_t groups = call.positive("num_groups", 0), channels = a.shape()[1];
  call.only("stash_type", 1);
  if (channels % groups != 0) {
    call.refuse(fmt::format("{} groups of {} channels", groups, channels));
  }
  const auto ofChannels = [&](Tensor line) {
    return call.opset() >= 21
               ? line
               : reshape(broadcast(reshape(line, {groups, 1}), {groups, channels / groups}), {channels});
  };
  return {groupNorm(a, ofChannels(call.operand(1)), ofChannels(call.operand(2)), groups,
                    call.real("epsilon", 1e-5))};
}

NodeResults rmsNormalised(NodeCall& call) {
  const Tensor a = call.operand(0), scale = call.operand(1);
  const size_t axis = call.axis("axis", -1, a.shape().rank());
  call.only("stash_type", 1);
  const Dims whole(a.shape().dims().begin() + static_cast<int64_t>(axis), a.shape().dims().end());
  return {rmsNorm(a, broadcast(scale, whole), static_cast<int64_t>(axis), call.real("epsilon", 1e-5))};
}

NodeResults layerNormalised(NodeCall& call) {
  const Tensor a = call.operand(0);
  const int64_t axis = call.integer("axis", -1);
  const size_t first = call.normal(axis, a.shape().rank());
  const Dims whole(a.shape().dims().begin() + static_cast<int64_t>(first), a.shape().dims().end());
  const auto like = [&](Tensor part) { return dimsOf(part) == whole ? part : broadcast(part, whole); };
  const Tensor scale = like(call.operand(1));
  call.only("stash_type", 1); // the statistics in f32
  const double epsilon = call.real("epsilon", 1e-5);
  const Tensor bias = call.has(2) ? like(call.operand(2)) : broadcast(call.scalar(scale, 0), whole);
  NodeResults results{layerNorm(a, scale, bias, axis, epsilon)};
  Dims axes;
  for (size_t i = first; i < a.shape().rank(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  const Tensor mean = reduceMean(a, axes, true), centred = a - mean;
  results.push_back(mean);
  results.push_back(rsqrt(reduceMean(centred * centred, axes, true) + epsilon));
  return results;
}

NodeResults meanVarianceNormalised(NodeCall& call) {
  const Tensor a = call.operand(0);
  const Dims axes = call.integers("axes", {0, 2, 3});
  const Tensor centred = a - reduceMean(a, axes, true);
  return {centred / (sqrt(reduceMean(centred * centred, axes, true)) + 1e-9)};
}

// Each channel by the squares of its neighbours: an average pool along the channels.
NodeResults localResponse(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 2);
  const Dims d = dimsOf(a);
  const int64_t size = call.positive("size", 1);
  const Tensor squares = reshape(a * a, {d[0], 1, d[1], -1});
  const Window window{{}, {(size - 1) / 2, 0}, {size - 1 - (size - 1) / 2, 0}, {}};
  const Tensor mean = reshape(averagePool(squares, {size, 1}, window, true), d);
  return {a / pow(call.real("bias", 1) + call.real("alpha", 1e-4) * mean, call.real("beta", 0.75))};
}

} // namespace

MappingTable normalisationMappings() {
  return {{"BatchNormalization", batchNormalised},
          {"GroupNormalization", groupNormalised},
          {"InstanceNormalization", instanceNormalised},
          {"LRN", localResponse},
          {"LayerNormalization", layerNormalised},
          {"MeanVarianceNormalization", meanVarianceNormalised},
          {"RMSNormalization", rmsNormalised}};
}

} // namespace dfc::onnx
