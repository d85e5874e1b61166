// The options and prices that a split is chosen by.
#include "compiler/cost/cost_model.h"
#include "compiler/split/choose_split.h"
#include "compiler/split/mesh.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/op_rules.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"
#include "tests/support/tiny_plan.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::test {
namespace {

Machine ratedGpus() {
  Machine machine = smallMachine(2);
  for (const DeviceId device : machine.devices.ids()) {
    machine.devices[device].peakFlops.fill(1e12);
    machine.devices[device].memoryBandwidth = 1e13;
  }
  return machine;
}

struct Choices {
  explicit Choices(const char* text)
      : graph(parsed(text)), machine(ratedGpus()),
        all(graph,
            meshOfAll({machine.findDevice("gpu0"), machine.findDevice("gpu1")}, graph, machine,
                      RooflineCostModel()),
            machine, RooflineCostModel()) {}

  Graph graph;
  Machine machine;
  SplitChoices all;
};

/// Seconds of `name` cut along the axis, over those of the whole op on one device.
double shareOf(const char* text, const char* name, size_t axis) {
  Choices choices(text);
  const ValueId value = choices.graph.findValue(name);
  REQUIRE(choices.all.require(value, axis));
  const OpId op = choices.graph[value].producer;
  return choices.all.choose({}).opSeconds[op] /
         RooflineCostModel().opSeconds(choices.graph, op, choices.machine,
                                       choices.machine.findDevice("gpu0"));
}

} // namespace

TEST_CASE("split: the later half of the queries of causal attention is priced, as it sees more keys") {
  const char* const text = R"(graph g {
    input q : f32[2, 4, 1024, 64]
    input k : f32[2, 4, 1024, 64]
    input v : f32[2, 4, 1024, 64]
    y, l = attention(q, k, v, causal=true)
    fetch y
  })";
  // Query i sees i + 1 keys: the later half of them 3/4 of all pairs.
  CHECK(shareOf(text, "y", 2) == Approx(0.75).epsilon(0.02));
  CHECK(shareOf(text, "y", 0) == Approx(0.5).epsilon(0.02));
}

TEST_CASE("split: small statistics of rows stay in parts with the rows") {
  const Choices choices(R"(graph g {
    input x : f32[64, 8, 4096]
    parameter b : f32[64] = zeros()
    mean = reduceMean(x, axes=[2], keepDims=true)
    factor = rsqrt(mul(mean, mean))
    y = softmax(mul(x, factor))
    bnext = assign(b, mul(b, 0.5))
    fetch y
  })");
  const auto axesOf = [&](const char* name) { return choices.all.axesOf(choices.graph.findValue(name)); };
  CHECK(axesOf("factor") == std::vector<size_t>{0});
  CHECK(axesOf("bnext").empty()); // small state, which all devices update alike
}

} // namespace dfc::test
