// Sums over devices: their results, and the bytes that each form moves over each link.
#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "ir/author/collectives.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"

#include <fmt/format.h>

#include <map>

using namespace dfc;
using namespace dfc::test;

namespace {

std::vector<std::string> gpus(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    names.push_back(fmt::format("gpu{}", i));
  }
  return names;
}

/// Inputs "x0", "x1", … and the results of `combine`, one result for each device, fetched as "y0", …
template <class Combine>
Graph written(size_t devices, const TensorType& type, const Combine& combine) {
  Builder g("collective");
  std::vector<Tensor> values;
  for (size_t i = 0; i < devices; ++i) {
    const Tensor x = g.input(fmt::format("x{}", i), type);
    const auto here = g.on(gpus(devices)[i]);
    values.push_back(x * 1.5); // a value that the device has made
  }
  const std::vector<Tensor> sums = combine(values, gpus(devices));
  for (size_t i = 0; i < sums.size(); ++i) {
    g.fetch(fmt::format("y{}", i), sums[i]);
  }
  auto graph = std::move(g).finish();
  INFO((graph.ok() ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

/// The same of parameters, with one number of each result, so that nothing else is large that moves.
Graph lasting(size_t devices, const TensorType& type, AllReduceOptions options) {
  Builder g("collective");
  std::vector<Tensor> values;
  for (const std::string& device : gpus(devices)) {
    const auto here = g.on(device);
    values.push_back(g.parameter("x@" + device, type, normal(0, 1, 1)) * 1.5);
  }
  const std::vector<Tensor> sums = allReduce(values, gpus(devices), options);
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto here = g.on(gpus(devices)[i]);
    g.fetch(fmt::format("y{}", i), reduceMax(sums[i]));
  }
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Graph reduced(size_t devices, const TensorType& type, AllReduceOptions options) {
  return written(devices, type,
                 [&](const auto& values, const auto& on) { return allReduce(values, on, options); });
}

NamedLiterals feedsOf(size_t devices, const TensorType& type) {
  NamedLiterals feeds;
  for (size_t i = 0; i < devices; ++i) {
    Literal value(type);
    for (int64_t k = 0; k < type.shape.elements(); ++k) {
      value.set(k, 0.1 * static_cast<double>((k * 7 + static_cast<int64_t>(i) * 31) % 23) - 1);
    }
    feeds.emplace(fmt::format("x{}", i), std::move(value));
  }
  return feeds;
}

NamedLiterals resultsOf(const Graph& graph, size_t devices, const TensorType& type) {
  const auto evaluation = evaluate(graph, feedsOf(devices, type));
  REQUIRE(evaluation.ok());
  return evaluation->fetches;
}

Machine eightGpus() {
  auto machine = readMachine(shippedFile("samples/machines/cpu-8gpu-nvlink.json").string());
  REQUIRE(machine.ok());
  return *machine;
}

Executable planned(const Graph& graph) {
  auto plan = compile(graph, eightGpus(), RooflineCostModel());
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

/// Bytes of the transfers between GPUs, by the devices' names.
std::map<std::pair<std::string, std::string>, int64_t> broughtIn(const Executable& plan) {
  std::map<std::pair<std::string, std::string>, int64_t> bytes;
  for (const auto& [op, row] : plan.placed().transfers) {
    const DeviceRow &from = plan.machine().devices[row.from], &to = plan.machine().devices[row.to];
    if (from.kind == DeviceKind::Gpu && to.kind == DeviceKind::Gpu) {
      bytes[{from.name, to.name}] += row.bytes;
    }
  }
  return bytes;
}

int64_t most(const std::map<std::pair<std::string, std::string>, int64_t>& bytes) {
  std::map<std::string, int64_t> into;
  for (const auto& [way, count] : bytes) {
    into[way.second] += count;
  }
  int64_t largest = 0;
  for (const auto& [device, count] : into) {
    largest = std::max(largest, count);
  }
  return largest;
}

} // namespace

TEST_CASE("allReduce: the sum on each device, the same bits on all, whichever the form") {
  for (const size_t devices : {1, 2, 3, 4}) {
    for (const Shape& shape : {Shape{8, 3}, Shape{5}, Shape{3, 2}, Shape{}}) {
      INFO(devices << " devices, " << toString(f32(shape)));
      const TensorType type = f32(shape);
      const NamedLiterals whole = resultsOf(reduced(devices, type, {AllReduce::Exchange}), devices, type);
      const NamedLiterals feeds = feedsOf(devices, type);
      for (int64_t i = 0; i < type.shape.elements(); ++i) {
        double sum = 0;
        for (const auto& [name, value] : feeds) {
          sum += 1.5 * value.at(i);
        }
        CHECK(whole.at("y0").at(i) == Approx(sum).margin(1e-5));
      }
      const NamedLiterals scattered = resultsOf(reduced(devices, type, {AllReduce::Scatter}), devices, type);
      const NamedLiterals ring = resultsOf(reduced(devices, type, {AllReduce::Ring, 2}), devices, type);
      for (size_t i = 0; i < devices; ++i) {
        const std::string y = fmt::format("y{}", i);
        CHECK(bitDifference(whole.at("y0"), whole.at(y)) == "");
        CHECK(bitDifference(whole.at("y0"), scattered.at(y)) == ""); // the same order of sums
        CHECK(bitDifference(ring.at("y0"), ring.at(y)) == "");
        for (int64_t k = 0; k < type.shape.elements(); ++k) {
          CHECK(ring.at(y).at(k) == Approx(whole.at(y).at(k)).margin(1e-5));
        }
      }
    }
  }
}

TEST_CASE("reduceScatter and allGather: parts where they belong, and the whole again") {
  const TensorType type = f32({7, 2});
  Graph graph = written(3, type, [](const auto& values, const auto& devices) {
    const std::vector<Tensor> parts = reduceScatter(values, devices);
    CHECK(parts[0].shape() == Shape{3, 2}); // the first the longer ones
    CHECK(parts[1].shape() == Shape{2, 2});
    CHECK(parts[2].shape() == Shape{2, 2});
    std::vector<Tensor> all = allGather(parts, devices);
    all.insert(all.end(), parts.begin(), parts.end());
    return all;
  });
  const NamedLiterals results = resultsOf(graph, 3, type);
  CHECK(results.at("y4").at(0) == results.at("y0").at(6)); // row 3 is the second part's first
  CHECK(bitDifference(results.at("y0"), results.at("y2")) == "");
}

TEST_CASE("allReduce: each form brings what it says over the links that it says") {
  constexpr int64_t rows = 65536, bytes = rows * 256 * 4;
  const TensorType type = f32({rows, 256});
  const Executable exchange = planned(lasting(8, type, {AllReduce::Exchange})),
                   scatter = planned(lasting(8, type, {AllReduce::Scatter})),
                   ring = planned(lasting(8, type, {AllReduce::Ring}));
  CHECK(most(broughtIn(exchange)) == 7 * bytes);
  CHECK(most(broughtIn(scatter)) == 2 * 7 * bytes / 8);
  CHECK(most(broughtIn(ring)) == 2 * 7 * bytes / 8);
  // Sums go round between neighbours: part j's from j + 1 to j, all parts but the own over each link; then
  // each part from its device to all others.
  const auto ways = broughtIn(ring);
  CHECK(ways.at({"gpu3", "gpu4"}) == 7 * bytes / 8 + bytes / 8);
  CHECK(ways.at({"gpu7", "gpu0"}) == 7 * bytes / 8 + bytes / 8);
  CHECK(ways.at({"gpu4", "gpu3"}) == bytes / 8);
  // What that is worth is the plan's to say.
  CHECK(scatter.schedule().makespan < 0.5 * exchange.schedule().makespan);
  CHECK(ring.schedule().makespan < 0.6 * exchange.schedule().makespan);
}

TEST_CASE("collectives: mistakes are said where they were made") {
  Builder g("mistakes");
  const Tensor a = g.input("a", f32({4})), b = g.input("b", f32({5})), c = g.input("c", f32({1}));
  const uint32_t line = __LINE__ + 1;
  CHECK_FALSE(allReduce({a, a}, {"gpu0"})[0].valid());
  CHECK(allReduce({a, b}, {"gpu0", "gpu1"}).size() == 2);
  CHECK_FALSE(reduceScatter({c, c}, {"gpu0", "gpu1"})[1].valid());
  CHECK_FALSE(allGather({a}, {"gpu0", "gpu1"})[1].valid());
  CHECK(allReduce({}, {}).empty());
  CHECK_FALSE(allReduce({a, a}, {"gpu0", "gpu1"}, {AllReduce::Ring, 0})[0].valid());
  const auto graph = std::move(g).finish();
  REQUIRE_FALSE(graph.ok());
  REQUIRE(graph.errors().size() == 5);
  CHECK(graph.errors()[0].message == "allReduce of 2 values on 1 devices");
  CHECK(graph.errors()[0].where.line == line);
  CHECK(graph.errors()[1].message == "allReduce of f32[4] and f32[5]");
  CHECK(graph.errors()[2].message == "reduceScatter of f32[1] over 2 devices");
  CHECK(graph.errors()[3].message == "allGather of 1 values on 2 devices");
  CHECK(graph.errors()[4].message == "allReduce in 0 chunks");
}
