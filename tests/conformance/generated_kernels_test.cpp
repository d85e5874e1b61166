// The CUDA kernels' text, run on the host, gives what the evaluator gives: every op and type, on the shapes
// that make the generator decide differently, and on the calls of random graphs. Where the processor's
// libm stands in for CUDA's, the same bounds hold.
#include "tests/conformance/agreement.h"
#include "tests/conformance/emulated_kernels.h"

#include "compiler/interpreter/evaluate.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_cases.h"
#include "tests/support/random_graph.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

std::vector<Literal> operandsOf(const OpSample& sample, Dice& dice, Mood mood) {
  std::vector<Literal> operands;
  for (const TensorType& type : sample.operands) {
    operands.push_back(randomLiteral(type, dice, mood));
  }
  const OpKind kind = kindOf(sample.attributes);
  if (kind == OpKind::SoftmaxCrossEntropy || kind == OpKind::SoftmaxCrossEntropyGradient) {
    const int64_t rows = sample.operands[0].shape[0], classes = sample.operands[0].shape[1];
    for (int64_t row = 0; row < rows; ++row) { // one wrong label now and then
      const bool wrong = mood == Mood::Wild && dice.chance(10);
      operands[1].set(row, static_cast<double>(wrong ? classes : dice.below(std::max<int64_t>(classes, 1))));
    }
  }
  if (kind == OpKind::SoftmaxCrossEntropyGradient) { // infinite, it would magnify a probability's last bit
    operands[2] = randomLiteral(sample.operands[2], dice, Mood::Tame);
  }
  if (const auto* gradient =
          sample.attributes.getIf<ops::AttentionGradient>()) { // logSumExp is attention's own
    std::vector<Literal> forward(operands.begin(), operands.begin() + 3);
    forward.insert(forward.end(), operands.begin() + 6, operands.end());
    operands[4] = evaluateOp(gradient->forward, forward)[1];
  }
  if (kind == OpKind::BatchNorm || kind == OpKind::BatchNormGradient ||
      kind == OpKind::BatchNormGradientPass) {
    Literal& variance = operands[kind == OpKind::BatchNorm ? 4 : 3];
    for (int64_t c = 0; c < variance.type().shape.elements(); ++c) {
      variance.set(c, std::fabs(variance.at(c)));
    }
  }
  return operands;
}

// Sums of wild numbers overflow in f32 where the evaluator's double does not, and products of f64 in another
// order.
bool boundedOnly(OpKind kind) {
  switch (kind) {
  case OpKind::ReduceSum:
  case OpKind::ReduceMean:
  case OpKind::ReduceProduct:
  case OpKind::QuantizedMatmul:
  case OpKind::LayerNorm:
  case OpKind::RmsNorm:
  case OpKind::LayerNormGradient:
  case OpKind::RmsNormGradient:
  case OpKind::Fused:
  case OpKind::Conv2d: // and padding may meet an infinite factor
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient:
  case OpKind::MaxPoolGradient:
  case OpKind::AveragePool:
  case OpKind::AveragePoolGradient:
  case OpKind::Attention:
  case OpKind::AttentionGradient:
  case OpKind::BatchNorm:
  case OpKind::BatchNormTraining:
  case OpKind::BatchNormGradient:
  case OpKind::BatchNormPass:
  case OpKind::BatchNormGradientPass:
  case OpKind::BatchNormSums: return true;
  default: return false;
  }
}

// As `disagreement`, and a fused sum is held to the bound of the sum of what its body gives.
std::string wrong(const OpSample& sample, llvm::ArrayRef<Literal> operands, const Literal& expected,
                  const Literal& actual, size_t result) {
  const auto* fused = sample.attributes.getIf<ops::Fused>();
  if (fused == nullptr || fused->reduction == ops::Fused::Reduction::None ||
      fused->reduction == ops::Fused::Reduction::Max) {
    return disagreement(sample.attributes, operands, expected, actual, result);
  }
  ops::Fused body = *fused;
  body.reduction = ops::Fused::Reduction::None;
  body.axes.clear();
  const std::vector<Literal> summed = {evaluateOp(body, operands)[0]};
  if (fused->reduction == ops::Fused::Reduction::Sum) {
    ops::ReduceSum sum;
    sum.axes = fused->axes;
    return disagreement(sum, summed, expected, actual);
  }
  ops::ReduceMean mean;
  mean.axes = fused->axes;
  return disagreement(mean, summed, expected, actual);
}

