// How far the gradients of layerNorm and rmsNorm may be from the evaluator's. With x the normalised element,
// r the inverse root and g = cotangent * scale, the result is r (g - mean(g) - x mean(g x)). Sums of rows and
// of columns are trees no deeper than some hundred, and x is off by what the rounded mean is off by, besides.
#include "ir/graph/rules/norm_rules.h"
#include "tests/conformance/bounds.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dfc::test {
namespace {

constexpr double rowDepth = 64, columnDepth = 256;

/// A row's numbers, without signs.
struct RowSizes {
  double inverse = 0, ofMean = 0; ///< what a rounding of the mean is in x
  double meanG = 0, meanGx = 0;
};

class Sizes {
 public:
  Sizes(const NormGradientForm& form, llvm::ArrayRef<Literal> operands)
      : rows_(operands[0].type().shape, form.axis), a_(operands[0]), scale_(operands[1]),
        cotangent_(operands[2]) {
    for (int64_t row = 0; row < rows_.rows && rows_.length > 0; ++row) {
      add(row * rows_.length, form);
    }
  }

  const NormRows& rows() const { return rows_; }
  const RowSizes& row(int64_t i) const { return sizes_[static_cast<size_t>(i / rows_.length)]; }
  double x(int64_t i) const { return x_[static_cast<size_t>(i)]; }
  double cotangent(int64_t i) const { return std::fabs(cotangent_.at(i)); }
  double g(int64_t i) const { return cotangent(i) * std::fabs(scale_.at(i % rows_.length)); }

 private:
  void add(int64_t first, const NormGradientForm& form) {
    const auto n = static_cast<double>(rows_.length);
    double mean = 0, squares = 0, largest = 0;
    for (int64_t i = first; i < first + rows_.length; ++i) {
      mean += form.centred ? a_.at(i) / n : 0;
      largest = std::max(largest, std::fabs(a_.at(i)));
    }
    for (int64_t i = first; i < first + rows_.length; ++i) {
      squares += (a_.at(i) - mean) * (a_.at(i) - mean) / n;
    }
    RowSizes sizes;
    sizes.inverse = 1 / std::sqrt(squares + form.epsilon);
    sizes.ofMean = form.centred ? 4 * largest * sizes.inverse : 0;
    for (int64_t i = first; i < first + rows_.length; ++i) {
      x_.push_back(std::fabs(a_.at(i) - mean) * sizes.inverse);
      sizes.meanG += g(i) / n;
      sizes.meanGx += g(i) * (x_.back() + sizes.ofMean / rowDepth) / n;
    }
    sizes_.push_back(sizes);
  }

  NormRows rows_;
  Literal a_, scale_, cotangent_;
  std::vector<RowSizes> sizes_;
  std::vector<double> x_;
};

Bound ofColumns(const NormRows& rows, double unit, const std::function<double(int64_t)>& term) {
  std::vector<double> sums(static_cast<size_t>(rows.length));
  for (int64_t i = 0; i < rows.rows * rows.length; ++i) {
    sums[static_cast<size_t>(i % rows.length)] += term(i);
  }
  return {1, [=](int64_t column) { return unit * sums[static_cast<size_t>(column)]; }};
}

} // namespace

Bound normGradientBound(const NormGradientForm& form, llvm::ArrayRef<Literal> operands, size_t result) {
  const Sizes sizes(form, operands);
  const double epsilon = accumulatorEpsilon(operands[0].type().element);
  if (result == 0) {
    return {1, [=](int64_t i) {
              const RowSizes& row = sizes.row(i);
              const double x = sizes.x(i) + row.ofMean / rowDepth;
              return rowDepth * epsilon * row.inverse *
                     (sizes.g(i) + (form.centred ? row.meanG : 0) + x * row.meanGx);
            }};
  }
  const double depth = columnDepth + std::sqrt(static_cast<double>(sizes.rows().rows));
  if (form.toScale && result == 1) {
    return ofColumns(sizes.rows(), depth * epsilon,
                     [&](int64_t i) { return sizes.cotangent(i) * (sizes.x(i) + sizes.row(i).ofMean); });
  }
  return ofColumns(sizes.rows(), depth * epsilon, [&](int64_t i) { return sizes.cotangent(i); });
}

} // namespace dfc::test
