// space_to_depth beyond the golden files: every kind of window, with small whole numbers for values, so that
// no sum is rounded and every bit must stay; and which convolutions are taken.
#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/layout/pixel_blocks.h"
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/channels_last.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace dfc {
namespace {

struct Layer {
  Dims size, stride, low, high;
  Shape image;
  Dims dilations = {1, 1};
};

std::string nameOf(const Layer& layer) {
  const auto two = [](const Dims& dims) {
    return std::to_string(dims[0]) + " x " + std::to_string(dims[1]) + " ";
  };
  return "size " + two(layer.size) + "stride " + two(layer.stride) + "low " + two(layer.low) + "high " +
         two(layer.high) + "of " + toString(layer.image);
}

// Kernels longer than, as long as and no multiple of the stride; odd sizes; padding of both ends, of one, of
// none; rows that no window reaches; another stride for each axis.
const std::vector<Layer> layers = {
    {{7, 7}, {2, 2}, {3, 3}, {3, 3}, {2, 3, 16, 18}},   {{7, 7}, {2, 2}, {3, 3}, {3, 3}, {2, 3, 17, 15}},
    {{7, 7}, {2, 2}, {2, 2}, {3, 3}, {1, 3, 16, 16}},   {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {2, 3, 16, 16}},
    {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {2, 3, 9, 11}},    {{3, 3}, {2, 2}, {0, 0}, {1, 1}, {2, 3, 12, 12}},
    {{3, 3}, {2, 2}, {0, 0}, {0, 0}, {2, 3, 12, 13}},   {{3, 3}, {2, 2}, {1, 0}, {0, 1}, {1, 1, 8, 8}},
    {{5, 5}, {2, 2}, {2, 2}, {2, 2}, {2, 3, 12, 12}},   {{5, 5}, {3, 3}, {0, 0}, {0, 0}, {2, 3, 17, 16}},
    {{5, 5}, {3, 3}, {2, 2}, {2, 2}, {2, 1, 15, 12}},   {{5, 5}, {3, 3}, {2, 2}, {1, 1}, {2, 3, 13, 14}},
    {{4, 4}, {2, 2}, {1, 1}, {1, 1}, {2, 3, 16, 16}},   {{4, 4}, {4, 4}, {0, 0}, {0, 0}, {2, 3, 16, 16}},
    {{4, 4}, {4, 4}, {0, 0}, {0, 0}, {2, 3, 18, 19}},   {{16, 16}, {16, 16}, {0, 0}, {0, 0}, {1, 3, 32, 48}},
    {{4, 4}, {4, 4}, {2, 2}, {2, 2}, {2, 3, 12, 12}},   {{2, 2}, {2, 2}, {0, 0}, {0, 0}, {2, 3, 7, 6}},
    {{11, 11}, {4, 4}, {2, 2}, {2, 2}, {2, 3, 24, 23}}, {{6, 6}, {4, 4}, {5, 5}, {5, 5}, {1, 3, 8, 9}},
    {{7, 3}, {2, 1}, {3, 1}, {3, 1}, {2, 1, 16, 10}},   {{3, 6}, {2, 3}, {1, 0}, {1, 0}, {2, 3, 12, 15}},
};

// A convolution, both its gradients and an update of its filter. Bytes make the image, where asked for,
// through ops that nothing else reads.
Graph network(const Layer& layer, ElementType element, bool ofBytes) {
  Builder g;
  const Tensor read = g.input("image", {ofBytes ? ElementType::U8 : element, layer.image});
  const Tensor image = ofBytes ? cast(read, element) - 2 : read;
  const Tensor filter =
      g.parameter("filter", {element, {4, layer.image[1], layer.size[0], layer.size[1]}}, zeros());
  const Precision precision = element == ElementType::F32 ? Precision::Tf32 : Precision::Unstated;
  const Tensor y =
      conv2d(image, filter,
             {.strides = layer.stride, .low = layer.low, .high = layer.high, .dilations = layer.dilations}, 1,
             precision);
  const Tensor weight = g.input("weight", y.type());
  const std::vector<Tensor> derivatives = ofBytes ? gradients(reduceSum(y * weight), {filter})
                                                  : gradients(reduceSum(y * weight), {filter, image});
  g.fetch("y", y);
  if (!ofBytes) {
    g.fetch("toImage", derivatives[1]);
  }
  g.assign(filter, filter - derivatives[0]);
  Result<Graph> graph = std::move(g).finish();
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *expandGradients(*graph);
}

NamedLiterals wholeNumbers(NamedLiterals values, uint64_t seed) {
  test::Dice dice(seed);
  for (auto& [name, value] : values) {
    const int64_t least = value.type().element == ElementType::U8 ? 0 : -2;
    for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
      value.set(i, static_cast<double>(least + dice.below(5)));
    }
  }
  return values;
}

size_t convolutionsWithStrides(const Graph& graph) {
  return static_cast<size_t>(std::count_if(graph.ops().begin(), graph.ops().end(), [&](OpId op) {
    const auto call = convolutionCall(graph[op].attributes, graph.operandTypesOf(op));
    return call && call->conv.windows.rows.stride * call->conv.windows.columns.stride > 1;
  }));
}
size_t countOf(const Graph& graph, OpKind kind) { return graph.opsOf(kind).size(); }

void checkSameBits(const Graph& before, const Graph& after) {
  const NamedLiterals feeds = wholeNumbers(test::randomFeeds(before, 1), 2);
  const NamedLiterals state = wholeNumbers(test::randomParameters(before, 1), 3);
  const auto expected = evaluate(before, feeds, state), actual = evaluate(after, feeds, state);
  REQUIRE(expected.ok());
  REQUIRE(actual.ok());
  for (const auto& [name, value] : expected->fetches) {
    INFO("fetch " << name);
    CHECK(test::bitDifference(value, actual->fetches.at(name)) == "");
  }
  for (const auto& [name, value] : expected->parameters) {
    INFO("parameter " << name);
    CHECK(test::bitDifference(value, actual->parameters.at(name)) == "");
  }
}

std::optional<PixelBlocks> blocksOf(int64_t size, int64_t stride, int64_t low, const Shape& image,
                                    Precision precision = Precision::Tf32,
                                    ElementType element = ElementType::F32) {
  ops::Conv2d op;
  op.strides = {stride, stride};
  op.low = op.high = {low, low};
  op.precision = precision;
  const std::array<TensorType, 2> operands = {TensorType{element, image},
                                              TensorType{element, {64, image[1], size, size}}};
  return pixelBlocks(*convolutionCall(op, operands), element);
}

} // namespace

