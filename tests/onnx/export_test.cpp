// exportOnnx, held against our own reader: what a graph computes and what the graph of its model computes
// agree. Runtimes of others: models/check_exports.py.
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/losses.h"
#include "ir/author/onnx/import.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/base/atomic_file.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/op_samples.h"
#include "tests/support/random_graph.h"
#include "tests/support/temporary_folder.h"
#include "tools/library/host_machine.h"
#include "tools/library/onnx.h"
#include "tools/library/open.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

namespace dfc::test {
namespace {

/// Why no model can say an op; "" for all others. No default: a new op does not compile without its line.
std::string whyNotExported(OpKind kind) {
  switch (kind) {
  case OpKind::Input:
  case OpKind::Parameter:
  case OpKind::Constant:
  case OpKind::Assign: return "no node";
  case OpKind::Gradients: return "a request";
  case OpKind::Custom: return "code of the author's";
  case OpKind::Transfer:
  case OpKind::Subview:
  case OpKind::Fused:
  case OpKind::FusedMatmul:
  case OpKind::FusedConv2d:
  case OpKind::BatchNormSums:
  case OpKind::BatchNormPass:
  case OpKind::BatchNormGradientPass: return "made by the compiler";
  case OpKind::Dropout:
  case OpKind::RandomUniform: return "numbers of another generator";
  case OpKind::MaxPoolGradient: return "no formula";
  case OpKind::Matmul:
  case OpKind::Cut:
  case OpKind::StopGradient:
  case OpKind::ReduceSum:
  case OpKind::ReduceMean:
  case OpKind::ReduceMax:
  case OpKind::ReduceMin:
  case OpKind::ReduceProduct:
  case OpKind::CumSum:
  case OpKind::ArgMax:
  case OpKind::TopK:
  case OpKind::Softmax:
  case OpKind::LogSoftmax:
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient:
  case OpKind::QuantizedMatmul:
  case OpKind::LayerNorm:
  case OpKind::RmsNorm:
  case OpKind::LayerNormGradient:
  case OpKind::RmsNormGradient:
  case OpKind::BatchNorm:
  case OpKind::BatchNormTraining:
  case OpKind::BatchNormGradient:
  case OpKind::Attention:
  case OpKind::AttentionGradient:
  case OpKind::Conv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient:
  case OpKind::MaxPool:
  case OpKind::AveragePool:
  case OpKind::AveragePoolGradient:
  case OpKind::Reshape:
  case OpKind::Transpose:
  case OpKind::Broadcast:
  case OpKind::Concat:
  case OpKind::Split:
  case OpKind::Slice:
  case OpKind::DynamicSlice:
  case OpKind::DynamicUpdateSlice:
  case OpKind::Pad:
  case OpKind::Tile:
  case OpKind::Gather:
  case OpKind::ScatterAdd:
  case OpKind::OneHot:
  case OpKind::Iota:
  case OpKind::Trilu:
#define DFC_OP(Type, text)
#define DFC_COMPOSITE_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return "";
  }
  return "";
}

bool near(double got, double wanted, double tolerance) {
  return got == wanted || (std::isnan(got) && std::isnan(wanted)) ||
         std::fabs(got - wanted) <= tolerance * std::fmax(1, std::fabs(wanted));
}

/// "" or the first difference.
std::string difference(const Literal& got, const Literal& wanted, double tolerance) {
  if (got.type() != wanted.type()) {
    return fmt::format("{} instead of {}", toString(got.type()), toString(wanted.type()));
  }
  for (int64_t i = 0; i < wanted.type().shape.elements(); ++i) {
    if (!near(got.at(i), wanted.at(i), isFloat(wanted.type().element) ? tolerance : 0)) {
      return fmt::format("element {} is {} instead of {}", i, got.at(i), wanted.at(i));
    }
  }
  return "";
}

/// The graph that the model of a graph is read as, its weights as constants.
Graph thereAndBack(const Graph& graph, const NamedLiterals& state, uint64_t mostInline = 1 << 20) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.onnx");
  OnnxExportOptions options;
  options.state = state;
  options.mostInline = mostInline;
  exportOnnx(graph, path, options).orThrow();
  onnx::ImportSettings settings;
  settings.evaluate = evaluateOp;
  return onnx::importFile(path, settings).orThrow();
}

/// "" where both compute the same.
std::string roundTrip(const Graph& graph, const NamedLiterals& feeds, double tolerance,
                      uint64_t mostInline = 1 << 20) {
  const Graph whole = expandGradients(graph).orThrow();
  const NamedLiterals state = randomParameters(whole, 7);
  const Evaluation wanted = evaluate(whole, feeds, state).orThrow();
  const Evaluation got = evaluate(thereAndBack(graph, state, mostInline), feeds).orThrow();
  for (const auto& [name, value] : wanted.fetches) {
    if (const std::string wrong = difference(got.fetches.at(name), value, tolerance); !wrong.empty()) {
      return name + ": " + wrong;
    }
  }
  for (const OpId op : whole.opsOf(OpKind::Assign)) {
    const std::string name(whole.nameOf(whole[op].operands[0]));
    if (const std::string wrong =
            difference(got.fetches.at(name + ".next"), wanted.parameters.at(name), tolerance);
        !wrong.empty()) {
      return name + ".next: " + wrong;
    }
  }
  return "";
}

/// Feeds of which every integer is 0 or 1, an index that all tables have.
NamedLiterals indexFeeds(const Graph& graph) {
  NamedLiterals feeds = randomFeeds(graph, 3);
  for (auto& [name, value] : feeds) {
    for (int64_t i = 0; isInteger(value.type().element) && i < value.type().shape.elements(); ++i) {
      value.set(i, static_cast<double>(static_cast<int64_t>(value.at(i)) & 1));
    }
  }
  return feeds;
}

Graph graphOf(const OpSample& sample) {
  Builder builder("one");
  std::vector<Tensor> operands;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    operands.push_back(builder.input(fmt::format("x{}", i), sample.operands[i]));
  }
  const std::vector<Tensor> results =
      builder.multiOp(sample.attributes, operands, std::source_location::current());
  for (size_t i = 0; i < results.size(); ++i) {
    builder.fetch(fmt::format("y{}", i), results[i]);
  }
  return std::move(builder).finish().orThrow();
}

