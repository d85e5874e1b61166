// The ops of the table as functions and operators on Tensor. Each takes the place where it is written; see
// the op's own file in ops/ for its meaning. A plain number stands for a scalar of the other operand's type.
#pragma once

#include "ir/author/builder.h"
#include "ir/base/visibility.h"
#include "ir/graph/op_options.h"

namespace DFC_PUBLIC dfc {

Tensor operator+(Operand a, Operand b);
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);
Tensor operator/(Operand a, Operand b);
Tensor operator-(Operand a);
Tensor max(Operand a, Operand b);
Tensor min(Operand a, Operand b);
Tensor pow(Operand a, Operand b);
Tensor operator&(Operand a, Operand b);
Tensor operator|(Operand a, Operand b);
Tensor operator^(Operand a, Operand b);
Tensor operator~(Operand a);

Tensor abs(Operand a);
Tensor sign(Operand a);
Tensor floor(Operand a);
Tensor ceil(Operand a);
Tensor round(Operand a);

Tensor exp(Operand a);
Tensor log(Operand a);
Tensor sqrt(Operand a);
Tensor rsqrt(Operand a);
Tensor reciprocal(Operand a);
Tensor sin(Operand a);
Tensor cos(Operand a);
Tensor erf(Operand a);
Tensor tanh(Operand a);
Tensor sigmoid(Operand a);
Tensor relu(Operand a);
Tensor leakyRelu(Operand a, Operand slope);
Tensor gelu(Operand a, Approximation approximate = Approximation::None);
Tensor silu(Operand a);
Tensor hardSwish(Operand a);
Tensor softplus(Operand a);
Tensor clip(Operand a, Operand low, Operand high);
Tensor cast(Operand a, ElementType to);

Tensor compare(Operand a, Operand b, Direction direction);
Tensor select(Operand condition, Operand a, Operand b);

struct Transposes {
  bool a = false, b = false;
};
Tensor matmul(Operand a, Operand b, Transposes transposed = {}, Precision precision = Precision::Unstated);

Tensor reduceSum(Operand a, Dims axes = {}, bool keepDims = false);
Tensor reduceMean(Operand a, Dims axes = {}, bool keepDims = false);
Tensor reduceMax(Operand a, Dims axes = {}, bool keepDims = false);
Tensor reduceMin(Operand a, Dims axes = {}, bool keepDims = false);
Tensor reduceProduct(Operand a, Dims axes = {}, bool keepDims = false);
struct Running {
  bool exclusive = false, reverse = false;
};
Tensor cumSum(Operand a, int64_t axis = 0, Running running = {});
Tensor argMax(Operand a, int64_t axis = -1, bool keepDims = false);

struct TopK {
  Tensor values, indices;
};
TopK topK(Operand a, int64_t k, int64_t axis = -1, bool largest = true);

Tensor softmax(Operand a, int64_t axis = -1);
Tensor logSoftmax(Operand a, int64_t axis = -1);
Tensor softmaxCrossEntropy(Operand logits, Operand labels);

Tensor layerNorm(Operand a, Operand scale, Operand bias, int64_t axis = -1, double epsilon = 1e-5);
Tensor rmsNorm(Operand a, Operand scale, int64_t axis = -1, double epsilon = 1e-5);
Tensor batchNorm(Operand a, Operand scale, Operand bias, Operand mean, Operand variance, int64_t axis = 1,
                 double epsilon = 1e-5);
struct Normalised {
  Tensor result, mean, variance;
};
Normalised batchNormTraining(Operand a, Operand scale, Operand bias, int64_t axis = 1, double epsilon = 1e-5);
/// `step`: an i64 scalar; count it up to draw anew.
Tensor dropout(Operand a, Operand step, double rate = 0.5, int64_t seed = 0);

/// Empty: strides and dilations of 1, no padding.
struct Window {
  Dims strides, low, high, dilations;
};
Tensor conv2d(Operand a, Operand filter, Window window = {}, int64_t groups = 1);
Tensor maxPool(Operand a, Dims size, Window window = {});
Tensor averagePool(Operand a, Dims size, Window window = {}, bool countPadding = false);

Tensor reshape(Operand a, Dims shape);
Tensor transpose(Operand a, Dims permutation = {});
Tensor broadcast(Operand a, Dims shape);
Tensor concat(const std::vector<Tensor>& parts, int64_t axis = 0,
              std::source_location where = std::source_location::current());
std::vector<Tensor> split(Operand a, Dims sizes, int64_t axis = 0);
Tensor slice(Operand a, Dims starts, Dims ends, Dims strides = {});
Tensor pad(Operand a, Dims low, Dims high, Dims interior = {}, double value = 0);
Tensor tile(Operand a, Dims repeats);
Tensor gather(Operand a, Operand indices, int64_t axis = 0);
Tensor scatterAdd(Operand a, Operand indices, Operand updates, int64_t axis = 0);
Tensor oneHot(Operand indices, int64_t depth, int64_t axis = -1, ElementType to = ElementType::F32);
Tensor iota(Builder& builder, const TensorType& type, int64_t axis = 0,
            std::source_location where = std::source_location::current());
Tensor trilu(Operand a, int64_t k = 0, bool upper = true);

} // namespace dfc
