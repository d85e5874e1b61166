// What the files of the evaluator share: scalars of any element type, walks over indices, and the families of
// ops. Nothing outside evaluate*.cpp includes this.
#pragma once

#include "ir/graph/op.h"

#include <llvm/ADT/STLExtras.h>

#include <cstdint>

namespace dfc::evaluation {

/// One element. Floats live in `real` (a double holds every f32, f16 and bf16 exactly), integers and bool in
/// `whole`.
struct Scalar {
  ElementType type = ElementType::F32;
  double real = 0;
  int64_t whole = 0;
};

Scalar load(const Literal& literal, int64_t index);
void store(Literal& literal, int64_t index, const Scalar& scalar); ///< asserts the element type
/// A float scalar, rounded once (f16 and bf16 through f32).
Scalar rounded(ElementType type, double value);
/// An integer scalar of the low bits of `value`; bool: whether it is not 0.
Scalar wrapped(ElementType type, uint64_t value);
/// As ops/cast.h says.
Scalar converted(ElementType to, const Scalar& from);
Scalar larger(const Scalar& a, const Scalar& b);  ///< NaN if either is; a where they are equal
Scalar smaller(const Scalar& a, const Scalar& b); ///< likewise
/// An elementwise op on single elements. `variant`: as in a fused instruction. `type`: of the result.
Scalar applyScalar(OpKind kind, uint8_t variant, ElementType type, llvm::ArrayRef<Scalar> inputs);

using Index = llvm::SmallVector<int64_t, 8>;
/// Every index of `shape`, row-major.
void forEachIndex(const Shape& shape, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);
/// Where an element lies; `index` may belong to a shape that `shape` broadcasts to.
int64_t offsetOf(const Shape& shape, llvm::ArrayRef<int64_t> index);
void copyElement(Literal& to, int64_t toIndex, const Literal& from, int64_t fromIndex); ///< by its bits

using Operands = llvm::ArrayRef<Literal>;
using Literals = llvm::SmallVector<Literal, 1>; ///< of an op with several results

Literal elementwise(const OpAttributes& attributes, Operands operands, const TensorType& type);
Literal fused(const ops::Fused& op, Operands operands, const TensorType& type);

enum class Reduction : uint8_t { Sum, Mean, Max, Min, Product };
/// `axes` ascending, counted from the front; `type` of the result. `count`: divisor of a
/// mean; 0: the number of elements reduced to one result.
Literal reduced(Reduction reduction, const Literal& operand, llvm::ArrayRef<int64_t> axes,
                const TensorType& type, int64_t count = 0);
Literal reduced(Reduction reduction, const Literal& operand, const Dims& writtenAxes, bool keepDims,
                int64_t count = 0);
Literal argMax(const ops::ArgMax& op, const Literal& operand, const TensorType& type);

Literal cumSum(const ops::CumSum& op, const Literal& operand);
Literals topK(const ops::TopK& op, const Literal& operand, OperandTypes types);

Literal matmul(const ops::Matmul& op, Operands operands, const TensorType& type);
Literal fusedMatmul(const ops::FusedMatmul& op, Operands operands, const TensorType& type);

Literal softmax(const ops::Softmax& op, const Literal& operand);
Literal logSoftmax(const ops::LogSoftmax& op, const Literal& operand);
Literal softmaxCrossEntropy(const ops::SoftmaxCrossEntropy& op, Operands operands, const TensorType& type);
Literal softmaxCrossEntropyGradient(const ops::SoftmaxCrossEntropyGradient& op, Operands operands);

Literal conv2d(const ops::Conv2d& op, Operands operands, const TensorType& type);
Literal conv2dInputGradient(const ops::Conv2dInputGradient& op, Operands operands, const TensorType& type);
Literal conv2dFilterGradient(const ops::Conv2dFilterGradient& op, Operands operands, const TensorType& type);
Literal maxPool(const ops::MaxPool& op, const Literal& a, const TensorType& type);
Literal maxPoolGradient(const ops::MaxPoolGradient& op, Operands operands, const TensorType& type);
Literal averagePool(const ops::AveragePool& op, const Literal& a, const TensorType& type);
Literal averagePoolGradient(const ops::AveragePoolGradient& op, const Literal& cotangent,
                            const TensorType& type);
Literal batchNorm(const ops::BatchNorm& op, Operands operands, const TensorType& type);
Literals batchNormTraining(const ops::BatchNormTraining& op, Operands operands);
Literals batchNormGradient(const ops::BatchNormGradient& op, Operands operands);
Literal batchNormPass(const ops::BatchNormPass& op, Operands operands);
Literals batchNormGradientPass(const ops::BatchNormGradientPass& op, Operands operands);
Literal batchNormSums(const ops::BatchNormSums& op, Operands operands, const TensorType& type);
Literal layerNorm(const ops::LayerNorm& op, Operands operands, const TensorType& type);
Literal rmsNorm(const ops::RmsNorm& op, Operands operands, const TensorType& type);
Literal dropout(const ops::Dropout& op, Operands operands);
Literal randomUniform(const ops::RandomUniform& op, const Literal& step);
Literals composite(const OpAttributes& attributes, Operands operands, OperandTypes types);

Literal reshape(const Literal& operand, const TensorType& type);
Literal subview(const ops::Subview& op, const Literal& operand, const TensorType& type);
Literal transpose(const ops::Transpose& op, const Literal& operand, const TensorType& type);
Literal broadcast(const Literal& operand, const TensorType& type);
Literal concat(const ops::Concat& op, Operands operands, const TensorType& type);
Literal slice(const ops::Slice& op, const Literal& operand, const TensorType& type);
Literal dynamicSlice(const ops::DynamicSlice& op, Operands operands, const TensorType& type);
Literal dynamicUpdateSlice(const ops::DynamicUpdateSlice& op, Operands operands);
Literal pad(const ops::Pad& op, const Literal& operand, const TensorType& type);
Literals split(const ops::Split& op, const Literal& operand, OperandTypes types);
Literal tile(const Literal& operand, const TensorType& type);
Literal trilu(const ops::Trilu& op, const Literal& operand);

Literal gather(const ops::Gather& op, Operands operands, const TensorType& type);
Literal scatterAdd(const ops::ScatterAdd& op, Operands operands);
Literal oneHot(const ops::OneHot& op, const Literal& indices, const TensorType& type);
Literal iota(const ops::Iota& op);

} // namespace dfc::evaluation
