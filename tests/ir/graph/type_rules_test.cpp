// What the type rules refuse, to the letter, and the shapes that they give.
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <limits>

using namespace dfc;

namespace {

using Types = std::vector<TensorType>;

TensorType boolean(Shape shape) { return {ElementType::Bool, shape}; }

std::string errorOf(const OpAttributes& attributes, const Types& operands) {
  const TypeResult result = resultTypes(attributes, operands);
  CHECK(result.ok() == result.hint.empty());
  return result.error;
}

std::string hintOf(const OpAttributes& attributes, const Types& operands) {
  return resultTypes(attributes, operands).hint;
}

TensorType typeOf(const OpAttributes& attributes, const Types& operands) {
  const TypeResult result = resultTypes(attributes, operands);
  INFO(result.error);
  REQUIRE(result.ok());
  return result.types.front();
}

ops::Matmul matmul(bool transposeA, bool transposeB) {
  ops::Matmul op;
  op.transposeA = transposeA;
  op.transposeB = transposeB;
  return op;
}

template <class Op>
Op over(const Dims& axes, bool keepDims = false) {
  Op op;
  op.axes = axes;
  op.keepDims = keepDims;
  return op;
}

template <class Op>
Op along(int64_t axis) {
  Op op;
  op.axis = axis;
  return op;
}

template <class Op>
Op shaped(const Dims& shape) {
  Op op;
  op.shape = shape;
  return op;
}

ops::Slice slice(Dims starts, Dims ends, Dims strides = {}) {
  ops::Slice op;
  op.starts = std::move(starts);
  op.ends = std::move(ends);
  op.strides = std::move(strides);
  return op;
}

ops::Pad pad(Dims low, Dims high, Dims interior = {}, double value = 0) {
  ops::Pad op;
  op.low = std::move(low);
  op.high = std::move(high);
  op.interior = std::move(interior);
  op.value = value;
  return op;
}

ops::Parameter parameter(const TensorType& type, ops::Parameter::Initialiser initialiser, double a = 0,
                         double b = 0, std::string file = "") {
  ops::Parameter op;
  op.type = type;
  op.initialiser = initialiser;
  op.a = a;
  op.b = b;
  op.file = std::move(file);
  return op;
}

} // namespace

TEST_CASE("types: elementwise ops broadcast as NumPy does") {
  CHECK(typeOf(ops::Add{}, {f32({2, 1, 3}), f32({4, 1})}) == f32({2, 4, 3}));
  CHECK(typeOf(ops::Mul{}, {f32({}), f32({5})}) == f32({5}));
  CHECK(typeOf(ops::Sub{}, {f32({0, 3}), f32({1, 3})}) == f32({0, 3}));
  CHECK(typeOf(ops::Select{}, {boolean({2, 1}), i32({3}), i32({})}) == i32({2, 3}));
  CHECK(typeOf(ops::Compare{}, {i64({2}), i64({2})}) == boolean({2}));
  CHECK(errorOf(ops::Add{}, {f32({0, 3}), f32({2, 3})}) ==
        "add of f32[0, 3] and f32[2, 3]: dimension 0 of [0, 3] meets 2 of [2, 3]");
  CHECK(errorOf(ops::Select{}, {boolean({2}), f32({1}), f32({3})}) ==
        "select of bool[2], f32[1] and f32[3]: dimension 2 of [2] meets 3 of [3]");
  CHECK(hintOf(ops::Add{}, {f32({2}), f32({3})}) == "broadcasting aligns the last axes, and only a dimension "
                                                    "of 1 stretches; reshape or transpose an operand");
}

TEST_CASE("types: a broadcast that is too large is refused, not computed") {
  const int64_t huge = int64_t(1) << 40;
  CHECK(errorOf(ops::Add{}, {f32({huge, 1}), f32({1, huge})}) ==
        "add of f32[1099511627776, 1] and f32[1, 1099511627776]: the shape that they broadcast to is too "
        "large");
  CHECK(errorOf(matmul(false, false), {f32({huge, 1}), f32({1, huge})}) ==
        "matmul of f32[1099511627776, 1] and f32[1, 1099511627776]: no tensor may have the shape of the "
        "result");
}

