// The part behind the last '#' names a tensor of an archive and is not of the path.
#include "tools/dfc/io/parameter_files.h"
#include "ir/graph/graph.h"
#include "ir/graph/ops/parameter.h"

#include <fmt/format.h>

#include <filesystem>

namespace dfc::tool {

std::vector<ParameterFile> parameterFiles(const Graph& graph, const std::string& folder) {
  std::vector<ParameterFile> files;
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    const std::string& file = graph[op].getIf<ops::Parameter>()->file;
    if (!file.empty()) {
      const std::filesystem::path path = std::filesystem::path(folder) / file.substr(0, file.rfind('#'));
      files.push_back({op, path.lexically_normal().string()});
    }
  }
  return files;
}

Diagnostics missingParameterFiles(const Graph& graph, const std::string& folder) {
  Diagnostics warnings;
  for (const auto& [op, path] : parameterFiles(graph, folder)) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      warnings.push_back({Severity::Warning, graph.locationOf(op),
                          fmt::format("parameter '{}' takes its first value from '{}', which does not exist",
                                      graph.nameOf(op), path),
                          "dfc run looks for it beside the graph, or in the folder of --data"});
    }
  }
  return warnings;
}

} // namespace dfc::tool
