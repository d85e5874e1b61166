// The graph file is an exact form of the graph: what is printed reads back equal, and prints the same again.
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "ir/graph/same_graph.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/parsed.h"
#include "tests/support/random_graph.h"

#include <bit>
#include <cstring>
#include <limits>
#include <set>

namespace dfc {
namespace {

using test::parsed;

// Prints, reads, compares, prints again. Gives the text.
std::string roundTrip(const Graph& graph) {
  const std::string text = printGraph(graph);
  const Result<Graph> back = parseGraph(text, "printed.dfg");
  INFO(text.substr(0, 20000));
  INFO((back ? "" : render(back.errors())));
  REQUIRE(back.ok());
  CHECK(sameGraph(graph, *back));
  CHECK(printGraph(*back) == text);
  return text;
}

Graph withConstant(const Literal& literal) {
  GraphBuilder builder("constants");
  ops::Constant constant;
  constant.value = literal;
  builder.append(std::move(constant), {}, {"c"});
  return *std::move(builder).finish();
}

TEST_CASE("random graphs round-trip", "[text]") {
  test::RandomGraphOptions options;
  options.scopes = {"fc1 forward", "a/b", "with \"quotes\"", "plain", "Größe"};
  options.pins = {"gpu0", "gpu*", "cpu 0"};
  options.kinds = test::computingKinds();
  options.kinds.push_back(OpKind::Cut);
  options.kinds.push_back(OpKind::StopGradient);
  std::set<OpKind> kinds;
  std::set<ElementType> elements;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = test::randomGraph(seed, options);
    roundTrip(graph);
    for (const OpId op : graph.ops()) {
      kinds.insert(graph[op].kind());
      elements.insert(graph.typeOf(graph[op].firstResult).element);
    }
  }
  for (const OpKind kind : options.kinds) {
    INFO("op " << nameOf(kind));
    CHECK(kinds.count(kind) == 1);
  }
  CHECK(elements.size() == allElementTypes.size());
}

// The ops that a random graph has none of: requests, and what the compiler makes.
TEST_CASE("gradients, transfer and fused round-trip", "[text]") {
  roundTrip(parsed(R"(graph rest {
  input x : f32[2, 3]
  parameter w : f32[3, 4] = glorot(seed=1)
  constant half : f32[] = 0.5
  y = reduceSum(matmul(x, w))
  dx, dw, "d/d half" = gradients(y, x, w, half)
  t = transfer(dw)
  f = fused(t, half, body="mul:f32 %0 %1; compare.lt:bool %2 %0; select:f32 %3 %2 %1", reduction=max, axes=[0], keepDims=true)
  next = assign(w, t)
  fetch f
  fetch "" = next
})"));
}

TEST_CASE("every start of a parameter round-trips, also with fields that it does not use", "[text]") {
  GraphBuilder builder("starts");
  using Initialiser = ops::Parameter::Initialiser;
  for (const auto kind :
       {Initialiser::Zeros, Initialiser::Constant, Initialiser::Uniform, Initialiser::Normal,
        Initialiser::Glorot, Initialiser::File, Initialiser::HeNormal, Initialiser::HeUniform}) {
    for (const bool all : {false, true}) {
      ops::Parameter parameter;
      parameter.type = f32({2, 3});
      parameter.initialiser = kind;
      parameter.a = all || kind == Initialiser::Uniform ? -0.1 : -0.0;
      parameter.b = all || kind == Initialiser::Uniform ? 0.1 : 0;
      parameter.seed = all ? std::numeric_limits<int64_t>::min() : 0;
      parameter.ofPlan = all;
      parameter.file = kind == Initialiser::File ? "weights \"1\".safetensors#fc1/w" : "";
      REQUIRE(builder.append(std::move(parameter), {}, {"p"}).valid());
    }
  }
  roundTrip(*std::move(builder).finish());
}

TEST_CASE("any name round-trips", "[text]") {
  const std::vector<std::string> names = {
      "input",    "graph",      "on",     "fetch",    "scope",
      "inf",      "nan",        "true",   "fill",     "f32",
      "a.b",      ".a",         "9lives", "a b",      "\"",
      "\\",       "\n\t\r\x7f", "größe",  "\xff\xc0", "relu",
      "mul",      "constant.2", "a#b",    "=",        std::string("nul\0!", 5),
      "\xe2\x82", "日本語",     "-1",     "e",        "_",
      "\xc2\x9b"};
  GraphBuilder builder("the \"name\"\n");
  ValueId last;
  for (const std::string& name : names) {
    ops::Input input;
    input.type = f32({});
    const ValueId value = builder.result(builder.append(std::move(input), {}, {name, name, name}));
    last = builder.result(builder.append(ops::Relu{}, {value}, {}));
    builder.fetch(name, value);
    builder.fetch(name + "!", last);
  }
  const Graph graph = *std::move(builder).finish();
  for (const std::string& name : names) {
    CHECK(graph.findValue(name).valid());
  }
  roundTrip(graph);
}

TEST_CASE("an empty graph round-trips", "[text]") {
  CHECK(roundTrip(parsed("graph g { }")) == "graph g {\n}\n");
}

// Every f16 and bf16 there is; f32 and f64 at the edges and at random bits. NaN payloads and -0 included.
TEST_CASE("every float round-trips to the bit", "[text]") {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<uint16_t>(i);
  }
  for (const ElementType type : {ElementType::F16, ElementType::BF16}) {
    Literal literal({type, {256, 256}});
    std::memcpy(literal.mutableBytes().data(), all.data(), literal.bytes().size());
    roundTrip(withConstant(literal));
  }
  test::Dice dice(7);
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    Literal literal({type, {4000}});
    for (std::byte& byte : literal.mutableBytes()) {
      byte = static_cast<std::byte>(dice.below(256));
    }
    roundTrip(withConstant(literal));
  }
}