TEST_CASE("types: element types") {
  CHECK(errorOf(ops::Add{}, {f32({2}), i32({2})}) == "add of f32[2] and i32[2]: f32 meets i32");
  CHECK(hintOf(ops::Add{}, {f32({2}), i32({2})}) ==
        "cast one operand to the other's element type, for example to f32");
  CHECK(errorOf(ops::Mul{}, {boolean({2}), boolean({2})}) ==
        "mul of bool[2] and bool[2]: mul takes numbers, not bool");
  CHECK(errorOf(ops::Exp{}, {i32({3})}) == "exp of i32[3]: exp takes f32, f64, f16 or bf16");
  CHECK(hintOf(ops::Exp{}, {i32({3})}) == "cast to a float type first");
  CHECK(errorOf(ops::Select{}, {f32({2}), f32({2}), f32({2})}) ==
        "select of f32[2], f32[2] and f32[2]: the condition is f32, not bool");
  CHECK(errorOf(ops::Select{}, {boolean({2}), f32({2}), f64({2})}) ==
        "select of bool[2], f32[2] and f64[2]: f32 meets f64");
  CHECK(typeOf(ops::Relu{}, {i32({3})}) == i32({3}));
}

TEST_CASE("types: matmul") {
  CHECK(typeOf(matmul(false, false), {f32({64, 784}), f32({784, 256})}) == f32({64, 256}));
  CHECK(typeOf(matmul(true, false), {f32({784, 64}), f32({784, 256})}) == f32({64, 256}));
  CHECK(typeOf(matmul(true, true), {f32({784, 64}), f32({256, 784})}) == f32({64, 256}));
  CHECK(typeOf(matmul(false, false), {f32({7, 1, 2, 3}), f32({5, 3, 4})}) == f32({7, 5, 2, 4}));
  CHECK(typeOf(matmul(false, false), {f32({2, 0}), f32({0, 4})}) == f32({2, 4}));
  CHECK(errorOf(matmul(false, false), {f32({64, 784}), f32({785, 256})}) ==
        "matmul of f32[64, 784] and f32[785, 256]: 784 columns meet 785 rows");
  CHECK(errorOf(matmul(true, false), {f32({64, 784}), f32({784, 256})}) ==
        "matmul of f32[64, 784] transposed and f32[784, 256]: 64 columns meet 784 rows");
  CHECK(errorOf(matmul(false, false), {f32({784}), f32({784, 256})}) ==
        "matmul of f32[784] and f32[784, 256]: both operands need rows and columns");
  CHECK(errorOf(matmul(false, false), {f32({2, 3, 4}), f32({3, 4, 5})}) ==
        "matmul of f32[2, 3, 4] and f32[3, 4, 5]: the batch axes [2] and [3] do not broadcast");
  CHECK(errorOf(matmul(false, false), {f32({2, 3}), f64({3, 2})}) ==
        "matmul of f32[2, 3] and f64[3, 2]: f32 meets f64");
}

TEST_CASE("types: reductions") {
  CHECK(typeOf(over<ops::ReduceSum>({}), {f32({2, 3})}) == f32({}));
  CHECK(typeOf(over<ops::ReduceSum>({-1, 0}, true), {f32({2, 3, 4})}) == f32({1, 3, 1}));
  CHECK(typeOf(over<ops::ReduceSum>({1}), {f32({2, 0})}) == f32({2}));
  CHECK(typeOf(over<ops::ReduceMax>({0}), {i32({2, 3})}) == i32({3}));
  CHECK(typeOf(over<ops::ReduceSum>({}), {f32({})}) == f32({}));
  CHECK(typeOf(along<ops::ArgMax>(-2), {f32({2, 3})}) == i64({3}));
  CHECK(errorOf(over<ops::ReduceSum>({2}), {f32({2, 3})}) == "reduceSum of f32[2, 3]: there is no axis 2");
  CHECK(hintOf(over<ops::ReduceSum>({2}), {f32({2, 3})}) == "give an axis from -2 to 1");
  CHECK(hintOf(along<ops::ArgMax>(0), {f32({})}) == "a scalar has no axes; reshape it to [1]");
  CHECK(errorOf(over<ops::ReduceSum>({0, -2}), {f32({2, 3})}) ==
        "reduceSum of f32[2, 3]: an axis is named twice");
  CHECK(errorOf(over<ops::ReduceMean>({1}), {f32({2, 0})}) == "reduceMean of f32[2, 0]: axis 1 has length 0");
  CHECK(errorOf(over<ops::ReduceMax>({}), {f32({2, 0})}) == "reduceMax of f32[2, 0]: axis 1 has length 0");
  CHECK(errorOf(over<ops::ReduceMean>({}), {i32({2})}) ==
        "reduceMean of i32[2]: reduceMean takes f32, f64, f16 or bf16");
  CHECK(errorOf(along<ops::Softmax>(1), {f32({3})}) == "softmax of f32[3]: there is no axis 1");
}

