// resize: its options as those of ONNX's Resize that give the same as PyTorch's interpolate.
#include "ir/author/dsl/resample.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

bool isResizable(const TensorType& a, const Dims& sizes, const ResizeOptions& options) {
  const bool fits = !sizes.empty() && sizes.size() <= a.shape.rank() && a.shape.elements() > 0 &&
                    std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > 0; });
  return fits && (options.method == ResizeMethod::Nearest ? !options.alignCorners : isFloat(a.element));
}

dsl::Resampling resamplingOf(const ResizeOptions& options) {
  dsl::Resampling how;
  how.method = options.method;
  how.rounding = dsl::NearestRule::Floor;
  how.coordinates = options.method == ResizeMethod::Nearest ? dsl::Coordinates::Asymmetric
                    : options.alignCorners                  ? dsl::Coordinates::AlignCorners
                                                            : dsl::Coordinates::HalfPixel;
  return how;
}

} // namespace

Tensor resize(Operand a, Dims sizes, ResizeOptions options) {
  const Tensor* const x = a.tensor();
  if (x == nullptr || x->builder() == nullptr || !x->valid()) {
    return reshape(a, {}); // says what is no tensor
  }
  Builder& builder = *x->builder();
  const auto place = builder.at(builder.locate(a.where()));
  if (!isResizable(x->type(), sizes, options)) {
    builder.report(a.where(), fmt::format("resize of {} to {} sizes", toString(x->type()), sizes.size()),
                   "give sizes above 0 of the last axes; but for the nearest, whose corners are not aligned, "
                   "a tensor of floats");
    return {&builder, {}};
  }
  const dsl::Resampling how = resamplingOf(options);
  Tensor made = *x;
  const size_t first = x->shape().rank() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t from = x->shape()[first + i];
    const double scale = static_cast<double>(sizes[i]) / static_cast<double>(from);
    made = from == sizes[i] ? made : how.along(made, first + i, {from, sizes[i], scale});
  }
  return made;
}

} // namespace dfc
