// StripPlan: a convolution of images with their channels last, cut into parts along its images, along the
// rows of their results (strips, contiguous in memory) and along the filters. How it is cut depends on the
// shapes alone: a result must not depend on the number of threads.
#pragma once

#include "ir/graph/rules/convolution.h"

namespace dfc {

/// Images [image, image + images), rows [row, row + rows) of their results, filters [filter, filter +
/// filters). Several images are whole.
struct Strip {
  int64_t image = 0, images = 0, row = 0, rows = 0, filter = 0, filters = 0;
};

class StripPlan {
 public:
  explicit StripPlan(const Convolution& conv);

  int64_t strips() const { return imageParts_ * rowParts_ * filterParts_; }
  Strip strip(int64_t index) const; ///< those of other filters and the same rows are neighbours
  bool cutsFilters() const { return filterParts_ > 1; }
  /// Nanoseconds for the whole, roughly.
  double cost() const { return cost_; }

 private:
  int64_t images_, rows_, filters_;
  int64_t imagesEach_, rowsEach_, filtersEach_;
  int64_t imageParts_ = 1, rowParts_ = 1, filterParts_ = 1;
  double cost_ = 0;
};

} // namespace dfc
