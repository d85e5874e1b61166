#include "ir/graph/op_parts.h"

namespace dfc {

OpCost streamingCost(OperandTypes operands, OperandTypes results, double flopsPerElement) {
  OpCost cost;
  cost.flops = flopsPerElement * static_cast<double>(results.front().shape.elements());
  for (const TensorType& type : operands) {
    cost.bytes += static_cast<double>(type.bytes());
  }
  for (const TensorType& type : results) {
    cost.bytes += static_cast<double>(type.bytes());
  }
  return cost;
}

} // namespace dfc
