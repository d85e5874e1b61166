// The ops of the table as functions and operators on Tensor. Each takes the place where it is written; see
// the op's own file in ops/ for its meaning. A plain number stands for a scalar of the other operand's type.
#pragma once

#include "ir/builder.h"

namespace dfc {

Tensor operator+(Operand a, Operand b);
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);
Tensor operator/(Operand a, Operand b);
Tensor operator-(Operand a);
Tensor max(Operand a, Operand b);
Tensor min(Operand a, Operand b);

Tensor exp(Operand a);
Tensor log(Operand a);
Tensor sqrt(Operand a);
Tensor tanh(Operand a);
Tensor sigmoid(Operand a);
Tensor relu(Operand a);
Tensor cast(Operand a, ElementType to);

using Direction = ops::Compare::Direction;
Tensor compare(Operand a, Operand b, Direction direction);
Tensor select(Operand condition, Operand a, Operand b);

struct Transposes {
  bool a = false, b = false;
};
using Precision = ops::Precision;
Tensor matmul(Operand a, Operand b, Transposes transposed = {}, Precision precision = Precision::Unstated);

Tensor reduceSum(Operand a, Dims axes = {}, bool keepDims = false);
Tensor reduceMean(Operand a, Dims axes = {}, bool keepDims = false);
Tensor reduceMax(Operand a, Dims axes = {}, bool keepDims = false);
Tensor argMax(Operand a, int64_t axis = -1, bool keepDims = false);

Tensor softmax(Operand a, int64_t axis = -1);
Tensor logSoftmax(Operand a, int64_t axis = -1);
Tensor softmaxCrossEntropy(Operand logits, Operand labels);

Tensor reshape(Operand a, Dims shape);
Tensor transpose(Operand a, Dims permutation = {});
Tensor broadcast(Operand a, Dims shape);
Tensor concat(const std::vector<Tensor>& parts, int64_t axis = 0,
              std::source_location where = std::source_location::current());
Tensor slice(Operand a, Dims starts, Dims ends, Dims strides = {});
Tensor pad(Operand a, Dims low, Dims high, Dims interior = {}, double value = 0);

} // namespace dfc