TEST_CASE("types: softmaxCrossEntropy and its gradient") {
  const ops::SoftmaxCrossEntropy loss;
  CHECK(typeOf(loss, {f32({64, 10}), i64({64})}) == f32({}));
  CHECK(errorOf(loss, {f32({64, 10}), i64({32})}) ==
        "softmaxCrossEntropy of f32[64, 10] and i64[32]: 64 rows of logits meet 32 labels");
  CHECK(errorOf(loss, {f32({64}), i64({64})}) ==
        "softmaxCrossEntropy of f32[64] and i64[64]: the logits are no matrix of a float type");
  CHECK(errorOf(loss, {f32({64, 10}), f32({64, 10})}) ==
        "softmaxCrossEntropy of f32[64, 10] and f32[64, 10]: the labels are no vector of i32 or i64");
  CHECK(errorOf(loss, {f32({0, 10}), i64({0})}) ==
        "softmaxCrossEntropy of f32[0, 10] and i64[0]: no rows or no classes");
  CHECK(errorOf(ops::SoftmaxCrossEntropyGradient{}, {f32({2, 3}), i64({2}), f64({})}) ==
        "softmaxCrossEntropyGradient of f32[2, 3], i64[2] and f64[]: "
        "the cotangent is no scalar of the type of the logits");
}

TEST_CASE("types: softmaxCrossEntropy of 16-bit logits with an f32 loss") {
  ops::SoftmaxCrossEntropy loss;
  const ops::SoftmaxCrossEntropyGradient gradient;
  for (const ElementType element : {ElementType::F16, ElementType::BF16}) {
    const TensorType logits{element, {64, 10}}, scalar{element, {}};
    loss.loss = LossType::Unstated;
    CHECK(typeOf(loss, {logits, i64({64})}) == scalar);
    loss.loss = LossType::F32;
    CHECK(typeOf(loss, {logits, i64({64})}) == f32({}));
    CHECK(typeOf(gradient, {logits, i64({64}), scalar}) == logits);
    CHECK(typeOf(gradient, {logits, i64({64}), f32({})}) == logits);
  }
  CHECK(typeOf(loss, {f32({64, 10}), i64({64})}) == f32({}));
  CHECK(errorOf(loss, {f64({64, 10}), i64({64})}) ==
        "softmaxCrossEntropy of f64[64, 10] and i64[64]: the loss of f64 logits is f64");
  CHECK(errorOf(gradient, {{ElementType::F16, {2, 3}}, i64({2}), f64({})}) ==
        "softmaxCrossEntropyGradient of f16[2, 3], i64[2] and f64[]: "
        "the cotangent is no scalar of the type of the logits or of f32");
  CHECK(errorOf(gradient, {f64({2, 3}), i64({2}), f32({})}) ==
        "softmaxCrossEntropyGradient of f64[2, 3], i64[2] and f32[]: "
        "the cotangent is no scalar of the type of the logits");
}

