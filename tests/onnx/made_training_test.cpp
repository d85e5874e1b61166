// Nodes of ONNX's training preview, steps of optimisers: expected numbers are the arithmetic of a few
// elements.
#include "tests/onnx/made_node.h"
#include "tests/support/catch.h"

namespace dfc::test {
namespace {

using TrainingAttributes = std::map<std::string, OnnxAttribute>;

/// After `updates` updates, by a rate.
std::string stepOutcome(const std::string& op, TrainingAttributes attributes, double rate, double updates,
                        const std::vector<Literal>& rows, std::vector<Literal> wanted) {
  MadeNode node{
      op, 18, std::move(attributes), {floats({}, {rate}), literal(ElementType::I64, {}, {updates})}};
  node.operands.insert(node.operands.end(), rows.begin(), rows.end());
  node.wanted = std::move(wanted);
  node.domain = "ai.onnx.preview.training";
  return outcomeOf(node);
}

} // namespace

TEST_CASE("onnx: a step of Adagrad for two parameters of unlike shapes") {
  const TrainingAttributes attributes = {{"decay_factor", realAttribute(1)},
                                         {"epsilon", realAttribute(0)},
                                         {"norm_coefficient", realAttribute(0.5)}};
  // Rate 0.5 / (1 * 1 + 1) = 1/4. Gradients 3 + 2 / 2 = 4, and 1 + 0 = 1, 1 + 4 / 2 = 3. Squares 9 + 16 = 25,
  // and 0 + 1, 7 + 9 = 16. Steps 1/4 * 4 / 5 = 1/5, and 1/4 * 1 / 1, 1/4 * 3 / 4 = 3/16.
  CHECK(stepOutcome("Adagrad", attributes, 0.5, 1,
                    {floats({1}, {2}), floats({2}, {0, 4}), floats({1}, {3}), floats({2}, {1, 1}),
                     floats({1}, {9}), floats({2}, {0, 7})},
                    {floats({1}, {1.8}), floats({2}, {-0.25, 3.8125}), floats({1}, {25}),
                     floats({2}, {1, 16})}) == "passes");
}

TEST_CASE("onnx: a step of Adam is corrected from the first update on, and decays behind it") {
  const TrainingAttributes attributes = {{"alpha", realAttribute(0.5)},
                                         {"beta", realAttribute(0.75)},
                                         {"epsilon", realAttribute(0)},
                                         {"norm_coefficient_post", realAttribute(0.5)}};
  const std::vector<Literal> rows = {floats({1}, {2}), floats({1}, {2}), floats({1}, {0}), floats({1}, {0})};
  // Moments 2 / 2 = 1 and 4 / 4 = 1. Rate 1 * sqrt(1 - 3/4) / (1 - 1/2) = 1: (2 - 1) / 2.
  CHECK(stepOutcome("Adam", attributes, 1, 1, rows,
                    {floats({1}, {0.5}), floats({1}, {1}), floats({1}, {1})}) == "passes");
  // Not corrected before: (2 - 1/2) / 2.
  CHECK(stepOutcome("Adam", attributes, 0.5, 0, rows,
                    {floats({1}, {0.75}), floats({1}, {1}), floats({1}, {1})}) == "passes");
}

TEST_CASE("onnx: a step of Momentum, both modes, and its first, which takes all of the gradient") {
  const auto momentum = [](const char* mode, double updates, double x, double moment) {
    return stepOutcome("Momentum",
                       {{"alpha", realAttribute(0.5)},
                        {"beta", realAttribute(0.25)},
                        {"norm_coefficient", realAttribute(0)},
                        {"mode", textAttribute(mode)}},
                       0.5, updates, {floats({1}, {3}), floats({1}, {2}), floats({1}, {4})},
                       {floats({1}, {x}), floats({1}, {moment})});
  };
  CHECK(momentum("standard", 1, 1.75, 2.5) == "passes");  // 4 / 2 + 2 / 4 = 2.5; 3 - 2.5 / 2
  CHECK(momentum("nesterov", 1, 1.375, 2.5) == "passes"); // 3 - (2 + 2.5 / 2) / 2
  CHECK(momentum("standard", 0, 1, 4) == "passes");       // 4 / 2 + 2 = 4; 3 - 4 / 2
}

TEST_CASE("onnx: a step of an optimiser without all of its rows is refused") {
  CHECK(stepOutcome("Adagrad", {}, 1, 1, {floats({1}, {2}), floats({1}, {3})}, {}).find("4 operands") !=
        std::string::npos);
}

} // namespace dfc::test
