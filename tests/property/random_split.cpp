#include "tests/property/random_split.h"

#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/unfold_batch_norms.h"
#include "tests/support/catch.h"

#include <cmath>

namespace dfc::test {
namespace {

Mesh meshOf(const Machine& machine, size_t size, Dice& dice) {
  Mesh mesh;
  double sum = 0;
  for (size_t i = 0; i < size; ++i) {
    mesh.devices.push_back(machine.findDevice("gpu" + std::to_string(i)));
    mesh.shares.push_back(static_cast<double>(1 + dice.below(3)));
    sum += mesh.shares.back();
  }
  for (double& share : mesh.shares) {
    share /= sum;
  }
  mesh.host = machine.host();
  return mesh;
}

} // namespace

Graph randomSplit(const Graph& written, const Machine& machine, size_t size, Dice& dice) {
  const Graph graph = unfoldBatchNorms(written);
  const Mesh mesh = meshOf(machine, size, dice);
  const SplitChoices choices(graph, mesh, machine, RooflineCostModel(), OptionSpace::All);
  const SplitPlan plan = choices.chooseBy([&](OpId, size_t) { return dice.unit(); });
  REQUIRE(std::isfinite(plan.seconds));
  return expandSplit(graph, plan, machine);
}

} // namespace dfc::test