TEST_CASE("types: reshape, cut, subview, transpose, broadcast") {
  CHECK(typeOf(shaped<ops::Reshape>({-1, 4}), {f32({2, 3, 4})}) == f32({6, 4}));
  CHECK(typeOf(shaped<ops::Reshape>({0, 7}), {f32({3, 0})}) == f32({0, 7}));
  CHECK(typeOf(shaped<ops::Reshape>({}), {f32({1, 1})}) == f32({}));
  CHECK(errorOf(shaped<ops::Reshape>({4}), {f32({2, 3})}) ==
        "reshape of f32[2, 3] to [4]: the shape does not hold 6 elements");
  CHECK(errorOf(shaped<ops::Reshape>({-1, -1}), {f32({4})}) ==
        "reshape of f32[4] to [-1, -1]: the shape does not hold 4 elements");
  CHECK(errorOf(shaped<ops::Reshape>({0, -1}), {f32({0})}) ==
        "reshape of f32[0] to [0, -1]: the shape does not hold 0 elements");
  const int64_t huge = std::numeric_limits<int64_t>::max();
  CHECK_FALSE(errorOf(shaped<ops::Reshape>({huge, huge, -1}), {f32({4})}).empty());

  ops::Cut cut;
  cut.axis = -2;
  CHECK(errorOf(cut, {f32({2, 3})}) == "cut of f32[2, 3]: devices is empty");
  cut.devices = "gpu*";
  CHECK(typeOf(cut, {i32({2, 3})}) == i32({2, 3}));
  CHECK(errorOf(cut, {f32({3})}) == "cut of f32[3]: there is no axis -2");
  CHECK(errorOf(cut, {f32({})}) == "cut of f32[]: there is no axis -2");

  ops::Subview part;
  part.start = 64, part.shape = {2, 32};
  CHECK(typeOf(part, {f32({4, 32})}) == f32({2, 32}));
  CHECK(errorOf(part, {f32({3, 32})}) ==
        "subview of f32[3, 32]: 64 elements from element 64 are not among its 96");
  part.shape = {std::numeric_limits<int64_t>::max(), 4};
  CHECK(errorOf(part, {f32({4})}) ==
        "subview of f32[4]: too many elements from element 64 are not among its 4");
  part.start = std::numeric_limits<int64_t>::max(), part.shape = {0};
  CHECK(errorOf(part, {f32({4})}).find("are not among its 4") != std::string::npos);
  part.start = -64, part.shape = {1};
  CHECK(errorOf(part, {f32({4})}) == "subview of f32[4]: 1 elements from element -64 are not among its 4");
  part.start = 8;
  CHECK(errorOf(part, {f32({64})}) == "subview of f32[64]: element 8 is 32 bytes behind the first");

  ops::Transpose transpose;
  CHECK(typeOf(transpose, {f32({2, 3, 4})}) == f32({4, 3, 2}));
  transpose.permutation = {1, 0, 2};
  CHECK(typeOf(transpose, {f32({2, 3, 4})}) == f32({3, 2, 4}));
  transpose.permutation = {1, 1, 2};
  CHECK(errorOf(transpose, {f32({2, 3, 4})}) ==
        "transpose of f32[2, 3, 4]: [1, 1, 2] is no permutation of its axes");

  CHECK(typeOf(shaped<ops::Broadcast>({2, 3}), {f32({3})}) == f32({2, 3}));
  CHECK(typeOf(shaped<ops::Broadcast>({0, 3}), {f32({1, 3})}) == f32({0, 3}));
  CHECK(errorOf(shaped<ops::Broadcast>({3}), {f32({2, 3})}) ==
        "broadcast of f32[2, 3] to [3]: it does not stretch to that");
  CHECK_FALSE(errorOf(shaped<ops::Broadcast>({1, 1, 1, 1, 1, 1, 1, 1, 1}), {f32({1})}).empty());
  CHECK_FALSE(errorOf(shaped<ops::Broadcast>({-1}), {f32({1})}).empty());
}