std::string said(const Status& status) { return status ? "" : status.errors().at(0).message; }

} // namespace

TEST_CASE("onnx out: every op, there and back") {
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (!whyNotExported(kind).empty()) {
      continue;
    }
    CAPTURE(nameOf(kind));
    for (const auto& [element, tolerance] :
         {std::pair(ElementType::F32, 1e-5), std::pair(ElementType::BF16, 0.06)}) {
      const Graph graph = graphOf(sampleOf(kind, element));
      CHECK(roundTrip(graph, indexFeeds(graph), tolerance) == "");
    }
  }
}

namespace {

void checkRandomGraphs(uint64_t first, uint64_t last) {
  RandomGraphOptions options;
  options.ops = 25;
  options.elements = {ElementType::F64, ElementType::I64, ElementType::I32, ElementType::U8,
                      ElementType::Bool};
  for (const OpKind kind : computingKinds()) {
    const bool tellsZeros = kind == OpKind::Rsqrt || kind == OpKind::Reciprocal; // -0 from 0
    const bool open = kind == OpKind::SoftmaxCrossEntropy; // labels out of range, as the ones here are
    if (whyNotExported(kind).empty() && !tellsZeros && !open) {
      options.kinds.push_back(kind);
    }
  }
  for (uint64_t seed = first; seed <= last; ++seed) {
    CAPTURE(seed);
    const Graph graph = randomGraph(seed, options);
    CHECK(roundTrip(graph, randomFeeds(graph, seed), 1e-6) == "");
  }
}

} // namespace

TEST_CASE("onnx out: random graphs, there and back") { checkRandomGraphs(1, 12); }
TEST_CASE("onnx out: many random graphs, there and back", "[heavy]") { checkRandomGraphs(13, 400); }

TEST_CASE("onnx out: losses and their gradients, there and back") {
  Builder g("losses");
  const Tensor x = g.input("x", f32({4, 5})), y = g.input("y", f32({4, 5}));
  const Tensor labels = g.input("labels", {ElementType::I64, {4}}),
               hits = g.input("hits", {ElementType::Bool, {4, 5}});
  std::vector<Tensor> losses = {cosineSimilarity(x, y), contrastiveLoss(x, y), smoothL1Loss(x, y, 0)};
  for (const auto reduction : {LossReduction::Mean, LossReduction::Sum, LossReduction::None}) {
    for (const Tensor& loss :
         {squaredError(x, y, reduction), absoluteError(x, y, reduction), huberLoss(x, y, 0.7, reduction),
          smoothL1Loss(x, y, 0.7, reduction), sigmoidCrossEntropy(x, hits, reduction, 2),
          klDivergence(logSoftmax(x), softmax(y), reduction),
          softmaxCrossEntropy(x, softmax(y), {.smoothing = 0.1, .reduction = reduction}),
          softmaxCrossEntropy(x, labels, {.ignored = -100, .reduction = reduction}),
          softmaxCrossEntropy(x, labels, {.smoothing = 0.1, .ignored = -100, .reduction = reduction})}) {
      losses.push_back(loss);
    }
  }
  Tensor sum = g.scalar(ElementType::F32, 0);
  for (size_t i = 0; i < losses.size(); ++i) {
    g.fetch(fmt::format("loss{}", i), losses[i]);
    sum = sum + reduceSum(losses[i]);
  }
  g.fetch("gradient", gradients(sum, {x})[0]);
  const Graph graph = std::move(g).finish().orThrow();
  NamedLiterals feeds = randomFeeds(graph, 5);
  feeds["labels"] = Literal::of<int64_t>({4}, {1, 4, -100, 0});
  CHECK(roundTrip(graph, feeds, 1e-5) == "");
}

