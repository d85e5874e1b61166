// Cuts that a caller asks for by name: what follows from them, and what is said of those that cannot be had.
#include "compiler/cost/cost_model.h"
#include "compiler/split/split.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/tiny_plan.h"

namespace dfc::test {
namespace {

Machine twoGpus() {
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = "", .memoryBandwidth = 1e10});
  for (const char* name : {"gpu0", "gpu1"}) {
    machine.devices.add({.name = name, .kind = DeviceKind::Gpu, .model = "", .memoryBandwidth = 1e12});
  }
  connectAll(machine, 1e-6, 1e11);
  return machine;
}

const char* const net = R"(graph net {
  input x : f32[64, 32]
  parameter w : f32[32, 16] = glorot(seed=1)
  h = relu(matmul(x, w))
  fetch h
})";

Result<std::vector<SplitGraph>> splitOf(const std::vector<SplitWish>& wishes) {
  return splitCandidates(parsed(net), twoGpus(), RooflineCostModel(), wishes);
}

std::string errorOf(const std::vector<SplitWish>& wishes) {
  const auto split = splitOf(wishes);
  return split ? "" : render(split.errors());
}

TensorType typeOf(const Graph& graph, std::string_view name) {
  const ValueId value = graph.findValue(name);
  REQUIRE(value.valid());
  return graph.typeOf(value);
}

} // namespace

TEST_CASE("split by name: the other ops follow the input that is cut") {
  const auto split = splitOf({{"x", 0, "gpu*"}});
  INFO((split ? "" : render(split.errors())));
  REQUIRE(split);
  REQUIRE(!split->empty());
  const Graph& graph = split->front().graph;
  CHECK(split->front().description == "split over gpu0 to gpu1");
  CHECK(typeOf(graph, "matmul.gpu0") == TensorType{ElementType::F32, Shape{32, 16}});
  CHECK(typeOf(graph, "h.gpu1") == TensorType{ElementType::F32, Shape{32, 16}});
  CHECK(graph.inputs().size() == 1); // fed whole
  CHECK(graph.inputs()[0].type == TensorType{ElementType::F32, Shape{64, 32}});
}

TEST_CASE("split by name: a parameter by its columns, counted from the end") {
  const auto split = splitOf({{"w", -1, "gpu*"}});
  INFO((split ? "" : render(split.errors())));
  REQUIRE(split);
  const Graph& graph = split->front().graph;
  CHECK(typeOf(graph, "w.gpu0") == TensorType{ElementType::F32, Shape{32, 8}});
  CHECK(graph.parameters().size() == 1);
  CHECK(graph.parameters()[0].type == TensorType{ElementType::F32, Shape{32, 16}});
}

TEST_CASE("split by name: what cannot be had is said, with the way out") {
  CHECK_THAT(errorOf({{"x", 2, "gpu*"}}), containing("'x', f32[64, 32], cannot be cut along axis 2"));
  CHECK_THAT(errorOf({{"x", 2, "gpu*"}}), containing("it can be cut along axis 0"));
  const auto scalar =
      splitCandidates(parsed("graph g {\n  input x : f32[64]\n  s = reduceSum(x)\n  fetch s\n}"), twoGpus(),
                      RooflineCostModel(), std::vector<SplitWish>{{"s", 0, "gpu*"}});
  REQUIRE_FALSE(scalar);
  CHECK_THAT(render(scalar.errors()), containing("a scalar has no axis: cut what it is computed from"));
  CHECK_THAT(errorOf({{"y", 0, "gpu*"}}), containing("split 'y:0=gpu*' names no value"));
  CHECK_THAT(errorOf({{"x", 0, "tpu*"}}), containing("names no device of machine"));
  CHECK_THAT(errorOf({{"x", 0, "gpu0"}}), containing("names one device of machine"));
  CHECK_THAT(errorOf({{"x", 0, "gpu*"}, {"w", 0, "*"}}), containing("names other devices than"));
}

} // namespace dfc::test