TEST_CASE("types: concat, slice, pad") {
  CHECK(typeOf(along<ops::Concat>(-1), {f32({2, 3}), f32({2, 0}), f32({2, 4})}) == f32({2, 7}));
  CHECK(errorOf(along<ops::Concat>(0), {f32({2, 3}), f32({2, 4})}) ==
        "concat of f32[2, 3] and f32[2, 4]: [2, 3] and [2, 4] differ beside axis 0");
  CHECK(errorOf(along<ops::Concat>(0), {f32({2}), f32({2, 1})}) ==
        "concat of f32[2] and f32[2, 1]: [2] and [2, 1] differ beside axis 0");
  CHECK(errorOf(along<ops::Concat>(0), {f32({})}) == "concat of f32[]: there is no axis 0");

  const int64_t half = int64_t(1) << 59; // twice as many are one too many
  CHECK(errorOf(along<ops::Concat>(0), {f32({half}), f32({half})}) ==
        "concat of f32[576460752303423488] and f32[576460752303423488]: no tensor may have the shape of the "
        "result");
  CHECK(hintOf(along<ops::Concat>(0), {f32({half}), f32({half})}) ==
        "a tensor has at most 8 axes, none of them negative, and fewer than 2^60 elements");
  CHECK(typeOf(along<ops::Concat>(0), {f32({half}), f32({half - 1})}) == f32({2 * half - 1}));

  // From 1 below 6 in strides of 2: elements 1, 3, 5.
  CHECK(typeOf(slice({1}, {6}, {2}), {f32({7})}) == f32({3}));
  CHECK(typeOf(slice({7}, {7}), {f32({7})}) == f32({0}));
  CHECK(errorOf(slice({1}, {8}), {f32({7})}) ==
        "slice of f32[7]: from 1 to 8 in strides of 1 on axis 0, which has length 7");
  CHECK(errorOf(slice({1}, {6}, {0}), {f32({7})}) ==
        "slice of f32[7]: from 1 to 6 in strides of 0 on axis 0, which has length 7");
  CHECK(errorOf(slice({1}, {6, 7}), {f32({7})}) ==
        "slice of f32[7]: 1 starts, 2 ends and 0 strides for 1 axes");

  // 1 before, 3 elements with 2 between each two, 4 after: 1 + 3 + 2 * 2 + 4.
  CHECK(typeOf(pad({1}, {4}, {2}), {f32({3})}) == f32({12}));
  CHECK(typeOf(pad({1}, {4}, {2}), {f32({0})}) == f32({5}));
  CHECK(errorOf(pad({-1}, {0}), {f32({3})}) == "pad of f32[3]: negative padding");
  CHECK(errorOf(pad({1}, {0}, {}, 0.5), {i32({3})}) == "pad of i32[3]: i32 cannot hold 0.5");
  const int64_t huge = std::numeric_limits<int64_t>::max();
  CHECK(errorOf(pad({huge}, {huge}), {f32({3})}) ==
        "pad of f32[3]: no tensor may have the shape of the result");
}

TEST_CASE("types: parameters and how they start") {
  using Start = ops::Parameter::Initialiser;
  CHECK(typeOf(parameter(f32({784, 256}), Start::Glorot), {}) == f32({784, 256}));
  CHECK(typeOf(parameter(i64({2}), Start::Constant, 7), {}) == i64({2}));
  CHECK(typeOf(parameter(f32({2}), Start::Normal, 0, 0), {}) == f32({2}));
  CHECK(errorOf(parameter(f32({784}), Start::Glorot), {}) ==
        "parameter of f32[784]: glorot needs the fan in and fan out of at least 2 axes");
  CHECK(typeOf(parameter(f32({8, 3, 5, 5}), Start::HeNormal), {}) == f32({8, 3, 5, 5}));
  CHECK(errorOf(parameter(f32({784}), Start::HeNormal), {}) ==
        "parameter of f32[784]: heNormal needs the fan in and fan out of at least 2 axes");
  CHECK(errorOf(parameter(i32({2, 2}), Start::HeUniform), {}) ==
        "parameter of i32[2, 2]: heUniform draws floats");
  CHECK(errorOf(parameter(i32({2}), Start::Uniform, 0, 1), {}) ==
        "parameter of i32[2]: uniform draws floats");
  CHECK(errorOf(parameter(f32({2}), Start::Uniform, 1, 1), {}) ==
        "parameter of f32[2]: uniform in [1, 1) holds no number");
  CHECK(errorOf(parameter(f32({2}), Start::Normal, 0, -1), {}) ==
        "parameter of f32[2]: normal with mean 0 and deviation -1");
  CHECK(errorOf(parameter(i32({2}), Start::Constant, 0.5), {}) == "parameter of i32[2]: i32 cannot hold 0.5");
  CHECK(errorOf(parameter(f32({2}), Start::File), {}) ==
        "parameter of f32[2]: it starts from a file, but none is named");
  CHECK(errorOf(parameter(f32({2}), Start::Zeros, 0, 0, "w.npy"), {}) ==
        "parameter of f32[2]: a file is named, but it starts with zeros");
  CHECK(errorOf(parameter(f32({2}), static_cast<Start>(9)), {}) ==
        "parameter of f32[2]: unknown initialiser");
}

TEST_CASE("types: assign and gradient requests") {
  CHECK(typeOf(ops::Assign{}, {f32({2}), f32({2})}) == f32({2}));
  CHECK(errorOf(ops::Assign{}, {f32({2}), f32({1})}) == "assign of f32[1] to a parameter of f32[2]");
  CHECK(errorOf(ops::Gradients{}, {f32({2}), f32({2})}) ==
        "gradients of f32[2]: the loss is no scalar of a float type");
  CHECK(errorOf(ops::Gradients{}, {f32({}), i32({2})}) ==
        "gradients for i32[2]: only float tensors have gradients");
}

