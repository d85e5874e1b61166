#include "ir/author/composites.h"

#include <fmt/format.h>
#include <llvm/ADT/ArrayRef.h>

#include <cmath>
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

// bool[queries, keys]: whether the key stands at the query's place or before it.
Tensor causalMask(Builder& builder, int64_t queries, int64_t keys) {
  const Tensor query = iota(builder, i64({queries, 1}), 0), key = iota(builder, i64({1, keys}), 1);
  return compare(key, query, Direction::Le);
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
  const Shape &queries = q.tensor()->shape(), &keys = k.tensor()->shape();
  const auto width = static_cast<double>(queries[queries.rank() - 1]);
  const double scale = options.scale.value_or(width == 0 ? 1 : 1 / std::sqrt(width));
  Transposes transposed;
  transposed.b = true;
  Tensor scores = matmul(*q.tensor() * scale, *k.tensor(), transposed);
  if (options.causal && scores.valid()) {
    const Tensor mask = causalMask(*builder, queries[queries.rank() - 2], keys[keys.rank() - 2]);
    scores = select(mask, scores, -std::numeric_limits<double>::infinity());
  }
  return matmul(softmax(scores, -1), *v.tensor());
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

} // namespace dfc
