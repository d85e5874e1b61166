#include "ir/graph/rules/cross_entropy_rules.h"

#include <fmt/format.h>

namespace dfc {

TypeResult crossEntropyRows(OpKind kind, OperandTypes operands, int64_t rows) {
  const TensorType &logits = operands[0], &labels = operands[1];
  if (!isFloat(logits.element) || logits.shape.rank() != 2) {
    return refuse(kind, operands, "the logits are no matrix of a float type",
                  "give logits as [rows, classes], one row an example");
  }
  if ((labels.element != ElementType::I32 && labels.element != ElementType::I64) ||
      labels.shape.rank() != 1) {
    return refuse(kind, operands, "the labels are no vector of i32 or i64",
                  "give labels as [rows], each the index of a class; argMax turns one-hot rows into them");
  }
  if (logits.shape[0] != labels.shape[0]) {
    return refuse(kind, operands,
                  fmt::format("{} rows of logits meet {} labels", logits.shape[0], labels.shape[0]),
                  "give one label for each row of logits");
  }
  if (rows != 0 && rows < logits.shape[0]) {
    return refuse(kind, operands, fmt::format("the whole has {} rows, fewer than these", rows),
                  "give the rows of the whole, or leave them out");
  }
  if (logits.shape.elements() == 0) {
    return refuse(kind, operands, "no rows or no classes", "the mean over nothing has no value");
  }
  return {};
}

} // namespace dfc