void check(const std::vector<OpSample>& samples, uint64_t seed) {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  EmulatedKernels kernels;
  std::vector<llvm::SmallVector<TensorType, 1>> results;
  for (const OpSample& sample : samples) {
    results.push_back(resultTypes(sample.attributes, sample.operands).types);
    auto work =
        cuda::generateKernels(sample.attributes, sample.operands, results.back(), GpuShape::assumed());
    REQUIRE(work);
    kernels.add(*std::move(work));
  }
  REQUIRE(kernels.build() == "");
  Dice dice(seed);
  for (size_t i = 0; i < samples.size(); ++i) {
    const OpKind kind = kindOf(samples[i].attributes);
    for (const Mood mood : {Mood::Tame, Mood::Wild}) {
      if (mood == Mood::Wild && boundedOnly(kind)) {
        continue;
      }
      const std::vector<Literal> operands = operandsOf(samples[i], dice, mood);
      const auto expected = evaluateOp(samples[i].attributes, operands);
      std::string problem;
      const std::vector<Literal> actual = kernels.run(i, operands, results[i], problem);
      INFO(describe(samples[i]) << (mood == Mood::Wild ? ", wild" : ""));
      CHECK(problem == "");
      for (size_t r = 0; r < expected.size(); ++r) {
        CHECK(wrong(samples[i], operands, expected[r], actual[r], r) == "");
      }
    }
  }
}

std::vector<OpSample> callsOf(const Graph& graph) {
  std::vector<OpSample> samples;
  for (const OpId op : graph.ops()) {
    OpSample sample{graph[op].attributes, {}};
    for (const ValueId operand : graph[op].operands) {
      sample.operands.push_back(graph.typeOf(operand));
    }
    const TypeResult results = resultTypes(sample.attributes, sample.operands);
    if (results.ok() &&
        cuda::generateKernels(sample.attributes, sample.operands, results.types, GpuShape::assumed())) {
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

/// Every `every`-th of the kernels' cases: another part for each type, as the decisions are the same for all.
std::vector<OpSample> everyCase(ElementType element, size_t every) {
  const std::vector<OpSample> all = kernelCases(element, false);
  std::vector<OpSample> some;
  for (size_t i = static_cast<size_t>(element) % every; i < all.size(); i += every) {
    some.push_back(all[i]);
  }
  return some;
}

} // namespace

TEST_CASE("generated f32 kernels give what the evaluator gives") { check(everyCase(ElementType::F32, 2), 1); }
TEST_CASE("generated f64 kernels give what the evaluator gives") { check(everyCase(ElementType::F64, 4), 2); }
TEST_CASE("generated f16 kernels give what the evaluator gives") { check(everyCase(ElementType::F16, 4), 3); }
TEST_CASE("generated bf16 kernels give what the evaluator gives") {
  check(everyCase(ElementType::BF16, 4), 4);
}
TEST_CASE("generated i32 kernels give what the evaluator gives") { check(everyCase(ElementType::I32, 4), 5); }
TEST_CASE("generated i64 kernels give what the evaluator gives") { check(everyCase(ElementType::I64, 4), 6); }
TEST_CASE("generated u8 kernels give what the evaluator gives") { check(everyCase(ElementType::U8, 4), 7); }
TEST_CASE("generated bool kernels give what the evaluator gives") {
  check(everyCase(ElementType::Bool, 2), 8);
}

TEST_CASE("generated kernels of every case and type give what the evaluator gives", "[heavy]") {
  for (const ElementType element : allElementTypes) {
    check(kernelCases(element, false), 11 + static_cast<uint64_t>(element));
  }
}

TEST_CASE(
    "generated scatterAdd: what was in the workspace before is no index, where some indices name nothing") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  const TensorType to{ElementType::F32, {1500}}, indices{ElementType::I64, {5000}}; // dealt out to ranges
  Literal places(indices), updates({ElementType::F32, {5000}});
  for (int64_t i = 0; i < 5000; ++i) {
    places.set(i, static_cast<double>(i % 3 == 0 ? 1500 + i : i * 7 % 1500));
    updates.set(i, static_cast<double>(i % 11));
  }
  EmulatedKernels kernels;
  const size_t number = kernels.add(
      *cuda::generateKernels(ops::ScatterAdd{}, {to, indices, updates.type()}, {to}, GpuShape::assumed()));
  REQUIRE(kernels.build() == "");
  const std::vector<Literal> operands{Literal(to), places, updates};
  const Literal expected = evaluateOp(ops::ScatterAdd{}, operands)[0];
  for (const uint32_t left : {0U, 1300U, 1499U}) {
    std::string problem;
    CHECK(kernels.run(number, operands, {to}, problem, left)[0] == expected);
    CHECK(problem == "");
  }
}

TEST_CASE("generated cross entropy: a label that names no class makes its row NaN, whatever its bits") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  EmulatedKernels kernels;
  const TensorType scalar{ElementType::F32, {}}, labels{ElementType::I64, {3}};
  // Lanes of a warp, a warp, and a block for each row.
  const std::vector<TensorType> logits = {f32({3, 12}), f32({3, 600}), f32({3, 5000})};
  for (const TensorType& type : logits) {
    kernels.add(
        *cuda::generateKernels(ops::SoftmaxCrossEntropy{}, {type, labels}, {scalar}, GpuShape::assumed()));
    kernels.add(*cuda::generateKernels(ops::SoftmaxCrossEntropyGradient{}, {type, labels, scalar}, {type},
                                       GpuShape::assumed()));
  }
  REQUIRE(kernels.build() == "");
  Dice dice(4);
  for (size_t i = 0; i < logits.size(); ++i) {
    const auto classes = static_cast<double>(logits[i].shape[1]);
    for (const double label : {classes - 1, classes, -1.0, 4294967298.0}) { // the last: 2^32 + 2
      INFO("label " << label << " of " << classes << " classes");
      std::vector<Literal> operands = {randomLiteral(logits[i], dice, Mood::Tame), Literal(labels),
                                       Literal::scalar(1.0F)};
      operands[1].set(1, label);
      std::string problem;
      const Literal gradient = kernels.run(2 * i + 1, operands, {logits[i]}, problem)[0];
      CHECK(disagreement(ops::SoftmaxCrossEntropyGradient{}, operands,
                         evaluateOp(ops::SoftmaxCrossEntropyGradient{}, operands)[0], gradient) == "");
      operands.pop_back();
      const Literal loss = kernels.run(2 * i, operands, {scalar}, problem)[0];
      CHECK(disagreement(ops::SoftmaxCrossEntropy{}, operands,
                         evaluateOp(ops::SoftmaxCrossEntropy{}, operands)[0], loss) == "");
      CHECK(std::isnan(loss.at(0)) == (label != classes - 1));
      CHECK(problem == "");
    }
  }
}

