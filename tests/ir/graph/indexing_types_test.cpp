// What the type rules of indexing, ordering and normalising ops refuse, to the letter, and what they give.
#include "ir/author/dsl.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <limits>

using namespace dfc;

namespace {

using Types = std::vector<TensorType>;

template <class Op, class Fill>
TypeResult typesOf(Fill fill, const Types& operands) {
  Op op;
  fill(op);
  TypeResult result = resultTypes(op, operands);
  CHECK(result.ok() == result.hint.empty());
  return result;
}
template <class Op, class Fill>
std::string errorOf(Fill fill, const Types& operands) {
  return typesOf<Op>(fill, operands).error;
}
template <class Op, class Fill>
TensorType typeOf(Fill fill, const Types& operands) {
  const TypeResult result = typesOf<Op>(fill, operands);
  INFO(result.error);
  REQUIRE(result.ok());
  return result.types.front();
}
const auto asItIs = [](auto&) {};

} // namespace

TEST_CASE("type rules: dynamicSlice and dynamicUpdateSlice") {
  const auto taking = [](Dims sizes, Dims axes) {
    return [=](ops::DynamicSlice& op) {
      op.sizes = sizes;
      op.axes = axes;
    };
  };
  CHECK(typeOf<ops::DynamicSlice>(taking({2}, {-1}), {f32({5, 3}), i32({})}) == f32({5, 2}));
  CHECK(typeOf<ops::DynamicSlice>(taking({2, 1}, {}), {f32({5, 3}), i64({2})}) == f32({2, 1}));
  CHECK(errorOf<ops::DynamicSlice>(taking({2}, {0}), {f32({5}), f32({})}) ==
        "dynamicSlice of f32[5] and f32[]: the starts are f32, not i32 or i64");
  CHECK(errorOf<ops::DynamicSlice>(taking({6}, {0}), {f32({5}), i64({})}) ==
        "dynamicSlice of f32[5] and i64[]: 6 elements along axis 0, which has length 5");
  CHECK(errorOf<ops::DynamicSlice>(taking({2, 2}, {0}), {f32({5}), i64({})}) ==
        "dynamicSlice of f32[5] and i64[]: 2 sizes for 1 axes");
  CHECK(errorOf<ops::DynamicSlice>(taking({1, 1}, {0, -2}), {f32({5, 3}), i64({2})}) ==
        "dynamicSlice of f32[5, 3] and i64[2]: 2 axes, of which one is no axis, or is named twice");
  CHECK(errorOf<ops::DynamicSlice>(taking({1, 1}, {}), {f32({5, 3}), i64({})}) ==
        "dynamicSlice of f32[5, 3] and i64[]: starts of shape [] for 2 axes");
  const auto along = [](Dims axes) { return [=](ops::DynamicUpdateSlice& op) { op.axes = axes; }; };
  CHECK(typeOf<ops::DynamicUpdateSlice>(along({1}), {f32({5, 3}), f32({5, 1}), i64({1})}) == f32({5, 3}));
  CHECK(
      errorOf<ops::DynamicUpdateSlice>(along({1}), {f32({5, 3}), f32({4, 1}), i64({})}) ==
      "dynamicUpdateSlice of f32[5, 3], f32[4, 1] and i64[]: an update of 4 elements along axis 0, which has "
      "length 5 and no start");
  CHECK(errorOf<ops::DynamicUpdateSlice>(along({0}), {f32({5, 3}), f64({4, 3}), i64({})}) ==
        "dynamicUpdateSlice of f32[5, 3], f64[4, 3] and i64[]: the update is f64[4, 3], which has another "
        "element type or rank");
}

TEST_CASE("type rules: randomUniform") {
  const auto of = [](TensorType type) { return [=](ops::RandomUniform& op) { op.type = type; }; };
  CHECK(typeOf<ops::RandomUniform>(of(f64({2})), {i64({})}) == f64({2}));
  CHECK(errorOf<ops::RandomUniform>(of(f32({2})), {i32({})}) ==
        "randomUniform of i32[]: the step is no i64 scalar");
  CHECK(errorOf<ops::RandomUniform>(of(i64({2})), {i64({})}) == "randomUniform of i64[]: numbers of i64[2]");
}

