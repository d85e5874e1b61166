// KvCache: token by token, and in chunks, attention over the cache gives what attention over the whole text
// gives; and the plan writes the new rows alone.
#include "ir/author/kv_cache.h"

#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"

#include <cmath>

using namespace dfc;
using test::Dice;

namespace {

constexpr int64_t heads = 2, width = 3;

Literal drawn(int64_t tokens, uint64_t seed) {
  Dice dice(seed);
  Literal literal(f64({1, heads, tokens, width}));
  for (int64_t i = 0; i < literal.type().shape.elements(); ++i) {
    literal.set(i, dice.unit() * 2 - 1);
  }
  return literal;
}

Literal tokensOf(const Literal& text, int64_t first, int64_t count) {
  return sliced(text, 2, {first, first + count});
}

Graph finished(Builder&& g) {
  auto graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Graph stepOf(const KvCacheSizes& sizes, int64_t tokens) {
  Builder g("step");
  const auto given = [&](const char* name) { return g.input(name, f64({1, heads, tokens, width})); };
  KvCache cache(g, "layer", sizes);
  g.fetch("y", cache.attend(given("q"), given("k"), given("v"), g.input("position", i64({}))));
  return finished(std::move(g));
}

/// Attention over the whole text at once; a query sees itself and the window - 1 tokens before it.
Literal attended(const Literal& q, const Literal& k, const Literal& v, int64_t window) {
  const int64_t length = q.type().shape[2];
  Literal mask({ElementType::Bool, {length, length}});
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < length; ++j) {
      mask.set(i * length + j, j <= i && j > i - window);
    }
  }
  Builder g("whole");
  g.fetch("y", attention(g.constant(q), g.constant(k), g.constant(v), {.mask = g.constant(mask)}));
  const auto values = evaluate(finished(std::move(g)), {});
  REQUIRE(values.ok());
  return values->fetches.at("y");
}

/// Feeds a text of `length` tokens, `tokens` a step, and compares every step with `wanted`.
void checkText(const KvCacheSizes& sizes, int64_t length, int64_t tokens, int64_t window,
               NamedLiterals& state, uint64_t seed) {
  const Literal q = drawn(length, seed), k = drawn(length, seed + 1), v = drawn(length, seed + 2);
  const Literal wanted = attended(q, k, v, window);
  const Graph step = stepOf(sizes, tokens);
  for (int64_t position = 0; position < length; position += tokens) {
    const auto next = evaluate(step,
                               {{"q", tokensOf(q, position, tokens)},
                                {"k", tokensOf(k, position, tokens)},
                                {"v", tokensOf(v, position, tokens)},
                                {"position", Literal::scalar(position)}},
                               state);
    REQUIRE(next.ok());
    state = next->parameters;
    const Literal rows = tokensOf(wanted, position, tokens);
    for (int64_t i = 0; i < rows.type().shape.elements(); ++i) {
      CHECK(next->fetches.at("y").at(i) == Approx(rows.at(i)).margin(1e-12));
    }
  }
}

NamedLiterals emptyCache(const KvCacheSizes& sizes) {
  const Literal nothing = filledLiteral({sizes.element, {1, heads, sizes.rows, width}}, 0);
  return {{"layer.keys", nothing}, {"layer.values", nothing}};
}

KvCacheSizes sizesOf(int64_t rows, bool ring, int64_t window) {
  return {.heads = heads,
          .rows = rows,
          .width = width,
          .element = ElementType::F64,
          .ring = ring,
          .window = window};
}

} // namespace

TEST_CASE("kv cache: token by token, and in chunks, it gives what the whole text gives") {
  const KvCacheSizes sizes = sizesOf(8, false, 0);
  NamedLiterals state = emptyCache(sizes);
  checkText(sizes, 8, 1, 8, state, 1);
  checkText(sizes, 6, 3, 6, state, 7); // a new text in the same cache
  checkText(sizesOf(8, false, 3), 8, 2, 3, state, 13);
}

TEST_CASE("kv cache: a ring keeps a sliding window of a text without end") {
  NamedLiterals state = emptyCache(sizesOf(6, true, 0));
  checkText(sizesOf(6, true, 0), 20, 1, 6, state, 1);
  checkText(sizesOf(6, true, 0), 18, 2, 5, state, 7); // two tokens a step leave room for a window of 5
  checkText(sizesOf(6, true, 4), 21, 3, 4, state, 13);
}

TEST_CASE("kv cache: sizes that do not fit are refused where they are written") {
  const auto errorOf = [](const KvCacheSizes& sizes, int64_t tokens) {
    Builder g;
    const Tensor x = g.input("x", f64({1, heads, tokens, width}));
    KvCache cache(g, "layer", sizes);
    g.fetch("y", cache.attend(x, x, x, g.input("position", i64({}))));
    const auto graph = std::move(g).finish();
    REQUIRE(!graph.ok());
    return graph.errors()[0].message;
  };
  CHECK(errorOf(sizesOf(4, false, 0), 5) ==
        "a cache of f64[1, 2, 4, 3] cannot take keys of f64[1, 2, 5, 3] and values of f64[1, 2, 5, 3]");
  CHECK(errorOf(sizesOf(6, true, 0), 4) == "a ring of 6 rows and a window of 0 cannot take 4 tokens a step");
}

TEST_CASE("kv cache: the plan writes the new rows in the cache's own bytes") {
  Builder g("decode");
  constexpr int64_t rows = 1024;
  const Tensor x = g.input("x", f32({1, heads, 1, width}));
  KvCache cache(g, "layer", {.heads = heads, .rows = rows, .width = width});
  g.fetch("y", cache.attend(x, x, x, countedPosition(g, "position", 1)));
  const auto machine = readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  REQUIRE(machine.ok());
  CompileOptions options;
  options.policy = "single";
  const auto plan = compile(finished(std::move(g)), *machine, RooflineCostModel(), options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  const auto updates = plan->graph().opsOf(OpKind::DynamicUpdateSlice);
  REQUIRE(updates.size() == 2);
  for (const OpId op : updates) {
    const OpRow& row = plan->graph()[op];
    CHECK(plan->graph()[plan->graph()[row.operands[0]].producer].kind() == OpKind::Parameter);
    CHECK(plan->memory().slots[row.firstResult].offset == plan->memory().slots[row.operands[0]].offset);
    CHECK(plan->memory().slots[row.firstResult].device == plan->memory().slots[row.operands[0]].device);
  }
}
