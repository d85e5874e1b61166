// What conv2d and its two gradient ops share: one convolution, said by the shapes of its image, filter and
// result, and by its windows. Each op knows two of the three tensors and makes the third. Whether padding
// adds nothing or NaN where it meets an infinite element of the other operand is not defined.
#pragma once

#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/precision.h"
#include "ir/graph/rules/windows.h"

namespace dfc {

/// Which of the three tensors is made of the other two.
enum class ConvolutionPass : uint8_t { Forward, InputGradient, FilterGradient };

/// The shapes have their channels first, whatever the layout.
struct Convolution {
  Shape image;  ///< [N, C, H, W]
  Shape filter; ///< [M, C / groups, KH, KW]
  Shape result; ///< [N, M, H', W']
  int64_t groups = 1;
  Windows windows;
  ImageLayout layout = ImageLayout::Nchw; ///< of the three tensors in memory

  int64_t batch() const { return image[0]; }
  int64_t groupChannels() const { return filter[1]; } ///< channels that one element of the result reads
  int64_t groupFilters() const { return filter[0] / groups; }  ///< channels of the result that share those
  int64_t terms() const { return filter[1] * windows.size(); } ///< of one element of the result
  int64_t pixels() const { return windows.rows.count * windows.columns.count; } ///< of the result's channel
  int64_t imagePixels() const { return image[2] * image[3]; }
  /// A product and a sum for each term: the same for the op and for its gradients.
  double flops() const;
  /// The matrix products that the pass is, one a group (implicit GEMM: pixels of all images x channels).
  ProductShape product(ConvolutionPass pass) const;
};

/// Attributes that the three ops have in common.
struct ConvolutionAttributes {
  Dims strides, low, high, dilations;
  int64_t groups = 1;
  ImageLayout layout = ImageLayout::Nchw;
};
template <class Op>
ConvolutionAttributes convolutionAttributes(const Op& op) {
  return {op.strides, op.low, op.high, op.dilations, op.groups, op.layout};
}

/// Those attributes, as a visitor sees them.
template <class Op>
void convolutionFields(AttributeVisitor& visitor, Op& op) {
  visitor.field("strides", op.strides, Presence::Optional);
  visitor.field("low", op.low, Presence::Optional);
  visitor.field("high", op.high, Presence::Optional);
  visitor.field("dilations", op.dilations, Presence::Optional);
  visitor.field("groups", op.groups, Presence::Optional);
  precisionField(visitor, op.precision);
  layoutField(visitor, op.layout);
}

/// The type rule of one of the three ops, given its rule for channels first.
template <class Op, class Rule>
TypeResult convolutionTypesOf(const Op& op, OpKind kind, OperandTypes operands, const Rule& channelsFirst) {
  if (!isKnown(op.precision)) {
    return refusePrecision(kind, operands);
  }
  if (op.layout != ImageLayout::Nchw) {
    return typesInLayout(op, operands);
  }
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  return channelsFirst();
}

/// The result's type, or why `image` and `filter` make none.
TypeResult convolutionTypes(OpKind kind, OperandTypes operands, const Shape& image, const Shape& filter,
                            const ConvolutionAttributes& attributes);
/// Ok (without types) when operand 1, the cotangent, has the shape of that result.
TypeResult checkConvolutionCotangent(OpKind kind, OperandTypes operands, const Shape& image,
                                     const Shape& filter, const ConvolutionAttributes& attributes);

/// Of operands that the op's rule accepts.
Convolution convolutionOf(const ops::Conv2d& op, OperandTypes operands);
Convolution convolutionOf(const ops::Conv2dInputGradient& op, OperandTypes operands);
Convolution convolutionOf(const ops::Conv2dFilterGradient& op, OperandTypes operands);

/// An op that is a convolution.
struct ConvolutionCall {
  ConvolutionPass pass;
  Convolution conv;
  Precision precision = Precision::Unstated; ///< of f32 operands
};
/// None where the op is no convolution.
std::optional<ConvolutionCall> convolutionCall(const OpAttributes& attributes, OperandTypes operands);

/// The op `To` with the attributes of `from`; `shape` stays empty.
template <class To, class From>
To sameConvolution(const From& from) {
  To op;
  op.strides = from.strides;
  op.low = from.low;
  op.high = from.high;
  op.dilations = from.dilations;
  op.groups = from.groups;
  op.precision = from.precision;
  op.layout = from.layout;
  return op;
}

} // namespace dfc
