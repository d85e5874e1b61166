// Initialisers of a graph: weights become parameters that start from the model's file, so that they are read
// when a session opens and trained like any other; numbers that decide shapes, and small ones, become
// constants.
#include "ir/author/onnx/scope.h"

namespace dfc::onnx {
namespace {

constexpr int64_t mostElementsOfConstant = 16; // of floats
constexpr int64_t mostWholeElements = 65536;   // of integers and bools, which index, mask and shape
constexpr size_t longestName = 1000;

bool isParameter(const OnnxTensor& tensor, const TensorType& type) {
  const bool real = isFloat(type.element) || isWidened(tensor.element); // 8-bit weights count as floats
  return type.shape.elements() > (real ? mostElementsOfConstant : mostWholeElements) &&
         tensor.name.size() <= longestName && tensor.name.find('#') == std::string::npos;
}

Tensor made(ImportState& state, const OnnxTensor& tensor, const std::string& weightFile) {
  const TensorType type = typeOf(tensor);
  Tensor value;
  if (!weightFile.empty() && isParameter(tensor, type)) {
    value = state.builder.parameter(tensor.name, type, fromFile(weightFile + "#" + tensor.name));
    state.known.give(value, [&state, &tensor] { return literalOf(tensor, state.external); });
  } else {
    value = state.builder.constant(literalOf(tensor, state.external));
  }
  if (isWidened(tensor.element)) {
    state.widened[value.value()] = tensor.element;
  }
  return value;
}

} // namespace

void defineInitializers(OnnxScope& scope, const OnnxGraph& graph, const std::string& weightFile) {
  if (graph.sparse) {
    throw Unsupported("sparse initialisers");
  }
  for (const OnnxTensor& tensor : graph.initializers) {
    scope.defer(tensor.name,
                [&state = scope.state(), &tensor, weightFile] { return made(state, tensor, weightFile); });
  }
}

} // namespace dfc::onnx
