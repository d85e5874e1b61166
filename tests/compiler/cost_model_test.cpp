// The roofline's numbers, by hand.
#include "compiler/cost/cost_model.h"
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/machine/calibration.h"
#include "ir/machine/waves.h"
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

TEST_CASE("roofline: products of a short inner dimension run at a part of the peak rate") {
  Machine machine = oneGpu();
  DeviceRow& gpu = machine.devices[DeviceId(0)];
  gpu.tf32Flops = 8000;
  gpu.matmulHalfInner[static_cast<size_t>(ElementType::F32)] = 40;
  gpu.tf32HalfInner = 120;
  // 10 elements of f32 are 40 bytes: half the rate, and in tf32 40 / (40 + 120) of it.
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Ieee) == 3 + 4.0);
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Tf32) == 3 + 1.0);
  CHECK(secondsOf(machine, ElementType::F64, ops::Precision::Ieee) == 3 + 4.0); // as the peak has it
  gpu.tf32Flops = 0;                                                            // both figures as f32
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Tf32) == 3 + 4.0);
}

TEST_CASE("roofline: the longer the inner dimension, the higher the rate, and never above the peak") {
  DeviceRow gpu = oneGpu().devices[DeviceId(0)];
  CHECK(gpu.matmulRate(ElementType::F32, false, {.inner = 1}) == 1000); // without the figure
  gpu.matmulHalfInner.fill(512);
  CHECK(gpu.matmulRate(ElementType::F32, false, {}) == 1000);        // no product
  CHECK(gpu.matmulRate(ElementType::F16, false, {.inner = 1}) == 0); // still no limit
  double before = 0;
  for (double inner = 1; inner < 1e12; inner *= 2) {
    const double rate = gpu.matmulRate(ElementType::F32, false, {.inner = inner});
    CHECK(rate > before);
    CHECK(rate < 1000);
    before = rate;
  }
  CHECK(before == Approx(1000));
}

TEST_CASE("roofline: fused products, attention and batches count one inner dimension, other ops none") {
  Builder g("inner");
  const Tensor a = g.input("a", f32({5, 3, 16})), b = g.input("b", f32({5, 16, 7}));
  const Tensor q = g.input("q", f32({2, 6, 8})), y = matmul(a, b), z = attention(q, q, q), e = exp(y);
  for (const auto& [name, tensor] : {std::pair("y", y), std::pair("z", z), std::pair("e", e)}) {
    g.fetch(name, tensor);
  }
  const Graph graph = *std::move(g).finish();
  const auto productOf = [&](const Tensor& tensor) {
    const OpId op = graph[tensor.value()].producer;
    return costOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).product;
  };
  const ProductShape product = productOf(y);
  CHECK(std::tuple(product.rows, product.columns, product.inner, product.count) ==
        std::tuple(3.0, 7.0, 16.0, 5.0));
  CHECK(productOf(z).inner == 8);
  CHECK(productOf(e).inner == 0);
  CHECK((product.hasResult() && !productOf(z).hasResult() && !productOf(e).hasResult()));
}

TEST_CASE("roofline: a product costs at least the launch of a library's product") {
  Machine machine = oneGpu();
  DeviceRow& gpu = machine.devices[DeviceId(0)];
  gpu.matmulLaunchSeconds.fill(7);
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Unstated) == 7 + 2.0);
  CHECK(gpu.launchOf(ElementType::F32, false, {1, 1, 1, 1}) == 7);
  CHECK(gpu.launchOf(ElementType::F32, true, {1, 1, 1, 1}) == 7);
  CHECK(gpu.launchOf(ElementType::F32, false, {.inner = 8}) == 3); // attention
  CHECK(gpu.launchOf(ElementType::F32, false, {}) == 3);
  gpu.tf32LaunchSeconds = 9;
  CHECK(gpu.launchOf(ElementType::F32, true, {1, 1, 1, 1}) == 9);
  CHECK(gpu.launchOf(ElementType::F32, false, {1, 1, 1, 1}) == 7);
  CHECK(gpu.launchOf(ElementType::F64, true, {1, 1, 1, 1}) == 7); // f64 knows no tf32
  gpu.matmulLaunchSeconds[static_cast<size_t>(ElementType::BF16)] = 0;
  CHECK(gpu.launchOf(ElementType::BF16, false, {1, 1, 1, 1}) == 3);
  gpu.kind = DeviceKind::Cpu;
  CHECK(secondsOf(machine, ElementType::F32, ops::Precision::Unstated) == 7 + 2.0);
}

TEST_CASE("roofline: on a GPU, what a product reads behind its inner loop counts in addition") {
  Machine machine = oneGpu();
  DeviceRow& gpu = machine.devices[DeviceId(0)];
  gpu.memoryBandwidth = 100;
  const auto product = opOfSignature("matmul(f32[10, 10], f32[10, 10])");
  const auto sum = opOfSignature("fusedMatmul(f32[10, 10], f32[10, 10], f32[10, 10]) body=\"add:f32 %0 %1\"");
  REQUIRE((product && sum));
  const RooflineCostModel model;
  const auto seconds = [&](const auto& op) {
    return model.opSeconds(op->graph, op->op, machine, DeviceId(0));
  };
  CHECK(seconds(product) == 3 + 12.0); // 1,200 bytes at 100 a second
  CHECK(seconds(sum) == 3 + 16.0);     // 1,600 bytes
  gpu.peakFlops[static_cast<size_t>(ElementType::F32)] = 100;
  CHECK(seconds(product) == 3 + 20.0);   // 2,000 operations at 100 a second
  CHECK(seconds(sum) == 3 + 21.0 + 4.0); // 100 sums more, then 400 bytes of the addend
  gpu.kind = DeviceKind::Cpu;
  CHECK(seconds(sum) == 3 + 21.0);
}

