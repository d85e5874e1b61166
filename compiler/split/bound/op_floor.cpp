#include "compiler/split/bound/op_floor.h"

#include "compiler/cost/peak_seconds.h"
#include "ir/graph/rules/precision.h"

#include <algorithm>

namespace dfc {
namespace {

/// Launches of a generated op that may each be merged with others.
constexpr int mostPasses = 4;

} // namespace

OpFloor::OpFloor(const Graph& graph, const Mesh& mesh, const Machine& machine, const CostModel& cost)
    : graph_(graph), mesh_(mesh), machine_(machine), ofPeak_(1) {
  for (const DeviceId device : mesh.devices) {
    ofPeak_ = std::min(ofPeak_, cost.leastOfPeak(machine, device));
  }
}

double OpFloor::seconds(OpId op, const OpOption& option) const {
  const double whole = atPeak(op), k = static_cast<double>(mesh_.size());
  if (whole == 0) {
    return 0;
  }
  const bool parts = option.form == OpOption::Form::Parts;
  const double seconds = std::max(0.0, (parts ? whole / k : whole) - saved(op, option));
  return option.form == OpOption::Form::OnOne ? seconds / k : seconds;
}

double OpFloor::wholeSeconds(OpId op) const {
  const double whole = atPeak(op);
  return whole == 0 ? 0 : std::max(0.0, whole - saved(op, wholeOption(graph_, op, OpOption::Form::OnAll)));
}

double OpFloor::atPeak(OpId op) const {
  double least = 0;
  for (const DeviceId device : mesh_.devices) {
    const double seconds = peakSeconds(graph_, op, machine_.devices[device]);
    least = device == mesh_.devices.front() ? seconds : std::min(least, seconds);
  }
  return ofPeak_ * least;
}

// A shared launch costs an op of several less (compiler/simulate/count_launches.h), by no more than the
// launch and its reads.
double OpFloor::saved(OpId op, const OpOption& option) const {
  const int passes = savingPasses(op);
  if (passes == 0) {
    return 0;
  }
  double bytes = 0;
  for (size_t i = 0; i < graph_[op].operands.size(); ++i) {
    const bool cut = option.operands[i].isCut();
    constexpr double halo = 2; // windows overlap
    bytes += static_cast<double>(graph_.typeOf(graph_[op].operands[i]).bytes()) *
             (cut ? halo / static_cast<double>(mesh_.size()) : 1);
  }
  double most = 0;
  for (const DeviceId device : mesh_.devices) {
    const DeviceRow& row = machine_.devices[device];
    most = std::max(most, row.launchSeconds + (row.memoryBandwidth > 0 ? bytes / row.memoryBandwidth : 0));
  }
  return passes * most;
}

// None for a library's product, which is a launch by itself: one in floats without a vector among its parts.
int OpFloor::savingPasses(OpId op) const {
  const DeviceRow& device = machine_.devices[mesh_.devices.front()];
  if (device.kind == DeviceKind::Cpu) {
    return 0;
  }
  const OpAttributes& attributes = graph_[op].attributes;
  const ProductShape product =
      costOf(attributes, graph_.operandTypesOf(op), graph_.resultTypesOf(op)).product;
  const double leastLength = 4 * static_cast<double>(mesh_.size());
  if (graph_[op].kind() != OpKind::Matmul || !isFloat(graph_.typeOf(graph_[op].firstResult).element) ||
      std::min({product.rows, product.columns, product.inner}) < leastLength) {
    return mostPasses;
  }
  const bool mayBeTiles = precisionOf(attributes) == Precision::Tf32 && !device.architecture.empty();
  return mayBeTiles ? 1 : 0; // compiler/lower/tile_matmul.h: in one launch
}

} // namespace dfc
