// Softmax and the ops built on it, by the formulas of the op headers, in double, shifted by the maximum of
// each row.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/graph/rules/op_rules.h"

#include <cmath>
#include <limits>

namespace dfc::evaluation {
namespace {

// What softmax subtracts and divides by: exp(x - shift) / sum = exp(x - shift - logSum).
struct RowTotals {
  double shift = 0;
  double sum = 0;
};

RowTotals totalsOf(llvm::ArrayRef<double> row) {
  RowTotals totals;
  totals.shift = -std::numeric_limits<double>::infinity();
  for (const double x : row) {
    totals.shift = std::isnan(x) || x > totals.shift ? x : totals.shift;
  }
  for (const double x : row) {
    totals.sum += std::exp(x - totals.shift);
  }
  return totals;
}

// Applies `function` to every row along `axis`.
Literal alongAxis(const Literal& operand, int64_t writtenAxis,
                  llvm::function_ref<double(double, const RowTotals&)> function) {
  const TensorType& type = operand.type();
  const size_t axis = *normalAxis(writtenAxis, type.shape.rank());
  Literal result(type);
  forEachIndex(reducedShape(type.shape, {static_cast<int64_t>(axis)}, true), [&](llvm::ArrayRef<int64_t> at) {
    Index index(at.begin(), at.end());
    std::vector<double> row;
    for (index[axis] = 0; index[axis] < type.shape[axis]; ++index[axis]) {
      row.push_back(load(operand, offsetOf(type.shape, index)).real);
    }
    const RowTotals totals = totalsOf(row);
    for (index[axis] = 0; index[axis] < type.shape[axis]; ++index[axis]) {
      store(result, offsetOf(type.shape, index),
            rounded(type.element, function(row[static_cast<size_t>(index[axis])], totals)));
    }
  });
  return result;
}

std::vector<double> rowOf(const Literal& matrix, int64_t row) {
  const int64_t columns = matrix.type().shape[1];
  std::vector<double> values;
  for (int64_t column = 0; column < columns; ++column) {
    values.push_back(load(matrix, row * columns + column).real);
  }
  return values;
}

bool isClass(int64_t label, size_t classes) { return label >= 0 && static_cast<size_t>(label) < classes; }

} // namespace

Literal softmax(const ops::Softmax& op, const Literal& operand) {
  return alongAxis(operand, op.axis,
                   [](double x, const RowTotals& totals) { return std::exp(x - totals.shift) / totals.sum; });
}

Literal logSoftmax(const ops::LogSoftmax& op, const Literal& operand) {
  return alongAxis(operand, op.axis,
                   [](double x, const RowTotals& totals) { return x - totals.shift - std::log(totals.sum); });
}

Literal softmaxCrossEntropy(const ops::SoftmaxCrossEntropy& op, Operands operands, const TensorType& type) {
  const Literal &logits = operands[0], &labels = operands[1];
  const int64_t rows = logits.type().shape[0];
  double sum = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const std::vector<double> row = rowOf(logits, i);
    const int64_t label = load(labels, i).whole;
    const RowTotals totals = totalsOf(row);
    sum += isClass(label, row.size())
               ? std::log(totals.sum) - (row[static_cast<size_t>(label)] - totals.shift)
               : std::numeric_limits<double>::quiet_NaN();
  }
  Literal result(type);
  store(result, 0, rounded(type.element, sum / static_cast<double>(op.rows != 0 ? op.rows : rows)));
  return result;
}

Literal softmaxCrossEntropyGradient(const ops::SoftmaxCrossEntropyGradient& op, Operands operands) {
  const Literal &logits = operands[0], &labels = operands[1], &cotangent = operands[2];
  const int64_t rows = logits.type().shape[0], classes = logits.type().shape[1];
  const double scale = load(cotangent, 0).real;
  Literal result(logits.type());
  for (int64_t i = 0; i < rows; ++i) {
    const std::vector<double> row = rowOf(logits, i);
    const int64_t label = load(labels, i).whole;
    const RowTotals totals = totalsOf(row);
    for (int64_t j = 0; j < classes; ++j) {
      const double probability = std::exp(row[static_cast<size_t>(j)] - totals.shift) / totals.sum;
      // A wrong label made the loss NaN, so nothing is known of the derivative of its row either.
      const double derivative = isClass(label, row.size()) ? probability - (j == label ? 1 : 0)
                                                           : std::numeric_limits<double>::quiet_NaN();
      store(result, i * classes + j,
            rounded(logits.type().element,
                    scale * derivative / static_cast<double>(op.rows != 0 ? op.rows : rows)));
    }
  }
  return result;
}

} // namespace dfc::evaluation
