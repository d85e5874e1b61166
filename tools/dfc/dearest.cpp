#include "tools/dfc/dearest.h"

#include "ir/author/text/units.h"
#include "ir/draw/folded_name.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace dfc::tool {
namespace {

constexpr size_t shown = 10;
constexpr size_t widestName = 48;

struct Sum {
  DearRow row;
  std::set<std::string> names; ///< that were folded into one
};

using Sums = std::map<std::string, Sum>;

void add(Sums& sums, const std::string& key, const std::string& name, double seconds, double predicted) {
  Sum& sum = sums[key];
  sum.names.insert(name);
  ++sum.row.count;
  sum.row.seconds += seconds;
  sum.row.predictedSeconds += predicted;
}

std::vector<DearRow> dearest(Sums sums, double total) {
  std::vector<DearRow> rows;
  for (auto& [key, sum] : sums) {
    const bool folded = sum.names.size() > 1;
    sum.row.name = folded ? fmt::format("{} × {}", key, sum.names.size()) : *sum.names.begin();
    sum.row.share = total > 0 ? sum.row.seconds / total : 0;
    rows.push_back(std::move(sum.row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DearRow& a, const DearRow& b) { return a.seconds > b.seconds; });
  rows.resize(std::min(rows.size(), shown));
  return rows;
}

/// The scope of an op, as equal layers share it: "h.*" of "h.11".
std::pair<std::string, std::string> scopeKey(const PlacedGraph& placed, OpId op) {
  if (placed.transfers.count(op) != 0) {
    return {"copies between devices", "copies between devices"};
  }
  const std::string scope(placed.graph.scopeOf(op));
  return scope.empty() ? std::pair<std::string, std::string>("outside of scopes", "outside of scopes")
                       : std::pair(foldedName(scope), scope);
}

/// `name` in at most `width` letters; cut between characters.
std::string cut(const std::string& name, size_t width) {
  if (name.size() <= width) {
    return name;
  }
  size_t end = width - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return name.substr(0, end) + "…";
}

std::string table(std::string_view title, const std::vector<DearRow>& rows) {
  std::string text = fmt::format("\n{:<{}} {:>10} {:>7} {:>7} {:>10} {:>9}\n", title, widestName, "measured",
                                 "share", "count", "predicted", "measured/");
  text +=
      fmt::format("{:<{}} {:>10} {:>7} {:>7} {:>10} {:>9}\n", "", widestName, "", "", "", "", "predicted");
  for (const DearRow& row : rows) {
    const std::string ratio =
        row.predictedSeconds > 0 ? fmt::format("{:.2f}", row.seconds / row.predictedSeconds) : "-";
    text += fmt::format("{:<{}} {:>10} {:>5.1f} % {:>7} {:>10} {:>9}\n", cut(row.name, widestName),
                        widestName, humanSeconds(row.seconds), 100 * row.share, row.count,
                        row.predictedSeconds > 0 ? humanSeconds(row.predictedSeconds) : "-", ratio);
  }
  return text;
}

} // namespace

Dearest dearestOf(const TraceComparison& comparison) {
  const Schedule& schedule = comparison.plan.schedule();
  const PlacedGraph& placed = comparison.plan.placed();
  const Graph& graph = placed.graph;
  Sums ops, kinds, scopes;
  double total = 0;
  for (const StepId step : schedule.steps.ids()) {
    const OpId op = schedule.steps[step].op;
    const double seconds = comparison.measured.at[step].seconds();
    const double predicted = comparison.predicted.at[step].seconds();
    const std::string name(graph.nameOf(op)), kind(nameOf(graph[op].kind()));
    const auto [scope, own] = scopeKey(placed, op);
    add(ops, name, name, seconds, predicted);
    add(kinds, kind, kind, seconds, predicted);
    add(scopes, scope, own, seconds, predicted);
    total += seconds;
  }
  return {dearest(std::move(ops), total), dearest(std::move(kinds), total),
          dearest(std::move(scopes), total)};
}

std::string dearestText(const TraceComparison& comparison) {
  const Dearest found = dearestOf(comparison);
  return table("dearest ops", found.ops) + table("dearest op kinds", found.kinds) +
         table("dearest scopes", found.scopes);
}

} // namespace dfc::tool
