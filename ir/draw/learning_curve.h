// Curves of a training over its steps, as one SVG picture: a panel for each scalar, with its evaluation
// ("eval.loss" beside "loss") in the same. Needs no other program to draw it.
#pragma once

#include "ir/base/visibility.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace DFC_PUBLIC dfc {

/// Collects points, any number of them, in bounded memory: from some thousand on, neighbours become one,
/// which keeps their mean and their range.
class LearningCurve {
 public:
  /// A point of a series; x does not fall. Values that are not finite leave a gap.
  void add(const std::string& series, double x, double y);
  /// The picture. An axis of values above 0 that span a factor of 30 or more is logarithmic.
  std::string svg(std::string_view title) const;

  /// Neighbouring points of a series as one.
  struct Bucket {
    double x = 0;                                                    ///< of the last
    double sum = 0;                                                  ///< of the values
    double least = 0;                                                ///< of the values
    double most = 0;                                                 ///< of the values
    long long count = 0;                                             ///< of the points
    double mean() const { return sum / static_cast<double>(count); } ///< of the values
  };

 private:
  struct Series {
    std::vector<Bucket> buckets;
    long long perBucket = 1;
  };
  std::map<std::string, Series> series_;
  std::vector<std::string> order_; ///< of their first points
};

} // namespace dfc
