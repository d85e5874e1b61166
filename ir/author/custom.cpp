#include "ir/author/custom.h"

#include "ir/graph/graph.h"
#include "ir/graph/rules/type_list.h"

#include <algorithm>

namespace dfc {
namespace {

ops::Custom attributesOf(const CustomTask& task) {
  ops::Custom op;
  op.function = task.function;
  op.resultTypes = typeListText(task.results);
  op.cpuSeconds = task.cpuSeconds;
  op.gpuSeconds = task.gpuSeconds;
  op.pure = task.pure;
  op.source = task.kernel.source;
  op.entry = task.kernel.entry;
  op.grid = task.kernel.grid;
  op.block = task.kernel.block;
  op.sharedBytes = task.kernel.sharedBytes;
  return op;
}

} // namespace

std::vector<Tensor> custom(Builder& builder, const std::vector<Tensor>& operands, const CustomTask& task,
                           std::source_location where) {
  std::vector<Tensor> results = builder.multiOp(attributesOf(task), operands, where);
  if (results.size() != task.results.size()) { // after a mistake, so that what depends on them adds none
    results.assign(std::max<size_t>(task.results.size(), 1), Tensor(&builder, {}));
  }
  return results;
}

std::vector<Tensor> custom(const std::vector<Tensor>& operands, const CustomTask& task,
                           std::source_location where) {
  for (const Tensor& operand : operands) {
    if (operand.builder() != nullptr) {
      return custom(*operand.builder(), operands, task, where);
    }
  }
  return std::vector<Tensor>(std::max<size_t>(task.results.size(), 1)); // refused where they are used
}

} // namespace dfc