TEST_CASE("type rules: gather and scatterAdd") {
  const auto second = [](auto& op) { op.axis = 1; };
  CHECK(typeOf<ops::Gather>(second, {f32({2, 5, 3}), i32({4, 6})}) == f32({2, 4, 6, 3}));
  CHECK(typeOf<ops::Gather>(asItIs, {f32({5}), i64({})}) == f32({}));
  CHECK(errorOf<ops::Gather>(asItIs, {f32({5}), f32({2})}) ==
        "gather of f32[5] and f32[2]: the indices are f32, not i32 or i64");
  CHECK(errorOf<ops::Gather>(second, {f32({5}), i32({2})}) ==
        "gather of f32[5] and i32[2]: there is no axis 1");
  CHECK(errorOf<ops::Gather>(asItIs, {f32({1, 1, 1, 1, 1, 1, 1, 1}), i32({2, 2})}) ==
        "gather of f32[1, 1, 1, 1, 1, 1, 1, 1] and i32[2, 2]: no tensor may have the shape of the result");
  CHECK(typeOf<ops::ScatterAdd>(asItIs, {f32({5, 3}), i64({2}), f32({2, 3})}) == f32({5, 3}));
  CHECK(errorOf<ops::ScatterAdd>(asItIs, {f32({5, 3}), i64({2}), f32({3, 3})}) ==
        "scatterAdd of f32[5, 3], i64[2] and f32[3, 3]: the updates are [3, 3], not [2, 3]");
  CHECK(errorOf<ops::ScatterAdd>(asItIs, {f32({5}), i64({2}), f64({2})}) ==
        "scatterAdd of f32[5], i64[2] and f64[2]: a and the updates are not numbers of one element type");
  CHECK_FALSE(
      typesOf<ops::ScatterAdd>(asItIs, {{ElementType::Bool, {5}}, i64({2}), {ElementType::Bool, {2}}}).ok());
}

TEST_CASE("type rules: oneHot and iota") {
  const auto three = [](ops::OneHot& op) { op.depth = 3; };
  CHECK(typeOf<ops::OneHot>(three, {i64({2, 4})}) == f32({2, 4, 3}));
  const auto front = [](ops::OneHot& op) {
    op.depth = 3;
    op.axis = -3;
    op.to = ElementType::Bool;
  };
  CHECK(typeOf<ops::OneHot>(front, {i64({2, 4})}) == TensorType{ElementType::Bool, {3, 2, 4}});
  CHECK(errorOf<ops::OneHot>(front, {i64({})}) == "oneHot of i64[]: there is no axis -3 in the result");
  CHECK(errorOf<ops::OneHot>([](ops::OneHot& op) { op.depth = -1; }, {i64({})}) ==
        "oneHot of i64[]: a depth of -1");
  CHECK(errorOf<ops::OneHot>(three, {f32({2})}) == "oneHot of f32[2]: the indices are f32, not i32 or i64");
  CHECK(typeOf<ops::Iota>([](ops::Iota& op) { op.type = i32({4}); }, {}) == i32({4}));
  CHECK(errorOf<ops::Iota>(asItIs, {}) == "iota: a scalar has no axes");
  CHECK(errorOf<ops::Iota>(
            [](ops::Iota& op) {
              op.type = {ElementType::Bool, {4}};
            },
            {}) == "iota: iota gives numbers, not bool");
  CHECK(errorOf<ops::Iota>(
            [](ops::Iota& op) {
              op.type = i32({4});
              op.axis = 1;
            },
            {}) == "iota: there is no axis 1 in i32[4]");
}

