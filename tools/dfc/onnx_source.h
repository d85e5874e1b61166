// ONNX models among the graph files that verbs take.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/graph/graph_class.h"

#include <string>
#include <vector>

namespace dfc::tool {

/// By its ending, ".onnx".
bool isOnnxFile(const std::string& path);

/// Its graph. `dims`: "NAME=LENGTH" each. Parameters name the model's file without its folder, as a graph
/// file beside it would.
Result<Graph> readOnnx(const std::string& path, const std::vector<std::string>& dims);

} // namespace dfc::tool
