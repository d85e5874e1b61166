// ONNX's normalisations: over the batch, over axes, over neighbouring channels.
#include "ir/author/dsl.h"
#include "ir/graph/rules/op_rules.h"
#include "tests/onnx/node_call.h"

namespace dfc::test {
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
  const Tensor a = call.operand(0);
  const Dims axes = innerAxes(a);
  Dims channel(a.shape().rank(), 1);
  channel[1] = a.shape()[1];
  const Tensor centred = a - reduceMean(a, axes, true);
  const Tensor variance = reduceMean(centred * centred, axes, true);
  return {reshape(call.operand(1), channel) * (centred * rsqrt(variance + call.real("epsilon", 1e-5))) +
          reshape(call.operand(2), channel)};
}

NodeResults layerNormalised(NodeCall& call) {
  const Tensor a = call.operand(0), scale = call.operand(1);
  const int64_t axis = call.integer("axis", -1);
  call.only("stash_type", 1); // the statistics in f32
  const double epsilon = call.real("epsilon", 1e-5);
  const Tensor bias = call.has(2) ? call.operand(2) : 0 * scale;
  NodeResults results{layerNorm(a, scale, bias, axis, epsilon)};
  Dims axes;
  for (size_t i = *normalAxis(axis, a.shape().rank()); i < a.shape().rank(); ++i) {
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
  const Tensor a = call.operand(0);
  const Dims d = dimsOf(a);
  const int64_t size = call.integer("size", 1);
  const Tensor squares = reshape(a * a, {d[0], 1, d[1], -1});
  const Window window{{}, {(size - 1) / 2, 0}, {size - 1 - (size - 1) / 2, 0}, {}};
  const Tensor mean = reshape(averagePool(squares, {size, 1}, window, true), d);
  return {a / pow(call.real("bias", 1) + call.real("alpha", 1e-4) * mean, call.real("beta", 0.75))};
}

} // namespace

MappingTable normalisationMappings() {
  return {{"BatchNormalization", batchNormalised},
          {"InstanceNormalization", instanceNormalised},
          {"LRN", localResponse},
          {"LayerNormalization", layerNormalised},
          {"MeanVarianceNormalization", meanVarianceNormalised}};
}

} // namespace dfc::test