TEST_CASE("type rules: trilu, tile and split") {
  CHECK(errorOf<ops::Trilu>(asItIs, {f32({3})}) == "trilu of f32[3]: the operand is no matrix");
  CHECK(typeOf<ops::Trilu>(asItIs, {f32({2, 3, 4})}) == f32({2, 3, 4}));
  const auto repeated = [](const Dims& repeats) { return [=](ops::Tile& op) { op.repeats = repeats; }; };
  CHECK(typeOf<ops::Tile>(repeated({2, 0}), {f32({3, 4})}) == f32({6, 0}));
  CHECK(errorOf<ops::Tile>(repeated({2}), {f32({3, 4})}) == "tile of f32[3, 4]: 1 repeats for 2 axes");
  CHECK(errorOf<ops::Tile>(repeated({-1}), {f32({3})}) == "tile of f32[3]: -1 repeats of axis 0");
  CHECK(errorOf<ops::Tile>(repeated({std::numeric_limits<int64_t>::max()}), {f32({3})}) ==
        "tile of f32[3]: no tensor may have the shape of the result");
  const auto cut = [](const Dims& sizes) {
    return [=](ops::Split& op) {
      op.sizes = sizes;
      op.axis = -1;
    };
  };
  const TypeResult parts = typesOf<ops::Split>(cut({1, 0, 3}), {f32({2, 4})});
  REQUIRE(parts.types.size() == 3);
  CHECK(parts.types[1] == f32({2, 0}));
  CHECK(parts.types[2] == f32({2, 3}));
  CHECK(errorOf<ops::Split>(cut({1, 2}), {f32({2, 4})}) ==
        "split of f32[2, 4]: parts of 1, 2 for axis 1, which has length 4");
  CHECK(errorOf<ops::Split>(cut({}), {f32({2, 4})}) == "split of f32[2, 4]: no sizes of parts");
  CHECK_FALSE(typesOf<ops::Split>(cut({}), {f32({2, 0})}).ok());
  CHECK_FALSE(typesOf<ops::Split>(cut({5, -1}), {f32({2, 4})}).ok());
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  CHECK_FALSE(typesOf<ops::Split>(cut({most, most, 6}), {f32({2, 4})}).ok()); // the sum wraps to 4
}

TEST_CASE("type rules: topK, cumSum and reductions") {
  const auto best = [](int64_t k) { return [=](ops::TopK& op) { op.k = k; }; };
  const TypeResult results = typesOf<ops::TopK>(best(3), {f64({2, 5})});
  REQUIRE(results.types.size() == 2);
  CHECK(results.types[0] == f64({2, 3}));
  CHECK(results.types[1] == i64({2, 3}));
  CHECK(errorOf<ops::TopK>(best(6), {f64({2, 5})}) == "topK of f64[2, 5]: k is 6, and axis 1 has length 5");
  CHECK_FALSE(typesOf<ops::TopK>(best(-1), {f64({5})}).ok());
  CHECK_FALSE(typesOf<ops::TopK>(best(0), {f64({})}).ok());
  CHECK_FALSE(typesOf<ops::CumSum>(asItIs, {f64({})}).ok());
  CHECK(errorOf<ops::CumSum>(asItIs, {{ElementType::Bool, {3}}}) ==
        "cumSum of bool[3]: cumSum takes numbers, not bool");
  CHECK(typeOf<ops::ReduceMin>(asItIs, {i32({2, 3})}) == i32({}));
  CHECK_FALSE(typesOf<ops::ReduceMin>(asItIs, {f32({2, 0})}).ok());
  CHECK(typeOf<ops::ReduceProduct>([](auto& op) { op.axes = {1}; }, {f32({2, 0})}) == f32({2}));
}

