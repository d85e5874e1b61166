// See explain_parts.h.
#include "compiler/explain/explain_parts.h"
#include "ir/draw/folded_name.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>
#include <set>

namespace dfc {
namespace {

/// The first `depth` of the nested scopes.
std::string_view outerScopes(std::string_view scope, size_t depth) {
  size_t end = 0;
  for (size_t level = 0; level < depth && end != std::string_view::npos; ++level) {
    end = scope.find('/', level == 0 ? 0 : end + 1);
  }
  return scope.substr(0, end);
}

std::string_view combined(SplitKind kind) {
  switch (kind) {
  case SplitKind::Sum: return "summed";
  case SplitKind::Max: return "of which the largest counts";
  case SplitKind::Min: return "of which the smallest counts";
  case SplitKind::Product: return "multiplied";
  case SplitKind::Free:
  case SplitKind::Scan:
  case SplitKind::Window: return "";
  }
  DFC_UNREACHABLE("parts of another kind");
}

std::string partsText(const SplitFactor& factor) {
  const auto isCut = [](const SplitAxis& axis) { return axis.cut(); };
  const auto result = llvm::find_if(factor.results, isCut);
  if (result != factor.results.end()) {
    return fmt::format("parts along axis {} of the result", result->axis);
  }
  const auto operand = llvm::find_if(factor.operands, isCut);
  return operand == factor.operands.end()
             ? fmt::format("parts, {}", combined(factor.kind))
             : fmt::format("parts along axis {} of operand {}, {}", operand->axis,
                           operand - factor.operands.begin(), combined(factor.kind));
}

std::string howText(const Graph& graph, OpId op, const OpOption& option) {
  switch (option.form) {
  case OpOption::Form::OnOne: return "on one device each";
  case OpOption::Form::OnAll: return "whole on all devices";
  case OpOption::Form::Linear: return "on partial sums";
  case OpOption::Form::Parts: return partsText(ruleOf(graph, op).factors[option.factor]);
  }
  DFC_UNREACHABLE("an option of another form");
}

/// As above, and for a pipeline the stage of the op.
std::string howText(const SplitGraph& split, OpId op) {
  const SplitPlan& plan = split.plan;
  const std::string how = howText(split.whole, op, plan.option[op]);
  if (split.grid.stages == 1 || split.outer) {
    return how;
  }
  return fmt::format("in stage {}, {}", plan.rows.of[op] + 1, plan.mesh.size() == 1 ? "whole" : how);
}

struct Way {
  size_t ops = 0;
  double seconds = 0;
  std::map<std::string_view, double> byKind;
};

struct Scope {
  std::set<std::string> layers; ///< the scopes that are folded
  double seconds = 0;
  std::map<std::string, Way> ways;
};

ExplainedWay explained(const std::string& how, const Way& way, double ofScope) {
  const auto most = std::max_element(way.byKind.begin(), way.byKind.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return {how, way.ops, ofScope > 0 ? way.seconds / ofScope : 0, std::string(most->first)};
}

ExplainedScope explained(const std::string& name, const Scope& scope, double ofAll) {
  ExplainedScope row{name, scope.layers.size(), ofAll > 0 ? scope.seconds / ofAll : 0, {}};
  for (const auto& [how, way] : scope.ways) {
    row.ways.push_back(explained(how, way, scope.seconds));
  }
  llvm::stable_sort(row.ways, [](const auto& a, const auto& b) { return a.share > b.share; });
  return row;
}

} // namespace

std::vector<ExplainedScope> explainScopes(const SplitGraph& split, size_t depth) {
  const Graph& graph = split.whole;
  std::map<std::string, Scope> scopes;
  double all = 0;
  for (const OpId op : graph.ops()) {
    const double seconds = split.plan.opSeconds[op];
    const OpClass ofKind = classOf(graph[op].kind());
    if (seconds <= 0 || ofKind == OpClass::Source || ofKind == OpClass::State) {
      continue;
    }
    const std::string_view layer = outerScopes(graph.scopeOf(op), depth);
    Scope& scope = scopes[foldedName(layer)];
    Way& way = scope.ways[howText(split, op)];
    scope.layers.insert(std::string(layer));
    scope.seconds += seconds;
    way.seconds += seconds;
    way.byKind[nameOf(graph[op].kind())] += seconds;
    ++way.ops;
    all += seconds;
  }
  std::vector<ExplainedScope> rows;
  for (const auto& [name, scope] : scopes) {
    rows.push_back(explained(name, scope, all));
  }
  llvm::stable_sort(rows, [](const auto& a, const auto& b) { return a.share > b.share; });
  return rows;
}

} // namespace dfc
