// Measured seconds, their neighbours and the fallback, by hand.
#include "compiler/cost/calibrated_cost_model.h"

#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <limits>

namespace dfc {
namespace {

/// 1000 operations and a million bytes a second, launch 1 s: numbers that can be divided in the head.
Machine twoGpus() {
  Machine machine;
  DeviceRow gpu;
  gpu.kind = DeviceKind::Gpu;
  gpu.peakFlops.fill(1e3);
  gpu.memoryBandwidth = 1e6;
  gpu.launchSeconds = 1;
  gpu.name = "gpu0";
  gpu.model = "A";
  machine.devices.add(gpu);
  gpu.name = "gpu1";
  gpu.model = "B";
  machine.devices.add(gpu);
  return machine;
}

const RooflineCostModel roofline;
constexpr DeviceId a(0), b(1);

double secondsOf(const CostModel& model, const std::string& signature, DeviceId device = a) {
  const auto op = opOfSignature(signature);
  REQUIRE(op.has_value());
  return model.opSeconds(op->graph, op->op, twoGpus(), device);
}

std::string product(int64_t n) {
  const std::string type = toString(f32({n, n}));
  return "matmul(" + type + ", " + type + ")";
}

CalibratedCostModel modelOf(std::vector<CalibratedOp> rows) {
  Calibration table{"A", {}};
  table.keep(std::move(rows));
  return {{table}, roofline};
}

} // namespace

TEST_CASE("calibrated: a signature in the device's table takes its seconds") {
  const auto model = modelOf({{product(10), 7, ""}});
  CHECK(secondsOf(model, product(10)) == 7);
  CHECK(secondsOf(CalibratedCostModel({{"C", {}}}, roofline), product(10)) == 1 + 2.0); // no device of it
}

TEST_CASE("calibrated: operands in memory, measured or of the nearest neighbour") {
  const auto fromMemory = [](const CostModel& model, const std::string& signature) {
    const auto op = opOfSignature(signature);
    REQUIRE(op.has_value());
    return model.fromMemorySeconds(op->graph, op->op, twoGpus(), a);
  };
  const auto model = modelOf({{product(10), 6, "", 9}, {"exp(f32[4])", 2, ""}});
  CHECK(model.knowsMemory());
  CHECK(secondsOf(model, product(10)) == 6);
  CHECK(fromMemory(model, product(10)) == 9);
  // 1 + 3.456 s by the roofline, where 10 x 10 has 3 s.
  CHECK(fromMemory(model, product(12)) == Approx(9 * 4.456 / 3));
  CHECK(fromMemory(model, "exp(f32[4])") == 2); // not measured so
  CHECK_FALSE(modelOf({{product(10), 6, ""}}).knowsMemory());
}

TEST_CASE("calibrated: a device without a table looks no faster beside one that has a table") {
  // 2 x 10^3 operations at 1000 a second and a launch of 1 s: 3 s by the roofline on both devices.
  CHECK(secondsOf(modelOf({{product(10), 12, ""}}), product(10), b) == Approx(12));
  CHECK(secondsOf(modelOf({{product(10), 2, ""}}), product(10), b) == Approx(2));
  // The factor is that of the op: another family is what the roofline says on both.
  CHECK(secondsOf(modelOf({{product(10), 12, ""}}), "exp(f32[10])", b) ==
        secondsOf(modelOf({{product(10), 12, ""}}), "exp(f32[10])", a));
  const auto op = opOfSignature(product(10));
  CHECK(modelOf({{product(10), 12, ""}}).utilisation(op->graph, op->op, twoGpus(), b) == Approx(2.0 / 12));
}

TEST_CASE("calibrated: the utilisation of an op is the roofline's work over the seconds that count") {
  const auto op = opOfSignature(product(10)); // 2 s of work and 1 s of launch
  REQUIRE(op.has_value());
  const auto utilisationOf = [&](const CostModel& model) {
    return model.utilisation(op->graph, op->op, twoGpus(), a);
  };
  CHECK(utilisationOf(modelOf({{product(10), 8, ""}})) == 2.0 / 8);
  CHECK(utilisationOf(modelOf({{product(10), 1.5, ""}})) == 1); // quicker than its limits: they are not exact
  CHECK(utilisationOf(modelOf({})) == Approx(2.0 / 3));
}

TEST_CASE(
    "calibrated: the floor of products is the roofline's, times the least ratio of a measured product") {
  CHECK(roofline.leastOfPeak(twoGpus(), a) == 1);
  // 3 s by the roofline: a ratio of a half, for b, too, which has no table. An exp is no product.
  const auto quicker = modelOf({{product(10), 1.5, ""}, {product(11), 30, ""}, {"exp(f32[4])", 1e-3, ""}});
  CHECK(quicker.leastOfPeak(twoGpus(), a) == Approx(0.5));
  CHECK(quicker.leastOfPeak(twoGpus(), b) == Approx(0.5));
  CHECK(modelOf({{product(10), 30, ""}}).leastOfPeak(twoGpus(), a) == 1);
}

TEST_CASE("calibrated: later tables of one device win") {
  Calibration first{"A", {}}, second{"A", {}}, other{"B", {}};
  first.keep({{product(10), 7, ""}, {"exp(f32[4])", 2, ""}});
  second.keep({{product(10), 8, ""}});
  other.keep({{product(10), 9, ""}});
  const CalibratedCostModel model({first, second, other}, roofline);
  CHECK(secondsOf(model, product(10)) == 8);
  CHECK(secondsOf(model, "exp(f32[4])") == 2);
  CHECK(secondsOf(model, product(10), b) == 9);
}

TEST_CASE("calibrated: a neighbour's distance to the roofline is carried over") {
  const auto model = modelOf({{product(10), 6, ""}});
  // n = 10: roofline 1 + 2 x 10^3 / 10^3 = 3 s, measured 6 s, so twice. n = 12: 1 + 2 x 1728 / 10^3 = 4.456
  // s.
  CHECK(secondsOf(model, product(12)) == Approx(2 * 4.456));
  // n = 8: 1 + 2 x 512 / 10^3 = 2.024 s.
  CHECK(secondsOf(model, product(8)) == Approx(2 * 2.024));
  // Another kind, attribute, precision or element type is another family: the roofline.
  CHECK(secondsOf(model, product(10) + " transposeB=true") == 3);
  CHECK(secondsOf(model, product(10) + " precision=tf32") == 3);
  CHECK(secondsOf(model, "matmul(f64[10, 10], f64[10, 10])") == 3);
  CHECK(secondsOf(model, "matmul(f32[1, 10, 10], f32[10, 10])") == 3);
}

TEST_CASE("calibrated: generated kernels take the measured seconds, and elsewhere the fallback's") {
  Machine machine = twoGpus();
  machine.devices[a].matmulLaunchSeconds.fill(5);
  const auto model = modelOf({{product(10), 6, ""}});
  const auto secondsOf = [&](const std::string& signature) {
    const auto op = opOfSignature(signature);
    REQUIRE(op.has_value());
    return model.generatedSeconds(op->graph, op->op, machine, a);
  };
  CHECK(secondsOf(product(10)) == 6);
  CHECK(secondsOf(product(12)) == Approx(6.0 / 7 * (5 + 2 * 1.728))); // a neighbour
  CHECK(secondsOf(product(100)) == 1 + 2e3);
}

TEST_CASE("calibrated: of several neighbours the nearest in log space counts") {
  const auto model = modelOf({{product(10), 6, ""}, {product(14), 60, ""}});
  // Roofline of 14: 1 + 2 x 2744 / 10^3 = 6.488 s. 11 is 1.1 times 10 and 14 is 1.27 times 11: 10 is nearer.
  CHECK(secondsOf(model, product(11)) == Approx(6.0 / 3 * (1 + 2 * 1.331)));
  // 13 is 1.3 times 10, and 14 is 1.08 times 13: 14 is nearer.
  CHECK(secondsOf(model, product(13)) == Approx(60 / 6.488 * (1 + 2 * 2.197)));
}

TEST_CASE("calibrated: no more than four times in flops and bytes, either way") {
  const auto model = modelOf({{"exp(f32[1000])", 100, ""}});
  // exp: 8 operations an element at 10^3 a second, far above 8 bytes at 10^6. Measured: 100 of 1 + 8 s.
  CHECK(secondsOf(model, "exp(f32[4000])") == Approx(100.0 / 9 * (1 + 32)));
  CHECK(secondsOf(model, "exp(f32[4001])") == Approx(1 + 32.008));
  CHECK(secondsOf(model, "exp(f32[250])") == Approx(100.0 / 9 * (1 + 2)));
  CHECK(secondsOf(model, "exp(f32[249])") == Approx(1 + 1.992));
  CHECK(secondsOf(model, "exp(f32[0])") == 1);
  // Flops within four times, bytes not: 64^3 operations either way, and 3 x 64^2 elements against 2 x 4096 x
  // 8 + 64.
  const auto square = modelOf({{product(64), 1000, ""}});
  CHECK(secondsOf(square, "matmul(f32[8, 4096], f32[4096, 8])") == Approx(1 + 2 * 262.144));
}

TEST_CASE("calibrated: ops without flops have neighbours by their bytes") {
  const auto model = modelOf({{"transpose(f32[1000, 10])", 2, ""}});
  // 8 bytes an element at 10^6 a second: 1 + 0.08 s measured as 2 s; three times as many 1 + 0.24 s.
  CHECK(secondsOf(model, "transpose(f32[1000, 30])") == Approx(2 / 1.08 * 1.24));
}

TEST_CASE("calibrated: a fused body belongs to the family") {
  const std::string relu = " body=\"add:f32 %0 %1; relu:f32 %2\"",
                    tanh = " body=\"add:f32 %0 %1; tanh:f32 %2\"";
  const auto model = modelOf({{"fused(f32[100, 10], f32[10])" + relu, 5, ""}});
  // 2 operations an element: roofline 1 + 2 = 3 s for 1000 elements, 1 + 4 = 5 s for 2000.
  CHECK(secondsOf(model, "fused(f32[200, 10], f32[10])" + relu) == Approx(5.0 / 3 * 5));
  CHECK(secondsOf(model, "fused(f32[200, 10], f32[10])" + tanh) ==
        secondsOf(roofline, "fused(f32[200, 10], f32[10])" + tanh));
}

TEST_CASE("calibrated: what takes no time takes none, and where the fallback knows no time it stands") {
  Builder g("views");
  const Tensor x = g.input("x", f32({4}));
  const Tensor y = reshape(x, {2, 2});
  g.fetch("y", y);
  const Graph graph = *std::move(g).finish();
  const auto model = modelOf({{product(10), 6, ""}});
  CHECK(model.opSeconds(graph, graph[y.value()].producer, twoGpus(), a) == 0);

  class Elsewhere : public CostModel {
    double opSeconds(const Graph&, OpId, const Machine&, DeviceId) const override {
      return std::numeric_limits<double>::infinity();
    }
  } never;
  Calibration table{"A", {}};
  table.keep({{product(10), 6, ""}});
  const CalibratedCostModel impossible({table}, never);
  CHECK(secondsOf(impossible, product(12)) == std::numeric_limits<double>::infinity());
  CHECK(secondsOf(impossible, product(10)) == 6); // it has run there
}

TEST_CASE("calibrated: copies take measured seconds where all classes of links were measured") {
  Machine machine = twoGpus();
  machine.links.add({"wire", 1, 1000, 1});
  machine.routes = {{a, b, {LinkId(0)}}, {b, a, {LinkId(0)}}};
  const Route &there = machine.routes[0], &back = machine.routes[1];
  Calibration fromA{"A", {}}, fromB{"B", {}};
  fromA.keepCopies({{"B", 1000, 5}, {"B", 2000, 6}});
  fromB.keepCopies({{"A", 1000, 7}});
  CHECK(roofline.transferSeconds(machine, there, 1000) == 1 + 1.0);
  const CalibratedCostModel half({fromA}, roofline); // measured links look neither slower nor faster
  CHECK(half.transferSeconds(machine, there, 1000) == 2);
  CHECK(half.transferSeconds(machine, back, 1000) == 2);
  const CalibratedCostModel both({fromA, fromB}, roofline);
  CHECK(both.transferSeconds(machine, there, 3000) == 7);
  CHECK(both.transferSeconds(machine, back, 1000) == 7);
}

} // namespace dfc
