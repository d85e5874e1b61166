#include "compiler/place/place_by_layers.h"

#include "compiler/place/task_graph_of.h"
#include "ir/plan/placed_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dfc {
namespace {

class LayerPlacer {
 public:
  LayerPlacer(const PlacementProblem& problem, llvm::ArrayRef<DeviceId> devices)
      : problem_(problem), graph_(problem.graph), devices_(devices), group_(graph_.opCount()),
        firstReader_(graph_.opCount(), unread), bytes_(graph_.opCount(), 0), home_(graph_.opCount()) {}

  Placement run() {
    std::iota(group_.begin(), group_.end(), 0U);
    groupParameters();
    shareOut();
    Placement placement = placeOn(problem_, devices_.front());
    placement.policy = "layers";
    for (const OpId op : graph_.ops()) {
      if (!problem_.pins[op].valid() && graph_[op].kind() != OpKind::Input) {
        placement.device[op] = deviceOf(op, placement);
      }
    }
    settleResidents(placement, problem_);
    return placement;
  }

 private:
  static constexpr uint32_t unread = std::numeric_limits<uint32_t>::max();

  uint32_t groupOf(uint32_t op) {
    while (group_[op] != op) {
      group_[op] = group_[group_[op]];
      op = group_[op];
    }
    return op;
  }

  bool isParameter(ValueId value) const { return graph_[graph_[value].producer].kind() == OpKind::Parameter; }

  // Of equal size, as a weight and its moments are: scalars that all updates read join nothing.
  void groupParameters() {
    for (const OpId op : graph_.ops()) {
      ValueId last;
      for (const ValueId operand : graph_[op].operands) {
        if (!isParameter(operand)) {
          continue;
        }
        if (last.valid() && graph_.typeOf(last).bytes() == graph_.typeOf(operand).bytes()) {
          const uint32_t a = groupOf(graph_[last].producer.index());
          const uint32_t b = groupOf(graph_[operand].producer.index());
          group_[std::max(a, b)] = std::min(a, b);
        }
        last = operand;
      }
    }
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        if (isParameter(operand)) {
          uint32_t& first = firstReader_[groupOf(graph_[operand].producer.index())];
          first = std::min(first, op.index());
        }
      }
    }
    for (const OpId op : graph_.opsOf(OpKind::Parameter)) {
      bytes_[groupOf(op.index())] += static_cast<double>(graph_.typeOf(graph_[op].firstResult).bytes());
    }
  }

  void shareOut() {
    std::vector<uint32_t> order;
    double rest = 0;
    for (const OpId op : graph_.opsOf(OpKind::Parameter)) {
      if (groupOf(op.index()) == op.index()) {
        order.push_back(op.index());
        rest += bytes_[op.index()];
      }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return firstReader_[a] < firstReader_[b]; });
    size_t device = 0;
    double used = 0, share = shareOf(device, rest);
    for (const uint32_t group : order) {
      if (device + 1 < devices_.size() && used > 0 && used + bytes_[group] / 2 > share) {
        rest -= used;
        used = 0;
        share = shareOf(++device, rest);
      }
      used += bytes_[group];
      home_[group] = devices_[device];
    }
  }

  double shareOf(size_t device, double rest) const {
    const double equal = rest / static_cast<double>(devices_.size() - device);
    const int64_t capacity = problem_.machine.devices[devices_[device]].memoryBytes;
    return capacity == 0 ? equal : std::min(equal, static_cast<double>(capacity));
  }

  // Beside the largest parameter that the op reads, else where the largest operand is.
  DeviceId deviceOf(OpId op, const Placement& placement) {
    DeviceId device = placement.device[op];
    int64_t most = -1;
    bool beside = false;
    for (const ValueId operand : graph_[op].operands) {
      const OpId producer = graph_[operand].producer;
      const int64_t bytes = graph_.typeOf(operand).bytes();
      const OpKind kind = graph_[producer].kind();
      const bool parameter = kind == OpKind::Parameter;
      if (kind != OpKind::Constant && kind != OpKind::Input &&
          ((parameter && !beside) || (parameter == beside && bytes > most))) {
        most = bytes;
        beside = parameter;
        device = parameter ? home_[groupOf(producer.index())] : placement.device[producer];
      }
    }
    return std::isfinite(problem_.cost.opSeconds(graph_, op, problem_.machine, device))
               ? device
               : placement.device[op];
  }

  const PlacementProblem& problem_;
  const Graph& graph_;
  llvm::ArrayRef<DeviceId> devices_;
  std::vector<uint32_t> group_; // by op, of parameters: union-find
  std::vector<uint32_t> firstReader_;
  std::vector<double> bytes_; // by op that stands for its group
  std::vector<DeviceId> home_;
};

} // namespace

Placement placeByLayers(const PlacementProblem& problem, llvm::ArrayRef<DeviceId> devices) {
  return LayerPlacer(problem, devices).run();
}

} // namespace dfc
