// Convolutions and pools by their definitions: every window, every element of it that is no padding, summed
// in double and rounded once.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/graph/rules/convolution.h"

#include <cmath>
#include <vector>

namespace dfc::evaluation {
namespace {

// A result that several terms add up to, in double.
class Sums {
 public:
  explicit Sums(const TensorType& type) : type_(type), sums_(static_cast<size_t>(type.shape.elements())) {}
  void add(int64_t at, double term) { sums_[static_cast<size_t>(at)] += term; }
  Literal result() const {
    Literal literal(type_);
    for (size_t i = 0; i < sums_.size(); ++i) {
      store(literal, static_cast<int64_t>(i), rounded(type_.element, sums_[i]));
    }
    return literal;
  }

 private:
  TensorType type_;
  std::vector<double> sums_;
};

using PlaceVisitor = llvm::function_ref<void(int64_t row, int64_t column, int64_t place)>;

// The elements of window (row, column), row-major, by where they lie in the image's plane and in the window.
void forEachPlace(const Windows& windows, int64_t row, int64_t column, PlaceVisitor visit) {
  const WindowAxis::Range rows = windows.rows.placesOf(row), columns = windows.columns.placesOf(column);
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    for (int64_t j = columns.begin; j < columns.end; ++j) {
      visit(windows.rows.at(row, i), windows.columns.at(column, j), i * windows.columns.size + j);
    }
  }
}

// Each product of the sums that a convolution consists of, by the offsets of its image, filter and result
// elements; each result element's in row-major order.
using TermVisitor = llvm::function_ref<void(int64_t image, int64_t filter, int64_t result)>;
void forEachTerm(const Convolution& conv, TermVisitor visit) {
  forEachIndex(conv.result, [&](llvm::ArrayRef<int64_t> index) {
    const int64_t result = offsetOf(conv.result, index);
    const int64_t firstChannel = index[1] / conv.groupFilters() * conv.groupChannels();
    for (int64_t channel = 0; channel < conv.groupChannels(); ++channel) {
      const int64_t plane = (index[0] * conv.image[1] + firstChannel + channel) * conv.imagePixels();
      const int64_t weights = (index[1] * conv.groupChannels() + channel) * conv.windows.size();
      forEachPlace(conv.windows, index[2], index[3], [&](int64_t row, int64_t column, int64_t place) {
        visit(plane + row * conv.image[3] + column, weights + place, result);
      });
    }
  });
}

// Each window of each plane: its place in the result, and the plane's first element.
using WindowVisitor = llvm::function_ref<void(int64_t result, int64_t row, int64_t column, int64_t plane)>;
void forEachWindow(const Shape& image, const Windows& windows, WindowVisitor visit) {
  int64_t result = 0;
  for (int64_t plane = 0; plane < image[0] * image[1]; ++plane) {
    for (int64_t row = 0; row < windows.rows.count; ++row) {
      for (int64_t column = 0; column < windows.columns.count; ++column) {
        visit(result++, row, column, plane * image[2] * image[3]);
      }
    }
  }
}

// NaN exceeds everything; of equal elements the first stays.
bool exceeds(const Scalar& next, const Scalar& best) {
  if (!isFloat(best.type)) {
    return next.whole > best.whole;
  }
  return !std::isnan(best.real) && (next.real > best.real || std::isnan(next.real));
}

// The first of a window's largest elements, by its offset.
int64_t largestOf(const Literal& a, const Windows& windows, int64_t row, int64_t column, int64_t plane) {
  int64_t best = -1;
  forEachPlace(windows, row, column, [&](int64_t y, int64_t x, int64_t) {
    const int64_t at = plane + y * windows.columns.length + x;
    best = best < 0 || exceeds(load(a, at), load(a, best)) ? at : best;
  });
  return best;
}

double poolDivisor(const ops::AveragePool& op, const Windows& windows, int64_t row, int64_t column) {
  const WindowAxis::Range rows = windows.rows.placesOf(row), columns = windows.columns.placesOf(column);
  return static_cast<double>(op.countPadding ? windows.size()
                                             : (rows.end - rows.begin) * (columns.end - columns.begin));
}

} // namespace