TEST_CASE("generated gradients of norms: many rows for each block, short, long, and longer than registers") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  const GpuShape small{1, GpuShape::assumedThreads, GpuShape::assumedSharedBytes};
  EmulatedKernels kernels;
  std::vector<std::vector<TensorType>> operands, results;
  for (const ElementType element : {ElementType::F32, ElementType::F64, ElementType::BF16}) {
    for (const Shape& shape : {Shape{1, 5}, Shape{1500, 12}, Shape{900, 7}, Shape{77, 300}, Shape{37, 1023},
                               Shape{9, 1500}, Shape{9, 4100}, Shape{5, 8200}, Shape{5, 8193}}) {
      const TensorType type{element, shape}, row{element, {shape[1]}};
      operands.push_back({type, row, type});
      results.push_back({type, row, row});
      kernels.add(*cuda::generateKernels(ops::LayerNormGradient{}, operands.back(), results.back(), small));
    }
  }
  REQUIRE(kernels.build() == "");
  Dice dice(5);
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<Literal> values;
    for (const TensorType& type : operands[i]) {
      values.push_back(randomLiteral(type, dice, Mood::Tame));
    }
    INFO(toString(operands[i][0]));
    std::string problem;
    const std::vector<Literal> actual = kernels.run(i, values, results[i], problem);
    CHECK(problem == "");
    const auto expected = evaluateOp(ops::LayerNormGradient{}, values);
    for (size_t r = 0; r < 3; ++r) {
      CHECK(disagreement(ops::LayerNormGradient{}, values, expected[r], actual[r], r) == "");
    }
  }
}

TEST_CASE("generated softmax of long columns: blocks wait for one another in whatever order they start") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  const ops::Softmax softmax{{}, 1};
  std::vector<TensorType> types;
  EmulatedKernels kernels;
  for (const ElementType element : {ElementType::F32, ElementType::F64, ElementType::F16}) {
    for (const Shape& shape : {Shape{1, 2500, 3}, Shape{2, 9000, 70}}) {
      types.push_back({element, shape});
      auto work = cuda::generateKernels(softmax, {types.back()}, {types.back()}, GpuShape::assumed());
      REQUIRE(work->launches.size() == 2); // else it is no kernel whose blocks wait
      kernels.add(*std::move(work));
    }
  }
  REQUIRE(kernels.build() == "");
  Dice dice(5);
  std::vector<std::vector<Literal>> operands, forwards;
  std::string problem;
  for (size_t i = 0; i < types.size(); ++i) {
    operands.push_back({randomLiteral(types[i], dice, Mood::Tame)});
    forwards.push_back(kernels.run(i, operands[i], {types[i]}, problem));
    CHECK(disagreement(softmax, operands[i], evaluateOp(softmax, operands[i])[0], forwards[i][0]) == "");
  }
  kernels.startBackwards();
  for (size_t i = 0; i < types.size(); ++i) {
    CHECK(kernels.run(i, operands[i], {types[i]}, problem) == forwards[i]);
  }
  CHECK(problem == "");
}

TEST_CASE("generated kernels of large calls give what the evaluator gives", "[heavy]") {
  check(kernelCases(ElementType::F32, true), 9);
}

TEST_CASE("generated kernels of random graphs' calls give what the evaluator gives") {
  std::vector<OpSample> samples;
  for (uint64_t seed = 300; seed < 312; ++seed) {
    for (OpSample& sample : callsOf(randomGraph(seed))) {
      samples.push_back(std::move(sample));
    }
  }
  check(samples, 10);
}
