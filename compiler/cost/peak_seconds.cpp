#include "compiler/cost/peak_seconds.h"

#include "ir/graph/graph.h"
#include "ir/graph/rules/precision.h"

#include <algorithm>

namespace dfc {
namespace {

bool hasProducts(OpKind kind) {
  return kind == OpKind::Matmul || kind == OpKind::FusedMatmul || kind == OpKind::Conv2d ||
         kind == OpKind::FusedConv2d || kind == OpKind::Conv2dInputGradient ||
         kind == OpKind::Conv2dFilterGradient || kind == OpKind::Attention ||
         kind == OpKind::AttentionGradient;
}

} // namespace

double peakSeconds(const Graph& graph, OpId op, const DeviceRow& device) {
  const OpAttributes& attributes = graph[op].attributes;
  if (!hasProducts(graph[op].kind())) {
    return 0;
  }
  const auto operands = graph.operandTypesOf(op);
  const OpCost cost = costOf(attributes, operands, graph.resultTypesOf(op));
  const bool tf32 = precisionOf(attributes) == Precision::Tf32;
  double rate = 0;
  for (const bool windows :
       {false, cost.product.windows}) { // generated convolutions have the rate of products
    const double one =
        device.matmulRate(operands.front().element, tf32, {.inner = cost.product.inner, .windows = windows});
    if (one <= 0) {
      return 0;
    }
    rate = std::max(rate, one);
  }
  return cost.flops / rate;
}

} // namespace dfc