TEST_CASE("costs: counted by hand") {
  const auto cost = [](const OpAttributes& attributes, const Types& operands) {
    return costOf(attributes, operands, resultTypes(attributes, operands).types);
  };
  // 2 * 64 * 784 * 256 operations; (64 * 784 + 784 * 256 + 64 * 256) * 4 bytes.
  CHECK(cost(matmul(false, false), {f32({64, 784}), f32({784, 256})}).flops == 25690112);
  CHECK(cost(matmul(false, false), {f32({64, 784}), f32({784, 256})}).bytes == 1069056);
  CHECK(cost(ops::Add{}, {f32({2, 3}), f32({3})}).flops == 6);
  CHECK(cost(ops::Add{}, {f32({2, 3}), f32({3})}).bytes == (6 + 3 + 6) * 4);
  CHECK(cost(ops::Exp{}, {f64({10})}).flops == 80);
  CHECK(cost(over<ops::ReduceSum>({0}), {f32({8, 4})}).flops == 32);
  CHECK(cost(slice({0}, {2}), {f32({1000})}).bytes ==
        2 * 2 * 4); // reads what it writes, not the whole operand
  CHECK(cost(shaped<ops::Reshape>({6}), {f32({2, 3})}).bytes == 0);
  CHECK(cost(ops::Cut{}, {f32({2, 3})}).bytes == 0);
}

TEST_CASE("type rules: attention refuses shapes, masks and scales that do not fit") {
  const auto error = [](const Types& operands, ops::Attention op = {}) { return errorOf(op, operands); };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(error({f32({4, 8}), f32({5, 8}), f32({5, 3})}).empty());
  CHECK(has(error({f32({8}), f32({8}), f32({8})}), "q has fewer than 2 axes"));
  CHECK(has(error({f32({2, 4, 8}), f32({5, 8}), f32({5, 3})}), "different numbers of axes"));
  CHECK(has(error({f32({4, 8}), f32({5, 9}), f32({5, 3})}), "q has width 8, k 9"));
  CHECK(has(error({f32({4, 8}), f32({5, 8}), f32({6, 3})}), "5 keys have 6 values"));
  CHECK(has(error({f32({6, 4, 8}), f32({4, 5, 8}), f32({4, 5, 3})}), "6 heads of q, 4 of k and 4 of v"));
  CHECK(has(error({f32({6, 4, 8}), f32({3, 5, 8}), f32({2, 5, 3})}), "6 heads of q, 3 of k and 2 of v"));
  CHECK(has(error({f32({2, 1, 4, 8}), f32({3, 1, 5, 8}), f32({3, 1, 5, 3})}), "the batch axes differ"));
  CHECK(has(error({f32({4, 8}), f64({5, 8}), f32({5, 3})}), "attention of f32[4, 8]"));
  CHECK(has(error({i32({4, 8}), i32({5, 8}), i32({5, 3})}), "attention of i32[4, 8]"));
  CHECK(has(error({f32({4, 8}), f32({5, 8}), f32({5, 3}), f32({4, 5})}), "the mask is f32[4, 5]"));
  CHECK(has(error({f32({4, 8}), f32({5, 8}), f32({5, 3}), boolean({5, 4})}), "the mask is bool[5, 4]"));
  CHECK(has(error({f32({4, 8}), f32({5, 8}), f32({5, 3}), boolean({2, 4, 5})}), "the mask is bool[2, 4, 5]"));
  const int64_t huge = int64_t{1} << 31;
  CHECK(has(error({f32({huge, 1}), f32({huge, 1}), f32({huge, 1})}), "the shape of the scores"));
  ops::Attention endless;
  endless.scale = std::numeric_limits<double>::infinity();
  CHECK(has(error({f32({4, 8}), f32({5, 8}), f32({5, 3})}, endless), "the scale is not finite"));
  CHECK(has(errorOf(ops::AttentionGradient{},
                    {f32({4, 8}), f32({5, 8}), f32({5, 3}), f32({4, 2}), f32({4}), f32({4})}),
            "attention of these operands gives f32[4, 3] and f32[4]"));
}
