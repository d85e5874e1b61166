// The files that hold first values of parameters, as a graph names them.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/graph/graph_class.h"

#include <string>
#include <vector>

namespace dfc::tool {

struct ParameterFile {
  OpId op;
  std::string path; ///< within the folder, and without the name of the tensor in it
};

/// By parameter. A path that is not absolute is within `folder`.
std::vector<ParameterFile> parameterFiles(const Graph& graph, const std::string& folder);

/// A warning for each file that is not there, at its first parameter: a plan may be run elsewhere than it is
/// compiled.
Diagnostics missingParameterFiles(const Graph& graph, const std::string& folder);

} // namespace dfc::tool
