// What is wrong with a model, as messages: missing ops are one with their nodes, the others one each.
#include "ir/author/onnx/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

/// "'conv1'", or "node 7" for one without a name.
std::string nodeText(const Problem& problem) {
  return problem.node.empty() ? fmt::format("node {}", problem.ordinal) : fmt::format("'{}'", problem.node);
}

Diagnostic diagnosticOf(const Problem& problem, const std::string& path) {
  const bool ours = problem.kind == Problem::Kind::Unsupported;
  std::string message = ours ? "dfc cannot express " + problem.what : problem.what;
  if (!problem.op.empty()) {
    message = fmt::format("{} {}: {}", problem.op, nodeText(problem), message);
  }
  return {Severity::Error, {path, problem.ordinal}, std::move(message), problem.hint};
}

constexpr size_t mostNodesShown = 5;
constexpr size_t mostProblemsShown = 100;

Diagnostic missingOps(const std::map<std::string, std::vector<std::string>>& missing,
                      const std::string& path) {
  std::string list;
  for (const auto& [op, nodes] : missing) {
    const size_t shown = std::min(nodes.size(), mostNodesShown);
    list += fmt::format("{} {} ({}{})", list.empty() ? "" : ",", op,
                        fmt::join(nodes.begin(), nodes.begin() + static_cast<int64_t>(shown), ", "),
                        shown < nodes.size() ? fmt::format(" and {} more", nodes.size() - shown) : "");
  }
  return {Severity::Error,
          {path},
          fmt::format("dfc lacks {} of the ops of this model:{}", missing.size(), list),
          "export it without them: another opset or exporter writes them as ops that dfc has"};
}

} // namespace

Diagnostics diagnosticsOf(const std::vector<Problem>& problems, const std::string& path) {
  Diagnostics all;
  std::map<std::string, std::vector<std::string>> missing;
  for (const Problem& problem : problems) {
    if (problem.kind == Problem::Kind::MissingOp) {
      missing[problem.op].push_back(nodeText(problem));
    }
  }
  if (!missing.empty()) {
    all.push_back(missingOps(missing, path));
  }
  for (const Problem& problem : problems) {
    if (problem.kind != Problem::Kind::MissingOp && all.size() < mostProblemsShown) {
      all.push_back(diagnosticOf(problem, path));
    }
  }
  return all;
}

} // namespace dfc::onnx
