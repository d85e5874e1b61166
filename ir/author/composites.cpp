#include "ir/author/composites.h"

#include "ir/graph/op.h"

#include <fmt/format.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

// The builder of the first tensor; null where there is none to complain in.
Builder* builderOf(llvm::ArrayRef<Operand> operands) {
  for (const Operand& operand : operands) {
    if (operand.tensor() != nullptr && operand.tensor()->builder() != nullptr) {
      return operand.tensor()->builder();
    }
  }
  return nullptr;
}

// Whether all are tensors that hold a value of rank `least` or more. A poisoned tensor was reported before.
bool areTensors(Builder& builder, std::string_view what, llvm::ArrayRef<Operand> operands, size_t least) {
  for (const Operand& operand : operands) {
    const Tensor* tensor = operand.tensor();
    if (tensor == nullptr || tensor->builder() == nullptr) {
      builder.report(operand.where(), fmt::format("{} of a number or an empty Tensor", what),
                     fmt::format("{} takes tensors", what));
      return false;
    }
    if (!tensor->valid()) {
      return false;
    }
    if (tensor->shape().rank() < least) {
      builder.report(
          operand.where(),
          fmt::format("{} of {}: it has fewer than {} axes", what, toString(tensor->type()), least),
          "the last two axes are positions and width");
      return false;
    }
  }
  return true;
}

// Repeats a tensor of fewer or shorter batch axes (all but the last `tail`) along those of `batch`.
Tensor overBatch(Tensor x, const Shape& batch, size_t tail) {
  const llvm::ArrayRef<int64_t> dims = dimRange(x.shape());
  Dims wanted(batch.dims().begin(), batch.dims().end());
  wanted.insert(wanted.end(), dims.end() - tail, dims.end());
  return dims == llvm::ArrayRef<int64_t>(wanted) ? x : broadcast(x, wanted);
}

// The batch axes that q, k and v have in common; none where they clash, which the op's type rule then says.
std::optional<Shape> commonBatch(llvm::ArrayRef<Tensor> operands, size_t tail) {
  std::optional<Shape> batch = Shape();
  for (const Tensor& x : operands) {
    batch = batch ? broadcastShapes(*batch, Shape(dimRange(x.shape()).drop_back(tail))) : batch;
  }
  return batch;
}

} // namespace

Tensor attention(Operand q, Operand k, Operand v, AttentionOptions options) {
  Builder* const builder = builderOf({q, k, v});
  if (builder == nullptr) {
    return {};
  }
  if (!areTensors(*builder, "attention", {q, k, v}, 2)) {
    return {builder, {}};
  }
  const auto place = builder->at(builder->locate(q.where()));
  if (options.scale == 0.0) {
    builder->report(q.where(), "attention with a scale of 0", "leave the scale out for 1 / sqrt(width)");
    return {builder, {}};
  }
  std::vector<Tensor> operands = {*q.tensor(), *k.tensor(), *v.tensor()};
  const auto rank = [](const Tensor& x) { return x.shape().rank(); };
  const size_t tail =
      std::min<size_t>(3, std::min({rank(operands[0]), rank(operands[1]), rank(operands[2])}));
  if (const auto batch = commonBatch(operands, tail)) {
    llvm::for_each(operands, [&](Tensor& x) { x = overBatch(x, *batch, tail); });
  }
  if (options.mask.builder() != nullptr) {
    operands.push_back(options.mask);
  }
  ops::Attention op;
  op.causal = options.causal;
  op.scale = options.scale.value_or(0);
  op.precision = options.precision;
  return builder->op(op, operands, q.where());
}

Tensor embedding(Operand table, Operand ids) {
  Builder* const builder = builderOf({table, ids});
  if (builder == nullptr) {
    return {};
  }
  if (!areTensors(*builder, "embedding", {table, ids}, 0)) {
    return {builder, {}};
  }
  const auto place = builder->at(builder->locate(table.where()));
  if (table.tensor()->shape().rank() != 2) {
    builder->report(table.where(),
                    fmt::format("embedding: the table is {}", toString(table.tensor()->type())),
                    "give a table of [entries, width]");
    return {builder, {}};
  }
  return gather(*table.tensor(), *ids.tensor(), 0);
}

