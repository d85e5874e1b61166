#include "compiler/simulate/launch_seconds.h"

#include <algorithm>

namespace dfc {
namespace {

/// Divides the seconds of ops among their launches: a generated launch behind a call of a library takes what
/// its bytes take, and the call the rest; several generated launches share by their bytes.
class LaunchSeconds {
 public:
  LaunchSeconds(LaunchPlan& launches, const Schedule& schedule, const Machine& machine)
      : launches_(launches), schedule_(schedule), machine_(machine), bytes_(schedule.stepOf.size(), 0.0),
        ofKernels_(schedule.stepOf.size(), 0.0), hasCall_(schedule.stepOf.size(), false) {}

  void set() {
    forEach([&](LaunchRow& row, OpId op) {
      bytes_[op] += bytesFor(row, op);
      hasCall_[op] = hasCall_[op] || row.kind != LaunchKind::Kernel;
    });
    forEach([&](LaunchRow& row, OpId op) {
      ofKernels_[op] += row.kind == LaunchKind::Kernel ? ofKernel(row, op) : 0;
    });
    forEach([&](LaunchRow& row, OpId op) { row.seconds += secondsFor(row, op); });
  }

 private:
  template <class Action>
  void forEach(const Action& action) {
    for (LaunchRow& row : launches_.launches) {
      for (const OpId op : row.ops) {
        action(row, op);
      }
    }
  }
  double alone(OpId op) const { return schedule_.steps[schedule_.stepOf[op]].alone(); }

  static double bytesFor(const LaunchRow& row, OpId op) {
    int64_t bytes = 1;
    for (const auto* ranges : {&row.reads, &row.writes}) {
      for (const LaunchRange& range : *ranges) {
        bytes += range.op == op ? range.bytes : 0;
      }
    }
    return static_cast<double>(bytes);
  }

  // Of an op with a call of a library: no more than a part, so that the call has one, too.
  double ofKernel(const LaunchRow& row, OpId op) const {
    const double share = bytesFor(row, op) / bytes_[op];
    if (!hasCall_[op]) {
      return alone(op) * share;
    }
    const DeviceRow& device = machine_.devices[schedule_.queues[row.queue].device];
    const double own =
        device.launchSeconds + (device.memoryBandwidth > 0 ? bytesFor(row, op) / device.memoryBandwidth : 0);
    return std::min(own, alone(op) * share);
  }

  double secondsFor(const LaunchRow& row, OpId op) const {
    return row.kind == LaunchKind::Kernel ? ofKernel(row, op) : alone(op) - ofKernels_[op];
  }

  LaunchPlan& launches_;
  const Schedule& schedule_;
  const Machine& machine_;
  SideTable<OpId, double> bytes_, ofKernels_;
  SideTable<OpId, bool> hasCall_;
};

} // namespace

void expectSeconds(LaunchPlan& launches, const Schedule& schedule, const Machine& machine) {
  for (LaunchRow& row : launches.launches) {
    row.seconds = 0;
  }
  LaunchSeconds(launches, schedule, machine).set();
}

} // namespace dfc
