// Resampling of one axis, as a formula: what `resize` and ONNX's Resize are made of. A product with the
// matrix of weights that the new elements give the old ones, a gather where each takes one of them, or a
// weighted sum of gathers where each takes a few of many. Formulas: ONNX Resize, coordinate transformations;
// Keys 1981 for the cubic weights.
#pragma once

#include "ir/author/composites.h"

#include <functional>

namespace dfc::dsl {

/// Where new elements stand among the old ones, by ONNX's names.
enum class Coordinates : uint8_t {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TfHalfPixelForNn,
  TfCropAndResize,
};

/// Which old element is nearest, likewise.
enum class NearestRule : uint8_t { RoundPreferFloor, RoundPreferCeil, Floor, Ceil };

/// One axis: `made` elements of `from`, at `scale` new ones for each old one.
struct ResampledAxis {
  int64_t from = 1, made = 1;
  double scale = 1, begin = 0, end = 1; ///< the part that TfCropAndResize takes
};

/// How axes are resampled.
class Resampling {
 public:
  ResizeMethod method = ResizeMethod::Nearest;
  Coordinates coordinates = Coordinates::HalfPixel;
  NearestRule rounding = NearestRule::RoundPreferFloor;
  bool excludeOutside = false; ///< what lies outside has no weight, else it counts as the edge
  double cubicA = -0.75;
  /// Told of the elements of each constant before it is made; may throw.
  std::function<void(int64_t)> spend = [](int64_t) {};

  Tensor along(Tensor a, size_t axis, const ResampledAxis& lengths) const;
  bool takesParts() const { return coordinates == Coordinates::TfCropAndResize; }
  /// `outside` where new elements stand beside the picture along this axis.
  Tensor bounded(Tensor a, size_t axis, const ResampledAxis& lengths, double outside) const;

 private:
  double placeAt(const ResampledAxis& axis, int64_t i) const;
  bool isOutside(const ResampledAxis& axis, int64_t i) const;
  Tensor picked(Tensor a, size_t axis, const ResampledAxis& lengths) const;
  std::vector<double> weightsOf(const ResampledAxis& axis, double place) const;
  Literal weights(const ResampledAxis& axis, ElementType element) const;
  Tensor blended(Tensor a, size_t axis, const ResampledAxis& lengths) const;
};

} // namespace dfc::dsl