TEST_CASE("roofline: generated kernels have neither the launch nor the tiles of a library") {
  Machine machine = oneGpu();
  DeviceRow& gpu = machine.devices[DeviceId(0)];
  gpu.multiprocessors = 4;
  gpu.matmulLaunchSeconds.fill(7);
  gpu.matmulHalfInner.fill(40);
  const auto op = opOfSignature("matmul(f32[10, 10], f32[10, 10])");
  const RooflineCostModel model;
  // One tile on four multiprocessors; 10 elements of f32 are 40 bytes, half the rate in either case.
  CHECK(model.opSeconds(op->graph, op->op, machine, DeviceId(0)) == 7 + 16.0);
  CHECK(model.generatedSeconds(op->graph, op->op, machine, DeviceId(0)) == 3 + 4.0);
}

TEST_CASE("roofline: on a CPU an op takes what one thread takes, until it is worth handing to others") {
  Machine machine = oneGpu();
  DeviceRow& cpu = machine.devices[DeviceId(0)];
  cpu.kind = DeviceKind::Cpu;
  cpu.threads = 10;
  cpu.launchSeconds = 0;
  cpu.memoryBandwidth = 100e9;
  const RooflineCostModel model;
  const auto seconds = [&](const std::string& signature, double flopsPerSecond) {
    cpu.peakFlops.fill(flopsPerSecond);
    const auto op = opOfSignature(signature);
    return model.opSeconds(op->graph, op->op, machine, DeviceId(0));
  };
  const std::string sums = "add(f32[2000], f32[2000])"; // 2,000 operations and 24,000 bytes
  CHECK(seconds(sums, 1e12) == Approx(24000 / 32e9));   // the bandwidth of one thread's cache
  CHECK(seconds(sums, 4e9) == Approx(2000 / 4e8));      // 5 us, a tenth of the rate
  CHECK(seconds(sums, 1e9) == Approx(10e-6));           // 20 us: two parts, the first of which takes 10
  CHECK(seconds(sums, 1e8) == Approx(2000 / 1e8));      // 20 us with all threads
  const std::string product = "matmul(f32[100, 100], f32[100, 100])"; // 2 million operations: one panel
  CHECK(seconds(product, 100e9) == Approx(2e6 / 10e9));
  CHECK(seconds("matmul(f32[1000, 100], f32[100, 100])", 100e9) == Approx(16e6 / 10e9)); // two
  cpu.matmulLaunchSeconds.fill(1);
  CHECK(seconds("matmul(f32[5, 10, 10], f32[10, 10])", 1e15) == Approx(1));
  CHECK(seconds("matmul(f32[5, 10, 10], f32[5, 10, 10])", 1e15) == Approx(5)); // calls of the library
  const auto op = opOfSignature(sums);
  cpu.peakFlops.fill(4e9);
  CHECK(model.utilisation(op->graph, op->op, machine, DeviceId(0)) == Approx(0.1)); // of ten threads
  cpu.threads = 1;
  CHECK(seconds(sums, 4e9) == Approx(2000 / 4e9));
}

TEST_CASE("waves: tiles of 32 x 32 that leave multiprocessors idle") {
  CHECK(busyPart({32, 32, 64, 1}, 4) == 0.25);
  CHECK(busyPart({33, 64, 64, 1}, 4) == 1);
  CHECK(busyPart({32, 32, 64, 5}, 4) == 5.0 / 8); // two waves
  CHECK(busyPart({32, 32, 511, 1}, 4) == 0.25);   // too short to be split
  CHECK(busyPart({32, 32, 512, 1}, 4) == 0.5);    // in two
  CHECK(busyPart({32, 32, 1e9, 1}, 4) == 1);      // in four
  CHECK(busyPart({32, 32, 1024, 2}, 4) == 1);     // in two of at most four
  CHECK(busyPart({32, 32, 64, 1}, 0) == 1);       // not stated
  CHECK(busyPart({.inner = 64}, 4) == 1);         // attention
  CHECK(busyPart({0, 64, 64, 1}, 4) == 1);
}

TEST_CASE("waves: a larger product takes no less time, and none exceeds the peak") {
  // In units of a tile's sum on one multiprocessor.
  const auto seconds = [](double tiles, double inner) {
    const double part = busyPart({32, 32, inner, tiles}, 132);
    CHECK((part > 0 && part <= 1));
    return tiles * inner / part;
  };
  for (const double inner : {64.0, 512.0, 768.0, 4096.0, 1e6}) {
    for (double tiles = 1; tiles < 600; ++tiles) {
      CHECK(seconds(tiles + 1, inner) >= seconds(tiles, inner) * (1 - 1e-12));
    }
  }
  for (double inner = 256; inner < 1e5; inner += 256) {
    CHECK(busyPart({32, 32, inner + 256, 7}, 132) >= busyPart({32, 32, inner, 7}, 132));
  }
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
