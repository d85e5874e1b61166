#include "ir/author/dsl/transposed_convolution.h"

#include "ir/author/composites.h"
#include "ir/author/dsl/apply.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace dsl {

TransposedAxis transposedAxis(int64_t full, int64_t extra, int64_t wanted, bool lower, int64_t low,
                              int64_t high) {
  TransposedAxis axis{full - low - high, low, high, 0};
  if (wanted >= 0) {
    const int64_t total = std::max<int64_t>(0, full - wanted);
    axis.length = wanted;
    axis.low = lower ? total - total / 2 : total / 2;
    axis.high = full - wanted - axis.low;
  }
  axis.high -= extra; // they lie behind the last window of the convolution that this is the gradient of
  axis.after = std::max<int64_t>(0, -axis.high);
  axis.length -= axis.after;
  axis.high += axis.after;
  return axis;
}

Tensor transposed2d(Tensor a, Tensor filter, const TransposedWindows& t) {
  ops::Conv2dInputGradient op;
  op.groups = t.groups;
  op.precision = t.precision;
  op.shape = {a.shape()[0], filter.shape()[1] * op.groups};
  const size_t first = t.axes.size() - 2;
  op.strides.assign(t.strides.end() - 2, t.strides.end());
  op.dilations.assign(t.dilations.end() - 2, t.dilations.end());
  Dims after{0, 0};
  for (size_t i = first; i < t.axes.size(); ++i) {
    op.shape.push_back(t.axes[i].length);
    op.low.push_back(t.axes[i].low);
    op.high.push_back(t.axes[i].high);
    after.push_back(t.axes[i].after);
  }
  const Tensor made = apply(op, {filter, a});
  return after[2] + after[3] == 0 ? made : pad(made, Dims(4, 0), after);
}

} // namespace dsl

namespace {

// A number for each of two axes: as given, one for both, or `otherwise`.
bool forBothAxes(Dims& dims, int64_t otherwise, int64_t least) {
  if (dims.size() < 2) {
    dims = Dims(2, dims.empty() ? otherwise : dims[0]);
  }
  return dims.size() == 2 &&
         std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return d >= least && d < int64_t{1} << 30; });
}

// What is wrong with the operands and their windows; "" for nothing.
std::string wrongTransposed(const TensorType& a, const TensorType& filter, int64_t groups) {
  const auto isShort = [](const Shape& shape) { // so that no sum of products overflows
    return std::all_of(shape.dims().begin(), shape.dims().end(),
                       [](int64_t d) { return d < int64_t{1} << 30; });
  };
  const bool pictures = isFloat(a.element) && a.shape.rank() == 4 && filter.shape.rank() == 4 &&
                        isShort(a.shape) && isShort(filter.shape);
  if (!pictures || filter.shape[0] != a.shape[1] || groups < 1 || a.shape[1] % groups != 0) {
    return fmt::format("convTranspose2d of {} with a filter of {} in {} groups", toString(a),
                       toString(filter), groups);
  }
  const bool empty = a.shape.elements() == 0 || filter.shape.elements() == 0;
  return empty ? fmt::format("convTranspose2d of {} with a filter of {}", toString(a), toString(filter)) : "";
}

} // namespace

Tensor convTranspose2d(Operand a, Operand filter, Window window, Dims outputPadding, int64_t groups,
                       Precision precision) {
  const Tensor* const x = a.tensor();
  const Tensor* const f = filter.tensor();
  if (x == nullptr || f == nullptr || !x->valid() || !f->valid()) {
    return dsl::apply(ops::Conv2dInputGradient{}, {filter, a}); // says what is no tensor
  }
  Builder& builder = *x->builder();
  const auto place = builder.at(builder.locate(a.where()));
  const auto refuse = [&](std::string message, std::string hint) {
    builder.report(a.where(), std::move(message), std::move(hint));
    return Tensor(&builder, {});
  };
  if (std::string wrong = wrongTransposed(x->type(), f->type(), groups); !wrong.empty()) {
    return refuse(std::move(wrong), "give floats [N, C, H, W] and a filter [C, M / groups, KH, KW], of axes "
                                    "below 2^30, where groups divides C");
  }
  if (!forBothAxes(window.strides, 1, 1) || !forBothAxes(window.dilations, 1, 1) ||
      !forBothAxes(window.low, 0, 0) || !forBothAxes(window.high, 0, 0) ||
      !forBothAxes(outputPadding, 0, 0)) {
    return refuse("convTranspose2d with a window of other numbers than of two axes",
                  "give two strides and dilations of 1 or more, two paddings of 0 or more, or none");
  }
  dsl::TransposedWindows t{window.strides, window.dilations, {}, groups, precision};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = window.dilations[i] * (f->shape()[i + 2] - 1) + 1;
    const int64_t full = (x->shape()[i + 2] - 1) * window.strides[i] + reach + outputPadding[i];
    if (outputPadding[i] >= std::max(window.strides[i], window.dilations[i]) ||
        full - window.low[i] - window.high[i] < 1) {
      return refuse(fmt::format("convTranspose2d of {} padded by {} and {}, and {} more behind: axis {}",
                                toString(x->type()), window.low[i], window.high[i], outputPadding[i], i + 2),
                    "leave an element or more, and have an output padding below the stride or the dilation");
    }
    t.axes.push_back(dsl::transposedAxis(full, outputPadding[i], -1, false, window.low[i], window.high[i]));
  }
  return dsl::transposed2d(*x, *f, t);
}

} // namespace dfc
