// The ops of the table as functions and operators on Tensor. Each takes the place where it is written; see
// the op's own file in ops/ for its meaning. A plain number stands for a scalar of the other operand's type.
// The functions of formula ops are generated from their headers: formula_functions.h.
#pragma once

#include "ir/author/builder.h"
#include "ir/author/formula_functions.h"
#include "ir/base/visibility.h"
#include "ir/graph/op_options.h"

namespace DFC_PUBLIC dfc {

/// a + b of numbers, with broadcasting as NumPy does; integers wrap.
Tensor operator+(Operand a, Operand b);
/// a - b of numbers, with broadcasting; integers wrap.
Tensor operator-(Operand a, Operand b);
/// a * b of numbers, element by element, with broadcasting; integers wrap.
Tensor operator*(Operand a, Operand b);
/// a / b of numbers, with broadcasting; integers truncate towards zero, a zero divisor gives 0.
Tensor operator/(Operand a, Operand b);
/// -a of numbers.
Tensor operator-(Operand a);
/// The larger of two numbers, with broadcasting; NaN if either is NaN.
Tensor max(Operand a, Operand b);
/// The smaller of two numbers, with broadcasting; NaN if either is NaN.
Tensor min(Operand a, Operand b);
/// a to the power b of floats, with broadcasting; edge cases as C's pow.
Tensor pow(Operand a, Operand b);
/// a and b of bool or, bit by bit, of integers, with broadcasting.
Tensor operator&(Operand a, Operand b);
/// a or b of bool or, bit by bit, of integers, with broadcasting.
Tensor operator|(Operand a, Operand b);
/// Exactly one of a and b, of bool or, bit by bit, of integers, with broadcasting.
Tensor operator^(Operand a, Operand b);
/// The opposite of bool; of integers every bit turned.
Tensor operator~(Operand a);

/// The magnitude of numbers; that of the least integer wraps.
Tensor abs(Operand a);
/// -1, 0 or 1 of numbers; a zero keeps its sign, NaN stays.
Tensor sign(Operand a);
/// The largest whole number not above a, of floats.
Tensor floor(Operand a);
/// The smallest whole number not below a, of floats.
Tensor ceil(Operand a);
/// The nearest whole number of floats, halves to the even one.
Tensor round(Operand a);

/// e to the power a, of floats.
Tensor exp(Operand a);
/// The natural logarithm of floats.
Tensor log(Operand a);
/// The square root of floats.
Tensor sqrt(Operand a);
/// The sine of floats, in radians.
Tensor sin(Operand a);
/// The cosine of floats, in radians.
Tensor cos(Operand a);
/// The error function of floats.
Tensor erf(Operand a);
/// The hyperbolic tangent of floats.
Tensor tanh(Operand a);
/// max(a, 0) of numbers; NaN stays; the derivative at 0 is 0.
Tensor relu(Operand a);
/// a times the normal distribution function of a, of floats (Hendrycks and Gimpel 2016).
Tensor gelu(Operand a, Approximation approximate = Approximation::None);
/// min(max(a, low), high) of numbers, with broadcasting; NaN in any operand gives NaN.
Tensor clip(Operand a, Operand low, Operand high);
/// a in another element type. Float to integer truncates and saturates, NaN gives 0; to bool: a != 0.
Tensor cast(Operand a, ElementType to);

/// bool, with broadcasting. A comparison with NaN is false, except Direction::Ne.
Tensor compare(Operand a, Operand b, Direction direction);
/// a where the bool condition holds, else b; all three broadcast.
Tensor select(Operand condition, Operand a, Operand b);

/// Which operands of matmul are transposed, in their last two axes.
struct Transposes {
  bool a = false; ///< the first operand
  bool b = false; ///< the second operand
};
/// Matrix products of the last two axes, batched over the axes before them, which broadcast:
/// [..., m, k] x [..., k, n] -> [..., m, n]; of vectors as NumPy has it. f16 and bf16 are summed in f32.
Tensor matmul(Operand a, Operand b, Transposes transposed = {}, Precision precision = Precision::Unstated);

/// The sum over `axes` (none: all; negative ones count from the end), of numbers.
Tensor reduceSum(Operand a, Dims axes = {}, bool keepDims = false);
/// The mean over `axes`, of floats. An axis of length 0 is refused.
Tensor reduceMean(Operand a, Dims axes = {}, bool keepDims = false);
/// The largest over `axes`, NaN if any is NaN. An axis of length 0 is refused.
Tensor reduceMax(Operand a, Dims axes = {}, bool keepDims = false);
/// The smallest over `axes`, NaN if any is NaN. An axis of length 0 is refused.
Tensor reduceMin(Operand a, Dims axes = {}, bool keepDims = false);
/// The product over `axes`; of no elements 1.
Tensor reduceProduct(Operand a, Dims axes = {}, bool keepDims = false);
/// How cumSum runs.
struct Running {
  bool exclusive = false; ///< without the element itself
  bool reverse = false;   ///< from the end
};
/// Running sums along `axis`, of numbers.
Tensor cumSum(Operand a, int64_t axis = 0, Running running = {});
/// The index, i64, of the first largest element along `axis`. NaN counts as the largest.
Tensor argMax(Operand a, int64_t axis = -1, bool keepDims = false);

/// The results of topK.
struct TopK {
  Tensor values;  ///< the elements in order, k along the axis
  Tensor indices; ///< their indices, i64
};
/// The k largest (or smallest) elements along `axis`, in order; of equal ones the lower index first.
TopK topK(Operand a, int64_t k, int64_t axis = -1, bool largest = true);

/// exp(a) / sum(exp(a)) along `axis`, of floats.
Tensor softmax(Operand a, int64_t axis = -1);
/// a - log(sum(exp(a))) along `axis`, of floats.
Tensor logSoftmax(Operand a, int64_t axis = -1);
/// The mean over rows of -logSoftmax(logits)[row, label], a scalar. logits: [n, classes] of a float;
/// labels: [n] of i32 or i64; one outside of [0, classes) gives NaN. Or [batch, n, classes] and [batch, n].
/// With LossType::F32 the loss of f16 or bf16 logits is f32.
Tensor softmaxCrossEntropy(Operand logits, Operand labels, LossType loss = LossType::Unstated);

/// a [..., m, k] times the transpose of a quantised matrix [n, k], dequantised as it is read: [..., m, n].
/// weights: u8 [n, k * bits / 8]; scales: [n, runs] of a's type (`quantize` makes both). bits: 8 or 4.
Tensor quantizedMatmul(Operand a, Operand weights, Operand scales, int64_t bits = 8);
/// (a - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance over `axis` and all after it;
/// scale and bias have the shape of those axes (Ba, Kiros and Hinton 2016).
Tensor layerNorm(Operand a, Operand scale, Operand bias, int64_t axis = -1, double epsilon = 1e-5);
/// a / sqrt(mean of a^2 + epsilon) * scale, the mean over `axis` and all after it (Zhang and Sennrich 2019).
Tensor rmsNorm(Operand a, Operand scale, int64_t axis = -1, double epsilon = 1e-5);
/// (a - mean) / sqrt(variance + epsilon) * scale + bias with a number of each for each channel, which is
/// `axis`; for inference (Ioffe and Szegedy 2015).
Tensor batchNorm(Operand a, Operand scale, Operand bias, Operand mean, Operand variance, int64_t axis = 1,
                 double epsilon = 1e-5);
/// The results of batchNormTraining.
struct Normalised {
  Tensor result;   ///< of the shape of the operand
  Tensor mean;     ///< of each channel
  Tensor variance; ///< of each channel, not corrected
};
/// a normalised by its own mean and variance over all axes but `axis`, scaled and shifted.
Normalised batchNormTraining(Operand a, Operand scale, Operand bias, int64_t axis = 1, double epsilon = 1e-5);
/// Each element is 0 with probability `rate`, else a / (1 - rate) (Srivastava et al. 2014), by seed, index
/// and `step`, an i64 scalar: count it up to draw anew.
Tensor dropout(Operand a, Operand step, double rate = 0.5, int64_t seed = 0);

/// Numbers between 0 and 1, both exclusive, f32 or f64, by seed, index and `step`, an i64 scalar: count it up
/// to draw anew. The same on every device, whatever their number.
Tensor randomUniform(Operand step, const TensorType& type, int64_t seed = 0);

/// Windows of convolutions and pools. Empty: strides and dilations of 1, no padding.
struct Window {
  Dims strides = {};   ///< from one window to the next, for each of the last two axes
  Dims low = {};       ///< padding before each axis
  Dims high = {};      ///< padding behind each axis
  Dims dilations = {}; ///< from one element of a window to the next
};
/// Cross-correlation of a [N, C, H, W] with filter [M, C / groups, KH, KW]: [N, M, H', W'], of floats.
Tensor conv2d(Operand a, Operand filter, Window window = {}, int64_t groups = 1,
              Precision precision = Precision::Unstated);
/// The largest element of each window of size [h, w] over the last two axes of a [N, C, H, W].
Tensor maxPool(Operand a, Dims size, Window window = {});
/// The mean of each window of size [h, w]; with countPadding the padding counts as elements.
Tensor averagePool(Operand a, Dims size, Window window = {}, bool countPadding = false);

/// The same elements, row-major, under another shape; one dimension may be -1: the rest.
Tensor reshape(Operand a, Dims shape);
/// a itself, and the wish that it be cut along `axis`, a part on each device that the glob `devices` names
/// ("gpu*"). The other ops follow as costs have it. The gradient is not asked to be cut. On a machine with
/// one device nothing is cut.
Tensor cut(Operand a, int64_t axis, std::string_view devices);
/// a itself, and a constant to `gradients`: no gradient passes through it. Parameters that a loss depends on
/// only through it are not trained. Of any element type; it costs nothing.
Tensor stopGradient(Operand a);
/// Axis i of the result is axis permutation[i] of a; none given reverses the axes.
Tensor transpose(Operand a, Dims permutation = {});
/// a stretched to `shape` as NumPy does.
Tensor broadcast(Operand a, Dims shape);
/// One part behind the other along `axis`; the other dimensions agree.
Tensor concat(const std::vector<Tensor>& parts, int64_t axis = 0,
              std::source_location where = std::source_location::current());
/// The parts of a along `axis`, one for each size; the sizes add up to the dimension.
std::vector<Tensor> split(Operand a, Dims sizes, int64_t axis = 0);
/// Elements starts, starts + strides, … below ends, on every axis; strides left out are 1.
Tensor slice(Operand a, Dims starts, Dims ends, Dims strides = {});
/// Along axes[i], sizes[i] elements of a from starts[i] on; all along the other axes. starts: i32 or i64, a
/// vector, or a scalar for one axis; clamped, so that what is taken lies inside. No axes: all, in order.
Tensor dynamicSlice(Operand a, Operand starts, Dims sizes, Dims axes = {});
/// a with `update` in the place of as many of its elements, from starts[i] on along axes[i]; starts as in
/// dynamicSlice. Where nothing else uses a, only the update is written.
Tensor dynamicUpdateSlice(Operand a, Operand update, Operand starts, Dims axes = {});
/// `value` before, after and between (interior) the elements of every axis.
Tensor pad(Operand a, Dims low, Dims high, Dims interior = {}, double value = 0);
/// a repeated along each axis.
Tensor tile(Operand a, Dims repeats);
/// The slices of a along `axis` that `indices` (i32 or i64, any shape) name; below 0 they count from the end,
/// out of range they give NaN, or 0 for integers.
Tensor gather(Operand a, Operand indices, int64_t axis = 0);
/// a with every slice of `updates` added to the slice along `axis` that its index names, in the updates'
/// order.
Tensor scatterAdd(Operand a, Operand indices, Operand updates, int64_t axis = 0);
/// 1 where the index along the new axis is the one named, else 0. indices: i32 or i64.
Tensor oneHot(Operand indices, int64_t depth, int64_t axis = -1, ElementType to = ElementType::F32);
/// Each element is its own index along `axis`.
Tensor iota(Builder& builder, const TensorType& type, int64_t axis = 0,
            std::source_location where = std::source_location::current());
/// Of each matrix the part on and above the k-th diagonal, or on and below it; zeros elsewhere.
Tensor trilu(Operand a, int64_t k = 0, bool upper = true);

} // namespace dfc