namespace {

// The logits as a tensor of rows of a float, or a report.
std::optional<Tensor> rowsOf(Builder& builder, std::string_view what, const Operand& logits) {
  if (!areTensors(builder, what, {logits}, 0)) {
    return std::nullopt;
  }
  const TensorType type = logits.tensor()->type();
  if (type.shape.rank() == 0 || !isFloat(type.element) || type.shape[type.shape.rank() - 1] == 0) {
    builder.report(logits.where(), fmt::format("{} of {}", what, toString(type)),
                   "give a tensor of floats whose last axis is the classes");
    return std::nullopt;
  }
  return *logits.tensor();
}

Tensor lowest(Builder& builder, ElementType element) {
  return builder.scalar(element, -std::numeric_limits<double>::infinity());
}

// The last of the elements along the last axis, which stays with length 1.
Tensor lastOfRow(Tensor rows) {
  Dims starts(rows.shape().rank(), 0);
  Dims ends(rows.shape().dims().begin(), rows.shape().dims().end());
  starts.back() = ends.back() - 1;
  return slice(rows, starts, ends);
}

} // namespace

Tensor categorical(Operand logits, Operand step, int64_t seed) {
  Builder* const builder = builderOf({logits, step});
  if (builder == nullptr) {
    return {};
  }
  const auto rows = rowsOf(*builder, "categorical", logits);
  if (!rows) {
    return {builder, {}};
  }
  const auto place = builder->at(builder->locate(logits.where()));
  const ElementType element = rows->type().element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  const Tensor wide = rows->type().element == element ? *rows : cast(*rows, element);
  const Tensor uniform = randomUniform(step, {element, rows->shape()}, seed);
  return argMax(wide - log(-log(uniform)));
}

Tensor keepTopK(Operand logits, int64_t k) {
  Builder* const builder = builderOf({logits});
  if (builder == nullptr) {
    return {};
  }
  const auto rows = rowsOf(*builder, "keepTopK", logits);
  if (!rows) {
    return {builder, {}};
  }
  const auto place = builder->at(builder->locate(logits.where()));
  const int64_t classes = rows->shape()[rows->shape().rank() - 1];
  if (k < 1 || k > classes) {
    builder->report(logits.where(), fmt::format("keepTopK of {}: k is {}", toString(rows->type()), k),
                    fmt::format("give a k from 1 to {}", classes));
    return {builder, {}};
  }
  const Tensor least = lastOfRow(topK(*rows, k).values);
  return select(compare(*rows, least, Direction::Ge), *rows, lowest(*builder, rows->type().element));
}

Tensor keepTopP(Operand logits, double p, int64_t among) {
  Builder* const builder = builderOf({logits});
  if (builder == nullptr) {
    return {};
  }
  const auto rows = rowsOf(*builder, "keepTopP", logits);
  if (!rows) {
    return {builder, {}};
  }
  const auto place = builder->at(builder->locate(logits.where()));
  const int64_t classes = rows->shape()[rows->shape().rank() - 1];
  if (!(p > 0 && p <= 1) || among < 0 || among > classes) {
    builder->report(logits.where(),
                    fmt::format("keepTopP of {}: p is {}, among {}", toString(rows->type()), p, among),
                    fmt::format("0 < p <= 1, and 0 <= among <= {}", classes));
    return {builder, {}};
  }
  const Tensor probabilities = softmax(*rows);
  const Tensor sorted = topK(probabilities, among == 0 ? classes : among).values;
  const Tensor isNeeded = compare(cumSum(sorted, -1, {.exclusive = true}), p, Direction::Lt);
  const Tensor least = reduceMin(select(isNeeded, sorted, 2), {-1}, true); // the first is always needed
  return select(compare(probabilities, least, Direction::Ge), *rows, lowest(*builder, rows->type().element));
}

} // namespace dfc
