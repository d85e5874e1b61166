// Predictions for a whole data set: rows in their order, a padded last batch, and what cannot be joined.
#include "runtime/data/batches.h"
#include "runtime/predict/predict.h"
#include "tests/runtime/session_support.h"

using namespace dfc;
using namespace dfc::test;

namespace {

/// Of a batch of 4 rows x[2]: z = 10 x + b, their sum a row, and the sum of all.
Graph rowsGraph() {
  Builder g("rows");
  const Tensor x = g.input("x", f32({4, 2}));
  const Tensor b = g.input("b", f32({2}));
  const Tensor z = x * 10 + b;
  g.fetch("z", z);
  g.fetch("sums", reduceSum(z, {1}));
  g.fetch("total", reduceSum(z));
  return finished(std::move(g));
}

Literal counted(int64_t rows) {
  Literal x(f32({rows, 2}));
  for (int64_t i = 0; i < x.type().shape.elements(); ++i) {
    x.set(i, static_cast<double>(i));
  }
  return x;
}

} // namespace

TEST_CASE("predict: every row once, in its order, however many there are") {
  const auto session = opened(tinyPlan(rowsGraph(), smallMachine(0)));
  for (const int64_t rows : {1, 3, 4, 5, 8, 11}) {
    const auto found = predict(*session, {{"x", counted(rows)}, {"b", floats({2}, {1, 2})}});
    INFO(render(found.errors()));
    REQUIRE(found.ok());
    CHECK(found->size() == 2); // the total has no batch axis
    REQUIRE(found->at("z").type() == f32({rows, 2}));
    REQUIRE(found->at("sums").type() == f32({rows}));
    for (int64_t row = 0; row < rows; ++row) { // row: 10 (2 r) + 1 and 10 (2 r + 1) + 2
      CHECK(found->at("z").at(2 * row) == 20 * row + 1);
      CHECK(found->at("z").at(2 * row + 1) == 20 * row + 12);
      CHECK(found->at("sums").at(row) == 40 * row + 13);
    }
  }
}

TEST_CASE("predict: NumPy's element types are converted, entries stacked") {
  const auto session = opened(tinyPlan(rowsGraph(), smallMachine(0)));
  Literal wide(TensorType{ElementType::F64, {5, 2}}), entries(f32({3, 4, 2}));
  wide.set(8, 7);
  const auto found = predict(*session, {{"x", wide}, {"b", floats({2}, {0, 0})}}, {"sums"});
  REQUIRE(found.ok());
  CHECK(found->size() == 1);
  CHECK(valuesOf(found->at("sums")) == std::vector<float>{0, 0, 0, 0, 70});
  entries.set(23, 1);
  const auto stacked = predict(*session, {{"x", entries}, {"b", floats({2}, {0, 0})}});
  REQUIRE(stacked.ok());
  CHECK(stacked->at("z").type() == f32({3, 4, 2}));
  CHECK(valuesOf(stacked->at("total")) == std::vector<float>{0, 0, 10});
}

TEST_CASE("predict: mistakes come at once, each with its way out") {
  const auto session = opened(tinyPlan(rowsGraph(), smallMachine(0)));
  const auto messages = [&](const NamedLiterals& data, const std::vector<std::string>& fetches = {}) {
    return messagesOf(predict(*session, data, fetches).errors());
  };
  const Literal b = floats({2}, {1, 2});
  CHECK(
      messages({{"x", counted(5)}, {"b", b}}, {"total", "sum"}) ==
      Strings{"fetch 'total' is f32[]: its first axis is not the batch, 4 rows, so there is no row of it for "
              "each row of the data | fetches with a row for each row of the data: z, sums",
              "there is no fetch 'sum' | did you mean 'sums'? There are: z, sums, total"});
  CHECK(messages({{"y", counted(5)}, {"b", b}}) ==
        Strings{"input 'x' (f32[4, 2]) has no data | give an array of its rows",
                "there is no input 'y' | there are: x, b"});
  CHECK(messages({{"x", counted(5)}, {"b", floats({3}, {1, 2, 3})}}) ==
        Strings{"input 'b' has 3 rows, input 'x' 5 | a row of one belongs to the same row of the other"});
  const Literal whole(TensorType{ElementType::I64, {2}});
  CHECK(messages({{"x", Literal(TensorType{ElementType::Bool, {5, 2}})}, {"b", whole}}) ==
        Strings{"input 'x' is f32[4, 2], but its data are bool[5, 2] | convert it in NumPy: "
                "array.astype(np.float32)"});
  const auto training = opened(tinyPlan(countingGraph(), smallMachine(0)));
  CHECK(messagesOf(predict(*training, {{"x", floats({2}, {1, 1})}}).errors())[0] ==
        "a step of this graph changes parameters: predictions would train it | predict by a graph without "
        "updates, which has the same parameters");
}

TEST_CASE("predict: a pass that is ended early gives the rows so far") {
  const auto session = opened(tinyPlan(rowsGraph(), smallMachine(0)));
  DataPass pass;
  pass.rows = 100;
  pass.batch = 4;
  pass.feeds = [](int64_t step) {
    return NamedLiterals{{"x", rowsOf(counted(100), 4 * step, 4)}, {"b", floats({2}, {0, 0})}};
  };
  pass.afterStep = [](int64_t step) { return step < 2; };
  const auto found = predict(*session, pass, {"sums"});
  REQUIRE(found.ok());
  CHECK(found->at("sums").type().shape[0] >= 8);
  CHECK(found->at("sums").type().shape[0] <= 12); // the step that was under way
}

TEST_CASE("predict: one batch of an input beside more rows of another is an error, unless that is said") {
  Builder g("two");
  const Tensor x = g.input("x", f32({4, 2})), y = g.input("y", f32({4}));
  g.fetch("sums", reduceSum(x, {1}) + y);
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  const NamedLiterals data = {{"x", counted(9)}, {"y", floats({4}, {1, 2, 3, 4})}};
  const auto refused = predict(*session, data);
  CHECK(
      messagesOf(refused.errors()) ==
      std::vector<std::string>{"input 'y' has 4 rows, the others have 9 | give it as many rows; if it is no "
                               "batch of rows, name it among the inputs fed at every step (everyStep, "
                               "every_step= in Python)"});
  const auto said = predict(*session, data, {}, {}, {"y"});
  REQUIRE(said.ok());
  CHECK(said->at("sums").at(8) == 16 + 17 + 1); // row 8 of x, and row 0 of the third batch
  const auto wrong = predict(*session, data, {}, {}, {"x", "z"});
  CHECK(wrong.errors().size() == 3); // x has rows, there is no z, and y is still one batch
  CHECK(predict(*session, {{"x", counted(4)}, {"y", floats({4}, {1, 2, 3, 4})}}).ok());
}