TEST_CASE("onnx out: the graphs of the lessons, there and back") {
  for (const std::string file : {"02_train_mlp/mlp_eval.dfg", "02_train_mlp/mlp.dfg"}) {
    CAPTURE(file);
    const Graph graph =
        parseGraph(readTextFile(shippedFile("samples/" + file), 1 << 20).orThrow(), file).orThrow();
    const Graph whole = expandGradients(graph).orThrow();
    const NamedLiterals feeds = indexFeeds(graph), state = randomParameters(whole, 7);
    const auto session = open(whole, estimatedHost()).orThrow();
    session->setState(state).orThrow();
    const NamedLiterals wanted = session->run(feeds).orThrow();
    const NamedLiterals got =
        open(thereAndBack(graph, state), estimatedHost()).orThrow()->run(feeds).orThrow();
    for (const auto& [name, value] : wanted) {
      CHECK(difference(got.at(name), value, 1e-4) == "");
    }
    for (const Session::Parameter& parameter : session->parameters()) {
      if (parameter.assigned) {
        CHECK(difference(got.at(parameter.name + ".next"), session->state().at(parameter.name), 1e-4) == "");
      }
    }
  }
}

TEST_CASE("onnx out: large weights lie in a second file, small ones in the model") {
  Builder builder("net");
  const Tensor x = builder.input("x", f32({2, 40}));
  const Tensor w = builder.parameter("w", f32({40, 30}), glorot(1)), b = builder.parameter("b", f32({30}));
  const Tensor v = builder.parameter("v", f32({30, 20}), glorot(2));
  builder.fetch("y", matmul(gelu(matmul(x, w) + b), v));
  const Graph graph = std::move(builder).finish().orThrow();
  CHECK(roundTrip(graph, randomFeeds(graph, 1), 1e-5, 0) == "");
  const TemporaryFolder folder;
  exportOnnx(graph, folder.file("m.onnx"), {.mostInline = 0}).orThrow();
  // w has 4800 bytes, v behind the padding to 8192 has 2400.
  CHECK(std::filesystem::file_size(folder.file("m.onnx.data")) == 8192 + 2400);
  CHECK(std::filesystem::file_size(folder.file("m.onnx")) < 2000);
}

TEST_CASE("onnx out: names of inputs and outputs are the graph's") {
  Builder builder("names");
  const Tensor x = builder.input("x", f32({2}));
  const Tensor w = builder.parameter("w", f32({2}), constantInit(3));
  const Tensor y = relu(x);
  builder.fetch("y", y);
  builder.fetch("again", y);
  builder.fetch("x", x);
  builder.fetch("weights", w);
  builder.fetch("constant", builder.constant(Literal::of<float>({1}, {5})));
  builder.assign(w, w + y);
  const Graph graph = std::move(builder).finish().orThrow();
  CHECK(roundTrip(graph, randomFeeds(graph, 1), 0) == "");
}

TEST_CASE("onnx out: what ONNX cannot say is one message with all places") {
  Builder builder("refused");
  const Tensor x = builder.input("x", f32({2, 4}));
  const Tensor a = dropout(x, builder.step(), 0.5).named("a"), b = dropout(a, builder.step(), 0.5).named("b");
  builder.fetch("y", b + randomUniform(builder.step(), f32({2, 4})).named("noise"));
  const Graph graph = std::move(builder).finish().orThrow();
  const TemporaryFolder folder;
  const std::string message = said(exportOnnx(graph, folder.file("m.onnx")));
  CHECK(message.starts_with("ops that cannot be said in ONNX: dropout (which elements it drops"));
  CHECK(message.find("'a' (line") != std::string::npos);
  CHECK(message.find("'b' (line") != std::string::npos);
  CHECK(message.find("; randomUniform (") != std::string::npos);
  CHECK(!std::filesystem::exists(folder.file("m.onnx")));
}

TEST_CASE("onnx out: values that fit no parameter, and one name for two values") {
  Builder builder("g");
  const Tensor x = builder.input("x", f32({2})), w = builder.parameter("weight", f32({2}));
  builder.fetch("y", x + w);
  builder.fetch("x", x * w);
  const Graph graph = std::move(builder).finish().orThrow();
  const TemporaryFolder folder;
  const std::string path = folder.file("m.onnx");
  CHECK(said(exportOnnx(graph, path)) == "'x' is the name of two inputs or outputs");
  OnnxExportOptions options;
  options.state = {{"wieght", Literal(f32({2}))}};
  CHECK(said(exportOnnx(graph, path, options)) == "the graph has no parameter 'wieght'");
  options.state = {{"weight", Literal(f32({3}))}};
  CHECK(said(exportOnnx(graph, path, options)) == "parameter 'weight' is f32[2], but its value is f32[3]");
}

} // namespace dfc::test