template <class T>
void edgesRoundTrip() {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> values = {T(0),
                                 T(1),
                                 T(100),
                                 Limits::min(),
                                 Limits::max(),
                                 Limits::lowest(),
                                 Limits::infinity(),
                                 Limits::quiet_NaN(),
                                 Limits::denorm_min(),
                                 Limits::epsilon(),
                                 static_cast<T>(-Limits::quiet_NaN()),
                                 static_cast<T>(-T(0))};
  roundTrip(withConstant(Literal(Shape{static_cast<int64_t>(values.size())}, std::span<const T>(values))));
}

TEST_CASE("the ends of every type round-trip", "[text]") {
  edgesRoundTrip<float>();
  edgesRoundTrip<double>();
  edgesRoundTrip<int32_t>();
  edgesRoundTrip<int64_t>();
  edgesRoundTrip<uint8_t>();
  Literal truth({ElementType::Bool, {2, 2}});
  truth.set(1, 1);
  roundTrip(withConstant(truth));
}

TEST_CASE("a split may have more results than a tensor has axes", "[text]") {
  std::string names = "a0", sizes = "1";
  for (int i = 1; i < 10; ++i) {
    names += ", a" + std::to_string(i);
    sizes += ", 1";
  }
  roundTrip(parsed("graph g {\n  input x : f32[10, 2]\n  " + names + " = split(x, sizes=[" + sizes +
                   "])\n  fetch a9\n}\n"));
}

TEST_CASE("constants: lists, fill and shapes without elements", "[text]") {
  const std::string text = "graph g {\n"
                           "  constant a : f32[] = 0.1\n"
                           "  constant b : i64[1] = [-9223372036854775808]\n"
                           "  constant c : f64[2, 1, 2] = [[[1, 2]], [[3, -4.5e-300]]]\n"
                           "  constant d : f32[3, 2] = fill(-0)\n"
                           "  constant e : u8[2, 0, 3] = []\n"
                           "  constant f : bool[2] = [true, false]\n"
                           "}\n";
  CHECK(roundTrip(parsed(text)) == text);
  CHECK(printGraph(parsed("graph g { constant e : f32[2, 0] = [[], []] }")) ==
        "graph g {\n  constant e : f32[2, 0] = []\n}\n");
}

} // namespace
} // namespace dfc
