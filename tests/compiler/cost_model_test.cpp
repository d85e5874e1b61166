// The roofline's numbers, by hand.
#include "compiler/cost/cost_model.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

namespace dfc {
namespace {

Machine oneGpu() {
  Machine machine;
  DeviceRow gpu;
  gpu.name = "gpu0";
  gpu.kind = DeviceKind::Gpu;
  gpu.peakFlops[static_cast<size_t>(ElementType::F32)] = 1000;
  gpu.peakFlops[static_cast<size_t>(ElementType::F64)] = 500;
  gpu.memoryBandwidth = 1e6;
  gpu.launchSeconds = 3;
  machine.devices.add(gpu);
  return machine;
}

double secondsOf(const Machine& machine, ElementType element, ops::Precision precision) {
  Builder g("product");
  const Tensor x = g.input("x", {element, {10, 10}});
  const Tensor y = matmul(x, x, {}, precision);
  g.fetch("y", y);
  const Graph graph = *std::move(g).finish();
  return RooflineCostModel().opSeconds(graph, graph[y.value()].producer, machine, DeviceId(0));
}

} // namespace

TEST_CASE("roofline: a matmul runs at the rate of its type and precision") {
  Machine machine = oneGpu();
  // 2 * 10^3 operations at 1000 a second, beside a launch of 3 s.
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Unstated) == 3 + 2.0);
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Tf32) == 3 + 2.0); // no rate of its own
  machine.devices[DeviceId(0)].tf32Flops = 8000;
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Tf32) == 3 + 0.25);
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Ieee) == 3 + 2.0);
  CHECK(secondsOf(machine, ElementType::F64, ops::Precision::Tf32) == 3 + 4.0); // f64 knows no tf32
}

TEST_CASE("roofline: the utilisation of an op is the part of its time that is work") {
  Builder g("utilisation");
  const Tensor x = g.input("x", f32({10, 10}));
  const Tensor y = matmul(x, x), same = reshape(x, {100});
  g.fetch("y", y);
  g.fetch("same", same);
  const Graph graph = *std::move(g).finish();
  const RooflineCostModel model;
  // 2 s of work beside 3 s of launch; a view does nothing.
  CHECK(model.utilisation(graph, graph[y.value()].producer, oneGpu(), DeviceId(0)) == 2.0 / 5);
  CHECK(model.utilisation(graph, graph[same.value()].producer, oneGpu(), DeviceId(0)) == 0);
}

} // namespace dfc