TEST_CASE("type rules: norms and dropout") {
  const auto middle = [](auto& op) { op.axis = 1; };
  CHECK(typeOf<ops::LayerNorm>(middle, {f32({2, 3, 4}), f32({3, 4})}) == f32({2, 3, 4}));
  CHECK(
      errorOf<ops::LayerNorm>(middle, {f32({2, 3, 4}), f32({3, 4}), f32({4})}) ==
      "layerNorm of f32[2, 3, 4], f32[3, 4] and f32[4]: layerNorm normalises rows of [3, 4], which [4] does "
      "not fit");
  const auto gradient =
      typesOf<ops::LayerNormGradient>(middle, {f32({2, 3, 4}), f32({3, 4}), f32({2, 3, 4})});
  REQUIRE(gradient.ok());
  CHECK(gradient.types == llvm::SmallVector<TensorType, 1>{f32({2, 3, 4}), f32({3, 4}), f32({3, 4})});
  CHECK(errorOf<ops::LayerNormGradient>(middle, {f32({2, 3, 4}), f32({3, 4}), f32({3, 4})}) ==
        "layerNormGradient of f32[2, 3, 4], f32[3, 4] and f32[3, 4]: the cotangent is f32[3, 4], not f32[2, "
        "3, 4]");
  CHECK(typesOf<ops::RmsNormGradient>([](auto& op) { op.toScale = false; },
                                      {f32({2, 3}), f32({3}), f32({2, 3})})
            .types.size() == 1);
  CHECK_FALSE(typesOf<ops::RmsNorm>(asItIs, {f32({2, 3}), f64({3})}).ok());
  CHECK(errorOf<ops::RmsNorm>([](auto& op) { op.epsilon = -1; }, {f32({2, 3}), f32({3})}) ==
        "rmsNorm of f32[2, 3] and f32[3]: an epsilon of -1");
  CHECK_FALSE(typesOf<ops::RmsNorm>([](auto& op) { op.epsilon = std::numeric_limits<double>::quiet_NaN(); },
                                    {f32({2, 3}), f32({3})})
                  .ok());
  const auto rate = [](double part) { return [=](ops::Dropout& op) { op.rate = part; }; };
  CHECK(typeOf<ops::Dropout>(rate(0), {f32({2, 3}), i64({})}) == f32({2, 3}));
  CHECK(errorOf<ops::Dropout>(rate(1), {f32({2, 3}), i64({})}) ==
        "dropout of f32[2, 3] and i64[]: a rate of 1");
  CHECK_FALSE(typesOf<ops::Dropout>(rate(std::numeric_limits<double>::quiet_NaN()), {f32({}), i64({})}).ok());
  CHECK(errorOf<ops::Dropout>(rate(0.5), {f32({2}), i32({})}) ==
        "dropout of f32[2] and i32[]: the step is no i64 scalar");
}

TEST_CASE("a mistake poisons every result, and what depends on one adds no other") {
  Builder g;
  const Tensor x = g.input("x", f32({6}));
  const std::vector<Tensor> parts = split(x, {4, 4});
  REQUIRE(parts.size() == 2);
  CHECK_FALSE(relu(parts[1]).valid());
  const TopK best = topK(x, 7);
  CHECK_FALSE((cast(best.indices, ElementType::F32) * best.values).valid());
  CHECK_FALSE(softmax(reshape(x, {4}), 0).valid());
  const Result<Graph> graph = std::move(g).finish();
  CHECK(graph.errors().size() == 3);
}

TEST_CASE("ops with several results are written with a name for each") {
  const std::string text = R"(graph several {
  input x : f32[4, 6]
  best : f32[4, 3], places : i64[4, 3] = topK(x, k=3)
  a : f32[4, 1], "b 2" : f32[4, 2], topK : f32[4, 3] = split(x, sizes=[1, 2, 3], axis=1)
  fetch places
  fetch "b 2"
}
)";
  const Result<Graph> graph = parseGraph(text, "several.dfg");
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  CHECK(printGraph(*graph) == text);
  const Result<Graph> few = parseGraph("graph g {\n  input x : f32[6]\n  a = topK(x, k=3)\n}\n", "few.dfg");
  REQUIRE_FALSE(few.ok());
  CHECK(few.errors()[0].message == "topK gives 2 results, but 1 name stands before '='");
}