TEST_CASE("space_to_depth: sums of whole numbers keep every bit, whatever the window") {
  for (const Layer& layer : layers) {
    for (const ElementType element : {ElementType::F32, ElementType::BF16, ElementType::F16}) {
      for (const bool ofBytes : {false, true}) {
        INFO(nameOf(layer) << ", " << name(element) << (ofBytes ? ", of bytes" : ""));
        const Graph before = network(layer, element, ofBytes);
        const Graph after = *dropDeadOps(*spaceToDepth(before, test::channelsLast()));
        REQUIRE(render(verifyGraph(after)) == "");
        CHECK(convolutionsWithStrides(after) == 0);
        checkSameBits(before, after);
        Graph whole = after;
        for (const PassRow& pass : allPasses()) {
          whole = *pass.run(whole, test::channelsLast());
        }
        checkSameBits(before, whole);
      }
    }
  }
}

TEST_CASE("space_to_depth: the image is rearranged once, and its transposes meet") {
  const Layer layer = {{7, 7}, {2, 2}, {3, 3}, {3, 3}, {2, 3, 16, 16}};
  Graph graph = network(layer, ElementType::BF16, true);
  for (const auto pass : {spaceToDepth, chooseLayout, simplify, shareCommonOps, dropDeadOps}) {
    graph = *pass(graph, test::channelsLast());
  }
  std::vector<std::string> transposed;
  for (const OpId op : graph.opsOf(OpKind::Transpose)) {
    transposed.push_back(toString(graph.typeOf(graph[op].operands[0])));
  }
  std::sort(transposed.begin(), transposed.end());
  // The two sides of y; the filter and its gradient, of four channels a pixel; the bytes, of three.
  CHECK(transposed == std::vector<std::string>{"bf16[2, 4, 8, 8]", "bf16[2, 8, 8, 4]",
                                               "bf16[4, 4, 4, 2, 4, 2]", "bf16[4, 4, 4, 4, 2, 2]",
                                               "u8[2, 3, 8, 2, 8, 2]"});
}

