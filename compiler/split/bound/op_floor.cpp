#include "compiler/split/bound/op_floor.h"

#include "compiler/cost/peak_seconds.h"
#include "ir/graph/rules/precision.h"

#include <algorithm>

namespace dfc {
namespace {

/// Launches of a generated op that may each be merged with others.
constexpr int mostPasses = 4;

/// More operations than any product that tiles compute (compiler/lower/tile_matmul.h), of a GPU of so many
/// multiprocessors.
double mostOfTiles(uint32_t multiprocessors) {
  return 1024 * 2048.0 * std::max<uint32_t>(multiprocessors, 256);
}

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

// None for a library's product, which is a launch by itself: one in floats, large in every part, and of many
// rows and columns.
int OpFloor::savingPasses(OpId op) const {
  const DeviceRow& device = machine_.devices[mesh_.devices.front()];
  if (device.kind == DeviceKind::Cpu) {
    return 0;
  }
  const OpAttributes& attributes = graph_[op].attributes;
  const OpCost cost = costOf(attributes, graph_.operandTypesOf(op), graph_.resultTypesOf(op));
  const double parts = static_cast<double>(mesh_.size());
  const bool isLarge = cost.flops / parts > mostOfTiles(device.multiprocessors) &&
                       std::min(cost.product.rows, cost.product.columns) >= 4 * parts;
  if (graph_[op].kind() != OpKind::Matmul || !isLarge ||
      !isFloat(graph_.typeOf(graph_[op].firstResult).element)) {
    return mostPasses;
  }
  const bool mayBeTiles = precisionOf(attributes) == Precision::Tf32 && !device.architecture.empty();
  return mayBeTiles ? 1 : 0; // a calibration may choose them
}

} // namespace dfc
