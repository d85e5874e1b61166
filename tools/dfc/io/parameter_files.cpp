// The part behind the last '#' names a tensor of an archive and is not of the path.
#include "tools/dfc/io/parameter_files.h"
#include "ir/graph/graph.h"
#include "ir/graph/ops/parameter.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

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
  std::map<std::string, std::vector<OpId>> readers; // of each file
  for (const auto& [op, path] : parameterFiles(graph, folder)) {
    readers[path].push_back(op);
  }
  for (const auto& [path, ops] : readers) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      const std::string others = ops.size() == 1
                                     ? "takes its first value"
                                     : fmt::format("and {} more take their first values", ops.size() - 1);
      warnings.push_back({Severity::Warning, graph.locationOf(ops.front()),
                          fmt::format("parameter '{}' {} from '{}', which does not exist",
                                      graph.nameOf(ops.front()), others, path),
                          "dfc run looks for it beside the graph, or in the folder of --data"});
    }
  }
  return warnings;
}

} // namespace dfc::tool
