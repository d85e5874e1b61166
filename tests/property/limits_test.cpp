// The largest things there may be: they work, or are refused with a reason. Graphs of a million ops, tensors
// of more than 2^31 elements and products of more than 2^63 bytes, eight axes, names of any letters, 64
// devices.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/dsl.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/base/json/json_text.h"
#include "ir/draw/dot.h"
#include "ir/graph/graph.h"
#include "ir/graph/same_graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/errors.h"
#include "runtime/files/npz.h"
#include "runtime/files/safetensors.h"
#include "tests/property/plan_runs.h"

#include <fmt/format.h>

#include <numeric>

namespace dfc::test {
namespace {

Result<Graph> parsed(const std::string& body) { return parseGraph("graph g {\n" + body + "}\n", "g.dfg"); }

Graph graphOf(const std::string& body) {
  Result<Graph> graph = parsed(body);
  INFO((graph.ok() ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Result<Executable> compiled(const Graph& graph, const Machine& machine) {
  return compile(graph, machine, RooflineCostModel());
}

/// Requires one error, and gives it.
std::string refusalOf(const std::string& body) {
  const Result<Graph> graph = parsed(body);
  REQUIRE_FALSE(graph.ok());
  REQUIRE(graph.errors().size() == 1);
  return render(graph.errors());
}

NamedLiterals runOnce(const Executable& plan, const NamedLiterals& feeds,
                      const SessionOptions& options = {}) {
  auto session = Session::open(std::make_shared<const Executable>(plan), options);
  INFO((session.ok() ? "" : render(session.errors())));
  REQUIRE(session.ok());
  auto results = (*session)->run(feeds);
  INFO((results.ok() ? "" : render(results.errors())));
  REQUIRE(results.ok());
  return *std::move(results);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("limits: a tensor of more than 2^60 elements is refused where it is written") {
  // 2^40 x 2^40 elements would be 2^82 bytes.
  const std::string two = "  input x : f32[1099511627776, 1]\n  input y : f32[1, 1099511627776]\n";
  CHECK(contains(refusalOf("  input x : f32[1099511627776, 1099511627776]\n  fetch x\n"), "g.dfg:2:"));
  CHECK(contains(refusalOf(two + "  z = add(x, y)\n  fetch z\n"),
                 "the shape that they broadcast to is too large"));
  CHECK(contains(refusalOf(two + "  z = matmul(x, y)\n  fetch z\n"),
                 "no tensor may have the shape of the result"));
  const std::string half = "  input x : u8[576460752303423488]\n"; // 2^59
  CHECK(contains(refusalOf(half + "  z = concat(x, x, x)\n  fetch z\n"), "no tensor may have the shape"));
  CHECK(contains(refusalOf(half + "  z = pad(x, low=[0], high=[4611686018427387904])\n  fetch z\n"),
                 "g.dfg:3:"));
  CHECK(contains(refusalOf(half + "  z = broadcast(x, shape=[8, 576460752303423488])\n  fetch z\n"),
                 "g.dfg:3:"));
  CHECK(contains(refusalOf("  input x : f32[9223372036854775808]\n  fetch x\n"), "g.dfg:2:")); // 2^63
}

TEST_CASE("limits: more bytes on one device than offsets can count are refused") {
  // Nine values of 2^57 bytes: with the input ten, above 2^60 together.
  std::string body = "  input x : f32[36028797018963968]\n  x0 = exp(x)\n"; // 2^55 elements
  for (int i = 1; i < 9; ++i) {
    body += fmt::format("  x{} = tanh(x{})\n", i, i - 1);
  }
  for (int i = 0; i < 9; ++i) {
    body += fmt::format("  fetch x{}\n", i);
  }
  const Result<Executable> plan = compiled(graphOf(body), machineOf({}));
  REQUIRE_FALSE(plan.ok());
  REQUIRE(plan.errors().size() == 1);
  CHECK(contains(plan.errors()[0].message, "the values on cpu0 have more than"));
  CHECK(contains(plan.errors()[0].hint, "f32[36028797018963968]"));
}

TEST_CASE("limits: tensors over 2^31 elements are planned, and refused where they do not fit") {
  // 2^33 floats are 2^35 bytes.
  const Graph graph =
      graphOf("  input x : f32[8589934592]\n  y = exp(x) on gpu0\n  z = reduceSum(mul(y, y)) on gpu0\n"
              "  fetch y\n  fetch z\n");
  Machine machine = machineOf({1, false, 1});
  const Result<Executable> plan = compiled(graph, machine);
  REQUIRE(plan.ok());
  const DeviceId gpu = machine.findDevice("gpu0");
  CHECK(plan->memory().arenaBytes[gpu] >= int64_t{1} << 35); // y in the place of x
  const Result<Executable> again = Executable::parse(plan->serialise(), "large.plan");
  REQUIRE(again.ok());
  CHECK(again->memory().arenaBytes[gpu] == plan->memory().arenaBytes[gpu]);
  machine.devices[gpu].memoryBytes = int64_t{1} << 32;
  const Result<Executable> refused = compiled(graph, machine);
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(render(refused.errors()), "gpu0"));
}

TEST_CASE("limits: memory that the host cannot give is the machine's failure") {
  const Graph graph =
      graphOf("  parameter w : f32[140737488355328] = zeros()\n  y = reduceSum(w)\n  fetch y\n"); // 2^47
  const Result<Executable> plan = compiled(graph, machineOf({}));
  REQUIRE(plan.ok());
  bool failed = false;
  try {
    failed = !Session::open(std::make_shared<const Executable>(*plan)).ok();
  } catch (const MachineError& error) {
    failed = true;
  } catch (const std::bad_alloc&) {
    failed = true; // dfc says that the host has too little memory
  }
  CHECK(failed);
}

TEST_CASE("limits: more than 2^31 elements are computed, and the last ones too", "[heavy]") {
  constexpr int64_t count = (int64_t{1} << 31) + 70; // 2 GiB of bytes
  const Graph graph = graphOf(fmt::format("  input x : u8[{0}]\n  y = add(x, x)\n  best = argMax(x)\n"
                                          "  tail = slice(x, starts=[{1}], ends=[{0}])\n"
                                          "  fetch y\n  fetch best\n  fetch tail\n",
                                          count, count - 70));
  Literal x({ElementType::U8, {count}});
  const std::span<uint8_t> data = x.mutableData<uint8_t>();
  for (int64_t i = 0; i < count; ++i) {
    data[static_cast<size_t>(i)] = static_cast<uint8_t>(i % 97);
  }
  data[count - 3] = 200;
  const NamedLiterals results = runOnce(*compiled(graph, machineOf({})), {{"x", x}});
  CHECK(results.at("best").data<int64_t>()[0] == count - 3);
  CHECK(results.at("tail").data<uint8_t>()[67] == 200);
  const std::span<const uint8_t> y = results.at("y").data<uint8_t>();
  bool same = true;
  for (size_t i = 0; i < y.size(); ++i) {
    same = same && y[i] == static_cast<uint8_t>(2 * data[i]);
  }
  CHECK(same);
}

TEST_CASE("limits: eight axes from text to result, and no ninth") {
  const Graph graph = graphOf("  input x : f64[2, 1, 3, 2, 1, 2, 2, 3]\n  input b : f64[3, 1, 1, 2, 1, 3]\n"
                              "  t = transpose(add(x, b), permutation=[7, 0, 5, 2, 1, 3, 6, 4])\n"
                              "  s = reduceSum(t, axes=[0, 3, 7])\n  fetch t\n  fetch s\n");
  const NamedLiterals feeds = randomFeeds(graph, 5);
  const auto expected = evaluate(graph, feeds);
  REQUIRE(expected.ok());
  const Result<Executable> plan = compiled(graph, machineOf({}));
  REQUIRE(plan.ok());
  const NamedLiterals results = runOnce(*plan, feeds);
  CHECK(results.at("t") == expected->fetches.at("t"));
  for (int64_t i = 0; i < results.at("s").type().shape.elements(); ++i) {
    CHECK(results.at("s").at(i) == Approx(expected->fetches.at("s").at(i)));
  }
  CHECK(contains(refusalOf("  input x : f32[1, 1, 1, 1, 1, 1, 1, 1, 1]\n  fetch x\n"), "8"));
  CHECK(contains(
      refusalOf("  input x : f32[2]\n  y = broadcast(x, shape=[1, 1, 1, 1, 1, 1, 1, 1, 2])\n  fetch y\n"),
      "g.dfg:3:"));
  CHECK(contains(
      refusalOf("  input x : f32[2]\n  y = reshape(x, shape=[1, 1, 1, 1, 1, 1, 1, 1, 2])\n  fetch y\n"),
      "g.dfg:3:"));
}

TEST_CASE("limits: names of any letters, from the DSL to the files and back") {
  const std::vector<std::string> names = {"größe",
                                          "学習率",
                                          "вес",
                                          "אבג",
                                          "🙂👩‍👩‍👧",
                                          "e\u0301",
                                          "with space",
                                          "quote\"",
                                          "back\\slash",
                                          "new\nline",
                                          "a/b",
                                          "*?",
                                          "\u200b",
                                          "inf",
                                          "graph",
                                          std::string(2000, 'n'),
                                          "tab\t",
                                          "\x01",
                                          "{}",
                                          "%s",
                                          "<b>&amp;"};
  Builder builder("名前 \"g\"");
  NamedLiterals feeds;
  for (const std::string& name : names) {
    const auto scope = builder.scope("scope " + name);
    const Tensor x = builder.input("in " + name, f32({2}));
    const Tensor w = builder.parameter("w " + name, f32({2}), constantInit(3));
    const Tensor y = (x * w).named(name);
    builder.fetch("out " + name, y);
    feeds["in " + name] = filledLiteral(f32({2}), 2);
  }
  const Result<Graph> graph = std::move(builder).finish();
  INFO((graph.ok() ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  const Result<Graph> again = parseGraph(printGraph(*graph), "names.dfg");
  INFO((again.ok() ? "" : render(again.errors())));
  REQUIRE(again.ok());
  CHECK(sameGraph(*graph, *again));
  const Result<Executable> plan = compiled(*again, machineOf({}));
  REQUIRE(plan.ok());
  const Result<Executable> loaded = Executable::parse(plan->serialise(), "names.plan");
  REQUIRE(loaded.ok());
  const NamedLiterals results = runOnce(*loaded, feeds);
  REQUIRE(results.size() == names.size());
  for (const std::string& name : names) {
    INFO(name);
    CHECK(results.at("out " + name) == filledLiteral(f32({2}), 6)); // 2 * 3
  }
  const auto tensors = parseSafetensors(*printSafetensors(results, "names"), "names");
  REQUIRE(tensors.ok());
  CHECK(*tensors == results);
}

TEST_CASE("limits: 64 devices give the bits of one, and more than 4096 are refused") {
  constexpr int gpus = 63;
  Builder builder("relay");
  Tensor x = builder.input("x", f32({4, 4}));
  Tensor sum = x;
  for (int i = 0; i < gpus; ++i) {
    x = tanh(matmul(x, x) + 0.1).on("gpu" + std::to_string(i));
    sum = sum + x;
  }
  builder.fetch("sum", sum);
  const Graph graph = *std::move(builder).finish();
  const Machine machine = machineOf({gpus, true, 1});
  CHECK(machine.devices.size() == 64);
  const NamedLiterals feeds = randomFeeds(graph, 3);
  const Result<Executable> many = compiled(graph, machine);
  REQUIRE(many.ok());
  CompileOptions options;
  options.pins = {{"*", "cpu0"}};
  const Result<Executable> one = compile(graph, machineOf({}), RooflineCostModel(), options);
  INFO((one.ok() ? "" : render(one.errors())));
  REQUIRE(one.ok());
  CHECK(runOnce(*many, feeds).at("sum") == runOnce(*one, feeds).at("sum"));
  const Result<Executable> tooMany = compiled(graph, machineOf({4096, false, 1}));
  REQUIRE_FALSE(tooMany.ok());
  CHECK(contains(render(tooMany.errors()), "4096"));
}

TEST_CASE("limits: a million ops are compiled, kept and run", "[heavy]") {
  constexpr int ops = 1'000'000;
  GraphBuilder builder("million");
  ops::Input input;
  input.type = f32({});
  std::vector<ValueId> values{builder.result(builder.append(input, {}, {.name = "x"}))};
  Dice dice(1);
  while (values.size() < ops) { // each reads two of the last hundred
    const auto recent = static_cast<int64_t>(std::min<size_t>(values.size(), 100));
    const auto operand = [&] { return values[values.size() - 1 - static_cast<size_t>(dice.below(recent))]; };
    values.push_back(builder.result(builder.append(ops::Maximum{}, {operand(), operand()}, {})));
  }
  builder.fetch("y", values.back());
  Result<Graph> graph = std::move(builder).finish();
  REQUIRE(graph.ok());
  CHECK(graph->opCount() == ops);
  const Result<Graph> again = parseGraph(printGraph(*graph), "million.dfg");
  REQUIRE(again.ok());
  CHECK(again->opCount() == ops);
  CompileOptions options;
  options.skipPasses = {"simplify", "share_common_ops", "fuse_elementwise"}; // or few would be left
  const Result<Executable> plan = compile(*graph, machineOf({1, false, 2}), RooflineCostModel(), options);
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  const Result<Executable> loaded = Executable::parse(plan->serialise(), "million.plan");
  REQUIRE(loaded.ok());
  CHECK(loaded->schedule().steps.size() == plan->schedule().steps.size());
  CHECK(loaded->schedule().steps.size() > ops / 2); // the rest is read by nobody
  const Literal two = filledLiteral(f32({}), 2);
  CHECK(runOnce(*loaded, {{"x", two}}).at("y") == two); // the maximum of twos
}

} // namespace dfc::test
