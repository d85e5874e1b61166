#include "compiler/split/bound/bound_splits.h"

#include "compiler/split/bound/bound_problem.h"
#include "compiler/split/choice/eliminate.h"
#include "compiler/split/split.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc {
namespace {

/// Of computation; the rest is of links. At 1 the least of each op is known without a choice.
constexpr double computeWeights[] = {0.98, 0.9, 0.75, 0.5, 0.25, 0.1};

/// The least sum is exact up to tables of so many entries.
constexpr size_t mostEntries = size_t{1} << 18;

/// Products of parts are added up in another order.
constexpr double rounding = 1 - 1e-9;

double secondsAlone(const Graph& graph, const Mesh& mesh, const Machine& machine, const CostModel& cost) {
  const UsedValues used(graph);
  const OpFloor floor(graph, mesh, machine, cost);
  double sum = 0;
  for (const OpId op : graph.ops()) {
    sum += used.isNeeded(op) ? floor.wholeSeconds(op) : 0;
  }
  return rounding * sum;
}

} // namespace

double leastSplitSeconds(const Graph& graph, const Mesh& mesh, const Machine& machine, const CostModel& cost,
                         double enough) {
  const BoundProblem bound(graph, mesh, machine, cost);
  double best = bound.leastCompute(), before = best;
  if (!bound.hasLinks() || best >= enough) {
    return rounding * best;
  }
  for (const double compute : computeWeights) {
    const double seconds = leastBound(bound.at({compute, 1 - compute}), mostEntries);
    best = std::max(best, seconds);
    if (seconds < before || std::isinf(seconds)) { // all but concave in the weight: it only falls from here
      break;
    }
    before = seconds;
  }
  return rounding * best;
}

std::optional<double> leastSplitSeconds(const Graph& written, const Machine& machine, const CostModel& cost) {
  const Graph graph = takeCuts(unfoldBatchNorms(written)).graph;
  if (!maySplit(graph) || machine.devices.size() < 2) {
    return std::nullopt;
  }
  std::vector<Mesh> meshes = candidateMeshes(graph, machine, cost);
  llvm::erase_if(meshes, [](const Mesh& mesh) { return !mesh.alike; });
  // The largest first: computation alone then excludes most of the others.
  llvm::stable_sort(meshes, [](const Mesh& a, const Mesh& b) { return a.size() > b.size(); });
  double least = std::numeric_limits<double>::infinity();
  for (const Mesh& mesh : meshes) {
    Mesh alone = mesh;
    alone.devices.resize(1);
    alone.shares = {1};
    least = std::min(least, secondsAlone(graph, alone, machine, cost));
    least = std::min(least, leastSplitSeconds(graph, mesh, machine, cost, least));
  }
  return meshes.empty() || least == 0 ? std::nullopt : std::optional(least);
}

} // namespace dfc
