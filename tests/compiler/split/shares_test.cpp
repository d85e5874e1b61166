// Shares of unlike devices, the meshes of several classes, and what a mesh takes at least.
#include "compiler/cost/cost_model.h"
#include "compiler/split/mesh.h"
#include "compiler/split/shares/mesh_floor.h"
#include "compiler/split/shares/shares.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"
#include "tests/support/tiny_plan.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::test {
namespace {

/// A slow CPU, and GPUs of 1, 1/2 and 1/4 of a rate.
Machine unlikeGpus() {
  Machine machine = smallMachine(3);
  double rate = 1e12;
  for (const char* name : {"gpu0", "gpu1", "gpu2", "cpu0"}) {
    DeviceRow& device = machine.devices[machine.findDevice(name)];
    device.peakFlops.fill(rate);
    device.memoryBandwidth = rate;
    rate /= 2;
  }
  return machine;
}

constexpr const char* product = R"(graph g {
    input x : f32[1024, 1024]
    parameter w : f32[1024, 1024] = zeros()
    fetch y = matmul(x, w)
  })";

} // namespace

TEST_CASE("shares: devices end at the same time, though each launches every op") {
  // T = (1 + 1/2 + 1/4) / (1/2 + 1/4) = 7/3; the shares are (T - 1) / 2 and (T - 1) / 4.
  const DeviceWork works[] = {{2, 1}, {4, 1}};
  const std::vector<double> shares = balancedShares(works);
  CHECK(shares[0] == Approx(2.0 / 3));
  CHECK(shares[1] == Approx(1.0 / 3));
  CHECK(shares[0] * 2 + 1 == Approx(shares[1] * 4 + 1));
}

TEST_CASE("shares: a device whose launches alone take too long still gets a part in proportion to its rate") {
  const DeviceWork works[] = {{1, 0}, {1, 9}};
  const std::vector<double> shares = balancedShares(works);
  CHECK(shares[0] == Approx(10.0 / 11));
  CHECK(shares[1] == Approx(1.0 / 11));
}

TEST_CASE("shares: those of alike devices are equal to the bit, so that no part is larger by rounding") {
  const DeviceWork works[] = {{0.3, 0.1}, {0.3, 0.1}, {0.3, 0.1}};
  CHECK(balancedShares(works) == std::vector<double>(3, 1.0 / 3));
}

TEST_CASE("meshes: the fastest classes without the slower ones are meshes, too") {
  const Graph graph = parsed(product);
  const Machine machine = unlikeGpus();
  std::vector<std::vector<std::string>> names;
  for (const Mesh& mesh : candidateMeshes(graph, machine, RooflineCostModel())) {
    std::vector<std::string>& row = names.emplace_back();
    llvm::transform(mesh.devices, std::back_inserter(row),
                    [&](DeviceId device) { return machine.devices[device].name; });
  }
  using Names = std::vector<std::vector<std::string>>;
  CHECK(names == Names{{"gpu0", "gpu1"}, {"gpu0", "gpu1", "gpu2"}, {"gpu0", "gpu1", "gpu2", "cpu0"}});
}

TEST_CASE("meshes: the floor of a mesh is its work at the sum of the rates") {
  const Graph graph = parsed(product);
  const Machine machine = unlikeGpus();
  const RooflineCostModel cost;
  const MeshFloor floor(graph, machine, cost);
  const DeviceId one = machine.findDevice("gpu0"), half = machine.findDevice("gpu1");
  const double alone = floor.seconds({one});
  CHECK(alone > 0);
  CHECK(floor.seconds({half}) == Approx(2 * alone));
  CHECK(floor.seconds({one, half}) == Approx(alone / 1.5));
}

} // namespace dfc::test
