// What micro-batches of a pipeline keep, and what they add to.
#include "compiler/grids.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/place/place.h"
#include "compiler/quotient/stage_memory.h"
#include "compiler/rematerialise/rematerialise.h"
#include "compiler/split/pipeline/micro_batches.h"
#include "ir/verify/verify.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"
#include "tests/support/random_values.h"

namespace dfc::test {
namespace {

constexpr int64_t rows = 64, width = 16;
/// Of an activation of one of two micro-batches.
constexpr double activation = rows / 2 * width * sizeof(float);

struct Pipeline {
  Machine machine = slowLinks(smallMachine(2));
  std::vector<DeviceId> devices = {machine.findDevice("gpu0"), machine.findDevice("gpu1")};
  Placement placement;
  InFlight inFlight{SideTable<DeviceId, uint32_t>(machine.devices.size(), InFlight::noStage),
                    SideTable<DeviceId, uint32_t>(machine.devices.size(), 1)};

  /// Two stages of the first one's number of micro-batches in flight, of which two are in the graph.
  explicit Pipeline(uint32_t count) {
    const RooflineCostModel cost;
    const Graph graph = rewritten(parsed(deepNet(rows, width)), machine);
    const auto split = splitOverGrid(graph, gridRows(devices, {2, 1, 1}), machine, cost, {2});
    REQUIRE(split);
    auto placed = place(split->graph, machine, cost, "pins");
    REQUIRE(placed.ok());
    placement = *std::move(placed);
    for (uint32_t stage = 0; stage < 2; ++stage) {
      inFlight.stage[devices[stage]] = stage;
    }
    inFlight.count[devices[0]] = count;
  }
};

double likelyOf(const Pipeline& pipeline) {
  return stageMemory(pipeline.placement, pipeline.inFlight, pipeline.devices, pipeline.machine).all[0];
}

} // namespace

TEST_CASE("micro-batches in flight: a stage keeps what its backward pass reads") {
  const Pipeline one(1), four(4);
  const SideTable<DeviceId, double> kept = keptBytes(one.placement, one.inFlight);
  // Of the first stage's four layers: the inputs of the four products, for the gradients of weights, and the
  // operands of the four GELUs. The last stage's backward pass comes at once.
  CHECK(kept[one.devices[0]] == 8 * activation);
  CHECK(kept[one.devices[1]] == 0);
  // Three more micro-batches in flight.
  CHECK(likelyOf(four) == likelyOf(one) + 3 * 8 * activation);
}

TEST_CASE("rematerialise: what micro-batches in flight keep counts once for each") {
  Pipeline four(4);
  const RooflineCostModel cost;
  // State and four micro-batches in flight.
  const double all = likelyOf(four);
  const auto limitTo = [&](double bytes) {
    four.machine.devices[four.devices[0]].memoryBytes = static_cast<int64_t>(bytes);
  };
  limitTo(all + 2 * activation);
  CHECK_FALSE(rematerialise(four.placement, four.machine, cost, 1, &four.inFlight)); // it fits
  limitTo(all - 6 * activation);
  CHECK_FALSE(rematerialise(four.placement, four.machine, cost, 1)); // alone it would fit
  const auto made = rematerialise(four.placement, four.machine, cost, 1, &four.inFlight);
  REQUIRE(made);
  CHECK(render(verifyPlacement(made->placement, four.machine)) == "");
  CHECK(made->ops >= 2); // of the eight values that a micro-batch keeps, two must go: 2 * 4 >= 6
}

TEST_CASE("micro-batches: an embedding's gradient is one table, to which each adds its slices") {
  const Machine machine = smallMachine(1);
  const Graph graph = rewritten(parsed(R"(graph e {
    input ids : i32[16]
    parameter table : f32[8, 4] = glorot(seed=1)
    x = gather(table, ids)
    loss = reduceSum(mul(x, x))
    d = gradients(loss, table)
    n = assign(table, sub(table, mul(d, 0.1)))
    fetch loss
  })"),
                                machine);
  const auto batches = microBatches(graph, 4);
  REQUIRE(batches);
  CHECK(microBatches(graph, 4, 2));
  CHECK(!microBatches(graph, 3, 2)); // 16 rows: the first two would not stand for all three
  CHECK(microBatches(graph, 3));
  size_t additions = 0, first = 0;
  for (const OpId op : batches->opsOf(OpKind::ScatterAdd)) {
    const auto& operands = (*batches)[op].operands;
    CHECK(batches->typeOf(operands[2]).shape[0] == 4); // the slices of one micro-batch, of 16
    const bool isLater = (*batches)[(*batches)[operands[0]].producer].kind() == OpKind::ScatterAdd;
    first += isLater ? 0 : 1;
    ++additions;
  }
  CHECK(additions == 4);
  CHECK(first == 1);
  const NamedLiterals feeds = randomFeeds(graph, 1), parameters = randomParameters(graph, 1);
  const auto expected = evaluate(graph, feeds, parameters), actual = evaluate(*batches, feeds, parameters);
  REQUIRE(expected);
  REQUIRE(actual);
  for (int64_t i = 0; i < 8 * 4; ++i) {
    CHECK(actual->parameters.at("table").at(i) ==
          Approx(expected->parameters.at("table").at(i)).epsilon(1e-5).margin(1e-6));
  }
}

} // namespace dfc::test