namespace {

/// One of a term's three elements; of a convolution and its gradients, each sums what the other two make.
using TermElement = int64_t (*)(int64_t image, int64_t filter, int64_t result);
int64_t ofImage(int64_t image, int64_t /*filter*/, int64_t /*result*/) { return image; }
int64_t ofFilter(int64_t /*image*/, int64_t filter, int64_t /*result*/) { return filter; }
int64_t ofResult(int64_t /*image*/, int64_t /*filter*/, int64_t result) { return result; }

template <class Op>
Literal convolved(const Op& op, Operands operands, const TensorType& type, TermElement a, TermElement b,
                  TermElement to) {
  const TensorType types[2] = {operands[0].type(), operands[1].type()};
  Sums sums(type);
  forEachTerm(convolutionOf(op, types), [&](int64_t image, int64_t filter, int64_t result) {
    sums.add(to(image, filter, result), load(operands[0], a(image, filter, result)).real *
                                            load(operands[1], b(image, filter, result)).real);
  });
  return sums.result();
}

} // namespace

Literal conv2d(const ops::Conv2d& op, Operands operands, const TensorType& type) {
  return convolved(op, operands, type, ofImage, ofFilter, ofResult);
}

Literal conv2dInputGradient(const ops::Conv2dInputGradient& op, Operands operands, const TensorType& type) {
  return convolved(op, operands, type, ofFilter, ofResult, ofImage);
}

Literal conv2dFilterGradient(const ops::Conv2dFilterGradient& op, Operands operands, const TensorType& type) {
  return convolved(op, operands, type, ofImage, ofResult, ofFilter);
}

Literal maxPool(const ops::MaxPool& op, const Literal& a, const TensorType& type) {
  const Shape& image = a.type().shape;
  const Windows windows = windowsOf(image, windowAttributes(op));
  Literal result(type);
  forEachWindow(image, windows, [&](int64_t to, int64_t row, int64_t column, int64_t plane) {
    copyElement(result, to, a, largestOf(a, windows, row, column, plane));
  });
  return result;
}

Literal maxPoolGradient(const ops::MaxPoolGradient& op, Operands operands, const TensorType& type) {
  const Windows windows = windowsOf(type.shape, windowAttributes(op));
  Sums sums(type);
  forEachWindow(type.shape, windows, [&](int64_t from, int64_t row, int64_t column, int64_t plane) {
    sums.add(largestOf(operands[0], windows, row, column, plane), load(operands[1], from).real);
  });
  return sums.result();
}

Literal averagePool(const ops::AveragePool& op, const Literal& a, const TensorType& type) {
  const Shape& image = a.type().shape;
  const Windows windows = windowsOf(image, windowAttributes(op));
  Literal result(type);
  forEachWindow(image, windows, [&](int64_t to, int64_t row, int64_t column, int64_t plane) {
    double sum = 0;
    forEachPlace(windows, row, column,
                 [&](int64_t y, int64_t x, int64_t) { sum += load(a, plane + y * image[3] + x).real; });
    store(result, to, rounded(type.element, sum / poolDivisor(op, windows, row, column)));
  });
  return result;
}

Literal averagePoolGradient(const ops::AveragePoolGradient& op, const Literal& cotangent,
                            const TensorType& type) {
  const Windows windows = windowsOf(type.shape, windowAttributes(op));
  ops::AveragePool pool;
  pool.countPadding = op.countPadding;
  Sums sums(type);
  forEachWindow(type.shape, windows, [&](int64_t from, int64_t row, int64_t column, int64_t plane) {
    const double share = load(cotangent, from).real / poolDivisor(pool, windows, row, column);
    forEachPlace(windows, row, column,
                 [&](int64_t y, int64_t x, int64_t) { sums.add(plane + y * type.shape[3] + x, share); });
  });
  return sums.result();
}

} // namespace dfc::evaluation