TEST_CASE("space_to_depth: a filter keeps its form as state") {
  const Layer layer = {{7, 7}, {2, 2}, {3, 3}, {3, 3}, {2, 3, 16, 16}};
  const Graph after = *spaceToDepth(network(layer, ElementType::F32, true), test::channelsLast());
  CHECK(toString(after.typeOf(after.findValue("filter"))) == "f32[4, 3, 7, 7]");
  CHECK(countOf(after, OpKind::Assign) == 1);
}

TEST_CASE("space_to_depth: for machines with GPUs, and not for what is pinned elsewhere") {
  const Layer layer = {{7, 7}, {2, 2}, {3, 3}, {3, 3}, {8, 3, 32, 32}};
  const Graph graph = network(layer, ElementType::F32, true);
  for (const uint32_t gpus : {0U, 1U}) {
    const auto plan = compile(graph, test::smallMachine(gpus), RooflineCostModel());
    REQUIRE(plan.ok());
    CHECK(convolutionsWithStrides(plan->graph()) == (gpus == 0 ? 2 : 0));
  }
  CompileOptions options;
  options.pins = {{"*", "cpu0"}};
  const auto plan = compile(graph, test::smallMachine(1), RooflineCostModel(), options);
  REQUIRE(plan.ok());
  CHECK(convolutionsWithStrides(plan->graph()) == 2);
}

TEST_CASE("space_to_depth: the first layers of well-known networks") {
  const Shape photos = {64, 3, 224, 224};
  const auto narrow = [&](int64_t size, int64_t stride, int64_t low) {
    return blocksOf(size, stride, low, photos, Precision::Unstated, ElementType::BF16);
  };
  // ResNet: 3 of padding are 2 blocks and a zero tap; 2 + 112 + 1 blocks are what 112 windows of 4 hold.
  const auto resnet = blocksOf(7, 2, 3, photos);
  REQUIRE(resnet);
  CHECK(resnet->channels == 12);
  CHECK(resnet->paddedChannels == 12); // groups of 4 in tf32
  CHECK(resnet->rows.windowBlocks == 4);
  CHECK(resnet->rows.frontTaps == 1);
  CHECK(resnet->rows.backTaps == 0);
  CHECK(resnet->rows.lowBlocks == 2);
  CHECK(resnet->rows.highBlocks == 1);
  CHECK(narrow(7, 2, 3)->paddedChannels == 16); // groups of 8 in bf16
  for (const auto& [size, stride, low] :
       {std::array<int64_t, 3>{3, 2, 1}, {11, 4, 2}, {4, 4, 0}, {16, 16, 0}, {7, 4, 3}}) {
    INFO(size << " x " << size << ", stride " << stride);
    CHECK(blocksOf(size, stride, low, photos));
    CHECK(narrow(size, stride, low));
  }
  // On CUDA cores, where no tap is added.
  CHECK(blocksOf(16, 16, 0, photos, Precision::Ieee));
  CHECK_FALSE(blocksOf(7, 2, 3, photos, Precision::Ieee));
  CHECK_FALSE(blocksOf(3, 2, 1, photos, Precision::Ieee));
  // Between layers; windows that leave pixels out; no stride.
  CHECK_FALSE(blocksOf(3, 2, 1, {64, 64, 56, 56}));
  CHECK_FALSE(blocksOf(2, 2, 0, {64, 96, 56, 56}));
  CHECK_FALSE(blocksOf(1, 2, 0, photos));
  CHECK_FALSE(blocksOf(3, 1, 1, photos));
  CHECK_FALSE(blocksOf(4, 4, 0, photos, Precision::Unstated, ElementType::F64));
}

} // namespace dfc
