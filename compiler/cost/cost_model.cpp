#include "compiler/cost/cost_model.h"

#include "ir/graph/graph.h"
#include "ir/graph/rules/precision.h"

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

// A rate that the machine file leaves out is infinite: it never limits an op.
double secondsAt(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

bool isFree(const OpRow& row) { return classOf(row.kind()) == OpClass::View || row.kind() == OpKind::Assign; }

// Seconds at the device's limits, without the launch.
double workSeconds(const Graph& graph, OpId op, const DeviceRow& hardware) {
  const OpRow& row = graph[op];
  const auto operands = graph.operandTypesOf(op);
  const auto results = graph.resultTypesOf(op);
  const OpCost cost = costOf(row.attributes, operands, results);
  const ElementType element = operands.empty() ? results.front().element : operands.front().element;
  const bool tf32 = precisionOf(row.attributes) == Precision::Tf32;
  return std::max(secondsAt(cost.flops, hardware.matmulRate(element, tf32, cost.inner)),
                  secondsAt(cost.bytes, hardware.memoryBandwidth));
}

} // namespace

double RooflineCostModel::opSeconds(const Graph& graph, OpId op, const Machine& machine,
                                    DeviceId device) const {
  const DeviceRow& hardware = machine.devices[device];
  return isFree(graph[op]) ? 0 : hardware.launchSeconds + workSeconds(graph, op, hardware);
}

double RooflineCostModel::utilisation(const Graph& graph, OpId op, const Machine& machine,
                                      DeviceId device) const {
  const DeviceRow& hardware = machine.devices[device];
  const double work = isFree(graph[op]) ? 0 : workSeconds(graph, op, hardware);
  const double seconds = hardware.launchSeconds + work;
  return work > 0 && std::isfinite(seconds) ? work / seconds : 0;
}

} // namespace dfc
