// A graph of dfc as a model of ONNX. The entry for programs, which reads first values and writes the files,
// is exportOnnx.
#pragma once

#include "ir/author/onnx/export/model_writer.h"
#include "ir/graph/graph_class.h"

#include <llvm/ADT/STLFunctionalExtras.h>

namespace dfc::onnx {

struct ExportSettings {
  std::string dataFile;                      ///< how the model names its second file
  uint64_t mostInline = uint64_t{64} << 20;  ///< bytes of initialisers in the model itself
  llvm::function_ref<Literal(OpId)> valueOf; ///< the value of a parameter
};

/// The model. `graph` has no requests (gradients). Values that nothing fetches are left out. A parameter that
/// the graph assigns is an input whose default is its value, and its next value an output NAME.next, as ONNX
/// has no state. Error: one, of all ops that ONNX cannot say, each with its place.
Result<WrittenModel> exportModel(const Graph& graph, const ExportSettings& settings);

/// How the output of a parameter's next value is called.
std::string nextName(std::string_view parameter);

} // namespace dfc::onnx
