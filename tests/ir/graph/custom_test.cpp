// The op custom: its type rule, its calls, the C++ DSL and graph files.
#include "ir/author/custom.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/draw/display_name.h"
#include "ir/draw/dot.h"
#include "ir/graph/custom_calls.h"
#include "ir/graph/rules/type_list.h"
#include "ir/graph/same_graph.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <cmath>

using namespace dfc;

namespace {

ops::Custom task() {
  ops::Custom op;
  op.function = "f";
  op.resultTypes = "f32[2]";
  op.cpuSeconds = 1e-3;
  return op;
}

ops::Custom kernel() {
  ops::Custom op = task();
  op.gpuSeconds = 1e-4;
  op.source = "extern \"C\" __global__ void f(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }";
  op.entry = "f";
  op.grid = {1};
  op.block = {2};
  return op;
}

template <class Change>
std::string refusal(ops::Custom op, Change change) {
  change(op);
  const TypeResult result = resultTypes(op, {f32({2})});
  CHECK((result.ok() || !result.hint.empty()));
  const std::string call = "custom of f32[2]: ";
  CHECK((result.ok() || result.error.starts_with(call)));
  return result.ok() ? "" : result.error.substr(call.size());
}

std::string wrongTypes(const std::string& text) {
  return refusal(task(), [&](auto& op) { op.resultTypes = text; });
}

} // namespace

TEST_CASE("custom: lists of types as text") {
  const std::vector<TensorType> types = {f32({2, 3}), i64({}), {ElementType::Bool, {0}}};
  const std::string text = typeListText(types);
  CHECK(text == "f32[2, 3], i64[], bool[0]");
  const TypeResult read = typesOfText(text);
  REQUIRE(read.ok());
  CHECK(llvm::ArrayRef<TensorType>(read.types) == llvm::ArrayRef<TensorType>(types));
  CHECK(typesOfText(" f32 [ 2,3 ] ,i64[ ]").ok());
  CHECK(wrongTypes("") == "types: no types");
  CHECK(wrongTypes("f23[2]") == "types: 'f23' is no element type");
  CHECK(wrongTypes("f32") == "types: f32 without its dimensions in brackets");
  CHECK(wrongTypes("f32[2,]") == "types: dimension 1 of a type is no number of 0 or more");
  CHECK(wrongTypes("f32[-1]") == "types: dimension 0 of a type is no number of 0 or more");
  CHECK(wrongTypes("f32[2 3]") == "types: dimension 1 of a type is no number of 0 or more");
  CHECK(wrongTypes("f32[99999999999999999999]") == "types: dimension 0 of a type is no number of 0 or more");
  CHECK(wrongTypes("f32[1,1,1,1,1,1,1,1,1]") == "types: a type of more than 8 dimensions");
  CHECK(wrongTypes("f32[2];") == "types: more behind the last type than a comma and another type");
  CHECK(wrongTypes("f32[2],") == "types: '' is no element type");
  CHECK_FALSE(resultTypes(ops::Custom(task()), {f32({2})}).types.empty());
}

TEST_CASE("custom: what cannot be is refused, with the way out") {
  CHECK(refusal(task(), [](auto&) {}).empty());
  CHECK(refusal(kernel(), [](auto&) {}).empty());
  CHECK(refusal(task(), [](auto& op) { op.function = ""; }) == "no function");
  CHECK(refusal(task(), [](auto& op) { op.cpuSeconds = 0; }) ==
        "it has no cost, so that no device could run it");
  CHECK(refusal(task(), [](auto& op) { op.cpuSeconds = -1; }) == "cpuSeconds is -1");
  CHECK(refusal(task(), [](auto& op) { op.gpuSeconds = std::nan(""); }) == "gpuSeconds is nan");
  CHECK(refusal(task(), [](auto& op) { op.block = {32}; }) == "a launch without a kernel's source");
  CHECK(refusal(kernel(), [](auto& op) { op.gpuSeconds = 0; }) == "a kernel without gpuSeconds");
  CHECK(refusal(kernel(), [](auto& op) { op.entry = ""; }) == "a kernel without the name of its entry");
  CHECK(refusal(kernel(), [](auto& op) { op.entry = "other"; }) == "the source has no kernel 'other'");
  CHECK(refusal(kernel(), [](auto& op) { op.source = "__global__ void f() {}"; }) ==
        "kernel 'f' has a C++ name, by which it is not found");
  CHECK(refusal(kernel(), [](auto& op) { op.grid = {}; }) == "grid has 0 lengths");
  CHECK(refusal(kernel(), [](auto& op) { op.grid = {4, 0}; }) == "grid has length 0 along y");
  CHECK(refusal(kernel(), [](auto& op) { op.grid = {1, 1, 65536}; }) == "grid has length 65536 along z");
  CHECK(refusal(kernel(), [](auto& op) { op.block = {1, 1, 1, 1}; }) == "block has 4 lengths");
  CHECK(refusal(kernel(), [](auto& op) { op.block = {64, 32}; }) == "a block of 2048 threads"); // 64 * 32
  CHECK(refusal(kernel(), [](auto& op) { op.sharedBytes = 232449; }) ==
        "sharedBytes is 232449"); // 227 KiB and 1
}

