// PhaseAxis: one axis of windows that slide with a stride. Its elements are sorted by phase, their remainder
// of the stride, so that a place of all windows is a contiguous range of one phase.
#pragma once

#include "ir/graph/rules/windows.h"

#include <algorithm>

namespace dfc {

/// Element q of phase i is element q * stride + phases[i] - low of the axis, or padding. Place k of window o
/// is element o + shift of a phase.
class PhaseAxis {
 public:
  explicit PhaseAxis(const WindowAxis& axis) : axis_(axis), mostShift_(shiftOf(axis.size - 1)) {
    for (int64_t k = 0; k < axis.size; ++k) {
      const int64_t phase = k * axis.dilation % axis.stride;
      if (std::find(phases_.begin(), phases_.end(), phase) == phases_.end()) {
        phases_.push_back(phase);
        image_.push_back({firstFrom(axis.low - phase), firstFrom(axis.length + axis.low - phase)});
      }
    }
  }

  const WindowAxis& windows() const { return axis_; }
  int64_t phases() const { return static_cast<int64_t>(phases_.size()); } ///< that a window has places in
  bool coversAll() const { return phases() == axis_.stride; }
  int64_t phaseOf(int64_t k) const {
    return std::find(phases_.begin(), phases_.end(), k * axis_.dilation % axis_.stride) - phases_.begin();
  }
  int64_t shiftOf(int64_t k) const { return k * axis_.dilation / axis_.stride; }
  int64_t mostShift() const { return mostShift_; }
  int64_t at(int64_t phase, int64_t q) const {
    return q * axis_.stride + phases_[static_cast<size_t>(phase)] - axis_.low;
  }
  /// Every element of the axis has a q below this one.
  int64_t length() const { return (axis_.length - 1 + axis_.low) / axis_.stride + 1; }
  /// The elements q of [begin, end) that are no padding.
  WindowAxis::Range inside(int64_t phase, int64_t begin, int64_t end) const {
    const WindowAxis::Range& image = image_[static_cast<size_t>(phase)];
    const int64_t first = std::max(begin, image.begin);
    return {first, std::max(first, std::min(end, image.end))};
  }

 private:
  // The first q at or behind a place that many elements before q = 0 of its phase.
  int64_t firstFrom(int64_t elements) const {
    return elements <= 0 ? 0 : (elements + axis_.stride - 1) / axis_.stride;
  }

  WindowAxis axis_;
  int64_t mostShift_;
  llvm::SmallVector<int64_t, 4> phases_;
  llvm::SmallVector<WindowAxis::Range, 4> image_; // by phase: the elements that are no padding
};

} // namespace dfc
