#include "tests/property/random_split.h"

#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/split_within.h"
#include "compiler/split/unfold_batch_norms.h"
#include "tests/support/catch.h"

#include <cmath>

namespace dfc::test {
namespace {

/// `size` GPUs, each so many behind the one before.
Mesh meshOf(const Machine& machine, size_t size, size_t stride, Dice& dice) {
  Mesh mesh;
  double sum = 0;
  for (size_t i = 0; i < size; ++i) {
    mesh.devices.push_back(machine.findDevice("gpu" + std::to_string(i * stride)));
    mesh.shares.push_back(static_cast<double>(1 + dice.below(3)));
    sum += mesh.shares.back();
  }
  for (double& share : mesh.shares) {
    share /= sum;
  }
  mesh.host = machine.host();
  return mesh;
}

Graph randomly(const SplitChoices& choices, const Graph& graph, const Machine& machine, Dice& dice) {
  const SplitPlan plan = choices.chooseBy([&](OpId, size_t) { return dice.unit(); });
  REQUIRE(std::isfinite(plan.seconds));
  return expandSplit(graph, plan, machine);
}

} // namespace

Graph randomSplit(const Graph& written, const Machine& machine, size_t size, Dice& dice) {
  const Graph graph = unfoldBatchNorms(written);
  const Mesh mesh = meshOf(machine, size, 1, dice);
  return randomly(SplitChoices(graph, mesh, machine, RooflineCostModel(), OptionSpace::All), graph, machine,
                  dice);
}

Graph randomGrid(const Graph& written, const Machine& machine, size_t groups, size_t width, Dice& dice) {
  const Graph graph = unfoldBatchNorms(written);
  const Mesh heads = meshOf(machine, groups, width, dice), mesh = meshOf(machine, width, 1, dice);
  const RooflineCostModel cost;
  const Graph over =
      randomly(SplitChoices(graph, heads, machine, cost, OptionSpace::All), graph, machine, dice);
  std::vector<std::vector<DeviceId>> rows;
  for (size_t group = 0; group < groups; ++group) {
    rows.emplace_back();
    for (size_t i = 0; i < width; ++i) {
      rows.back().push_back(machine.findDevice("gpu" + std::to_string(group * width + i)));
    }
  }
  return randomly(SplitChoices(over, mesh, rowsOf(over, rows, machine), machine, cost, OptionSpace::All),
                  over, machine, dice);
}

} // namespace dfc::test
