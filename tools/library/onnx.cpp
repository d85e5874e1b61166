#include "tools/library/onnx.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/author/onnx/import.h"

namespace dfc {

Result<Graph> importOnnx(const std::string& path, const OnnxOptions& options) {
  onnx::ImportSettings settings;
  settings.dims = options.dims;
  settings.values = options.values;
  settings.weightFile = options.weightFile.empty() ? path : options.weightFile;
  settings.evaluate = evaluateOp;
  return onnx::importFile(path, settings);
}

} // namespace dfc
