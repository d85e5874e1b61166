// ONNX's two losses over class indices, with weights and an index to leave out; classes stand on axis 1.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

namespace dfc::onnx {
namespace {

// Of log-probabilities: minus the one of the class, weighed and reduced as the node says.
NodeResults likelihood(NodeCall& call, Tensor logs, size_t weightOperand) {
  if (logs.shape().rank() < 2) {
    call.refuse("scores of rank below 2");
  }
  const Tensor classes = cast(call.operand(1), ElementType::I64);
  if (classes.shape().rank() + 1 != logs.shape().rank()) {
    call.refuse(fmt::format("classes of shape {} for scores of shape {}", toString(classes.shape()),
                            toString(logs.shape())));
  }
  const ElementType element = logs.type().element;
  Tensor picked = oneHot(classes, logs.shape()[1], 1, element);
  if (call.hasAttribute("ignore_index")) {
    const Tensor left = compare(classes, static_cast<double>(call.integer("ignore_index", 0)), Direction::Eq);
    Dims dims(left.shape().dims().begin(), left.shape().dims().end());
    dims.insert(dims.begin() + 1, 1);
    picked = select(reshape(left, dims), 0, picked);
  }
  if (call.has(weightOperand)) {
    Dims dims(logs.shape().rank(), 1);
    dims[1] = logs.shape()[1];
    picked = picked * reshape(call.operand(weightOperand), dims);
  }
  const Tensor losses = -reduceSum(select(compare(picked, 0, Direction::Ne), picked * logs, 0), {1});
  const std::string reduction = call.choice("reduction", {"mean", "sum", "none"});
  if (reduction == "none") {
    return {losses};
  }
  const Tensor sum = reduceSum(losses);
  return {reduction == "sum" ? sum : sum / reduceSum(picked)};
}

NodeResults negativeLogLikelihood(NodeCall& call) { return likelihood(call, call.operand(0), 2); }

NodeResults crossEntropy(NodeCall& call) {
  const Tensor logs = logSoftmax(call.operand(0), 1);
  NodeResults results = likelihood(call, logs, 2);
  results.push_back(logs);
  return results;
}

} // namespace

MappingTable lossMappings() {
  return {{"NegativeLogLikelihoodLoss", negativeLogLikelihood}, {"SoftmaxCrossEntropyLoss", crossEntropy}};
}

} // namespace dfc::onnx