TEST_CASE("custom: a call's views have the types of the graph, and others are refused") {
  const std::vector<TensorType> operands = {f32({3})}, results = {i64({2, 2})};
  const std::vector<float> x = {1, 2, 3};
  std::vector<int64_t> y(4);
  const std::byte* const from[] = {reinterpret_cast<const std::byte*>(x.data())};
  std::byte* const to[] = {reinterpret_cast<std::byte*>(y.data())};
  const CustomCall call("y", {operands, results}, from, to);
  CHECK(call.op() == "y");
  CHECK(call.operand<float>(0).size() == 3);
  CHECK(call.operand<float>(0)[2] == 3);
  call.result<int64_t>(0)[3] = 7;
  CHECK(y[3] == 7);
  CHECK(call.operandBytes(0).size() == 12);
  CHECK(call.resultBytes(0).size() == 32);
  const auto saysOf = [&](auto action) -> std::string {
    try {
      action();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  CHECK(saysOf([&] { (void)call.operand<double>(0); }) == "operand 0 is f32[3], and the function takes f64");
  CHECK(saysOf([&] { (void)call.result<float>(0); }) == "result 0 is i64[2, 2], and the function takes f32");
  CHECK(saysOf([&] { (void)call.operand<float>(1); }) == "operand 1 of a call that has 1");
  CHECK(saysOf([&] { (void)call.resultBytes(1); }) == "result 1 of a call that has 1");
}

TEST_CASE("custom: the C++ DSL, with several results, without operands, and after a mistake") {
  Builder g;
  const Tensor x = g.input("x", f32({4}));
  const auto pair = custom({x}, {.function = "pair", .results = {f32({2}), i32({})}, .cpuSeconds = 1e-3});
  REQUIRE(pair.size() == 2);
  CHECK(pair[0].type() == f32({2}));
  CHECK(pair[1].type() == i32({}));
  const Tensor source = custom(g, {}, {.function = "read", .results = {f32({2})}, .cpuSeconds = 1e-3})[0];
  g.fetch("sum", pair[0] + source);
  const auto graph = std::move(g).finish();
  CHECK(graph.ok());

  Builder wrong;
  const Tensor y = wrong.input("y", f32({4}));
  const uint32_t line = __LINE__ + 1;
  const auto poisoned = custom({y}, {.function = "pair", .results = {f32({2}), i32({})}});
  REQUIRE(poisoned.size() == 2);
  CHECK_FALSE(poisoned[1].valid());
  wrong.fetch("z", poisoned[1]);
  const auto made = std::move(wrong).finish();
  REQUIRE(made.errors().size() == 1);
  CHECK(made.errors()[0].message == "custom of f32[4]: it has no cost, so that no device could run it");
  CHECK(made.errors()[0].where.line == line);
  CHECK(custom(std::vector<Tensor>{}, {.function = "f", .results = {f32({2})}}).size() == 1);
}

TEST_CASE("custom: gradients do not pass it, and say so") {
  Builder g;
  const Tensor w = g.parameter("w", f32({4}));
  const Tensor y = custom({w}, {.function = "f", .results = {f32({4})}, .cpuSeconds = 1e-3})[0].named("y");
  (void)gradients(reduceSum(y), {w});
  const auto errors = std::move(g).finish().errors();
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0].message, test::containing("has no gradient for 'w'"));
}

TEST_CASE("custom: a kernel's source may be written in several strings, on several lines") {
  const auto graph =
      parseGraph("graph g {\n"
                 "  input x : f32[2]\n"
                 "  y, z = custom(x, function=\"f\", types=\"f32[2], \" \"i64[]\", gpuSeconds=2e-06,\n"
                 "             source=\"extern \\\"C\\\" __global__ void f() {\\n\"\n"
                 "                    \"}\\n\",\n"
                 "             entry=\"f\", grid=[1], block=[2])\n"
                 "  fetch y\n"
                 "}\n",
                 "lines.dfg");
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  const auto& op = (*graph)[graph->opsOf(OpKind::Custom)[0]].as<ops::Custom>();
  CHECK(op.resultTypes == "f32[2], i64[]");
  CHECK(op.source == "extern \"C\" __global__ void f() {\n}\n");
}

TEST_CASE("custom: a graph file says all of it, and is read back") {
  const std::string text =
      "graph g {\n"
      "  input x : f32[2]\n"
      "  a : f32[2], b : i64[] = custom(x, function=\"two results\", types=\"f32[2], i64[]\", "
      "cpuSeconds=0.001, pure=true)\n"
      "  y : f32[2] = custom(a, function=\"f\", types=\"f32[2]\", gpuSeconds=2e-06, "
      "source=\"extern \\\"C\\\" __global__ void f(const float* a, float* y) {\\n"
      "  y[threadIdx.x] = 2 * a[threadIdx.x];\\n}\", entry=\"f\", grid=[1, 2, 3], block=[2], "
      "sharedBytes=48)\n"
      "  fetch y\n"
      "  fetch b\n"
      "}\n";
  const auto graph = parseGraph(text, "custom.dfg");
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  CHECK(printGraph(*graph) == text);
  const auto& y = (*graph)[graph->opsOf(OpKind::Custom)[1]].as<ops::Custom>();
  CHECK(y.source.find("{\n  y[threadIdx.x]") != std::string::npos);
  CHECK(y.grid == Dims{1, 2, 3});
  CHECK(displayKind(*graph, graph->opsOf(OpKind::Custom)[0]) == "custom two results");
  CHECK(graphDot(*graph).find("__global__") == std::string::npos); // pictures leave the source out
  CHECK(sameGraph(*graph, *parseGraph(printGraph(*graph), "again.dfg")));
}
