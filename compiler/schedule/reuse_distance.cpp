#include "compiler/schedule/reuse_distance.h"

#include "ir/graph/op_parts.h"

#include <limits>
#include <vector>

namespace dfc {
namespace {

class ReuseDistances {
 public:
  ReuseDistances(const PlacedGraph& placed, const Machine& machine)
      : placed_(placed), graph_(placed.graph), machine_(machine), base_(graph_.valueCount()),
        last_(graph_.valueCount()), touched_(machine.devices.size(), 0.0), bytes_(graph_.opCount()),
        cold_(graph_.opCount()) {}

  SideTable<OpId, double> run() {
    findBases();
    for (const bool counts : {false, true}) { // the first walk leaves what the step before touched
      for (const OpId op : graph_.ops()) {
        touch(op, counts);
      }
      for (const ValueId value : graph_.values()) {
        Touch& touch = last_[value];
        if (!isKept(value)) {
          settle(touch, never, counts);
          touch = {};
        }
      }
    }
    for (const OpId op : graph_.ops()) {
      cold_[op] = bytes_[op] > 0 ? cold_[op] / bytes_[op] : 0;
    }
    return std::move(cold_);
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  struct Touch {
    double at = -1; ///< bytes that the device had touched; negative: none yet
    OpId writer;    ///< whose result it is, until it is touched again
  };

  // Views share the bytes of their operand, an assigned value those of its parameter.
  void findBases() {
    for (const ValueId value : graph_.values()) {
      base_[value] = value;
    }
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      if (classOf(row.kind()) == OpClass::View) {
        base_[row.firstResult] = base_[row.operands[0]];
      } else if (row.kind() == OpKind::Assign) {
        base_[row.firstResult] = base_[row.operands[0]];
        base_[row.operands[1]] = base_[row.operands[0]];
      }
    }
  }

  bool isKept(ValueId value) const {
    const OpKind kind = graph_[graph_[base_[value]].producer].kind();
    return kind == OpKind::Parameter || kind == OpKind::Constant;
  }

  void touch(OpId op, bool counts) {
    const OpRow& row = graph_[op];
    const OpClass opClass = classOf(row.kind());
    if (opClass == OpClass::View || opClass == OpClass::Source || row.kind() == OpKind::Assign) {
      return;
    }
    const DeviceId device = placed_.device[op];
    for (const ValueId operand : row.operands) {
      touch(op, device, operand, false, counts);
    }
    for (const ValueId result : row.results()) {
      touch(op, device, result, true, counts);
    }
  }

  void touch(OpId op, DeviceId device, ValueId value, bool writes, bool counts) {
    double& touched = touched_[device.index()];
    const auto bytes = static_cast<double>(graph_.typeOf(value).bytes());
    Touch& last = last_[base_[value]];
    const double distance = last.at < 0 ? never : touched - last.at;
    settle(last, distance, counts);
    if (counts) {
      bytes_[op] += bytes;
      cold_[op] += !writes && missed(device, distance) ? bytes : 0;
    }
    touched += bytes;
    last = {touched, writes ? op : OpId()};
  }

  /// What was written last is touched again after this distance.
  void settle(const Touch& last, double distance, bool counts) {
    if (counts && last.writer.valid() && missed(placed_.device[last.writer], distance)) {
      for (const ValueId result : graph_[last.writer].results()) {
        if (&last_[base_[result]] == &last) {
          cold_[last.writer] += static_cast<double>(graph_.typeOf(result).bytes());
        }
      }
    }
  }

  bool missed(DeviceId device, double distance) const {
    const int64_t cache = machine_.devices[device].cacheBytes;
    return cache > 0 && distance > static_cast<double>(cache);
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  SideTable<ValueId, ValueId> base_;
  SideTable<ValueId, Touch> last_;
  std::vector<double> touched_; ///< bytes, by device
  SideTable<OpId, double> bytes_, cold_;
};

} // namespace

SideTable<OpId, double> partsFromMemory(const PlacedGraph& placed, const Machine& machine) {
  return ReuseDistances(placed, machine).run();
}

} // namespace dfc
