// CostModel: how long an op takes on a device. Planning asks nothing else, so that a roofline, a calibration
// table or a textbook's cost matrix all serve. Seconds throughout.
#pragma once

#include "ir/base/visibility.h"
#include "ir/graph/graph_class.h"
#include "ir/machine/machine.h"

namespace DFC_PUBLIC dfc {

/// How long an op takes on a device. Implementations may be called by many threads at once.
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Seconds that one run of `op` takes on `device`; infinity where it cannot run there.
  virtual double opSeconds(const Graph& graph, OpId op, const Machine& machine, DeviceId device) const = 0;
  /// The same where generated kernels compute the op, not a library of products or convolutions; asked of ops
  /// that are launched so.
  virtual double generatedSeconds(const Graph& graph, OpId op, const Machine& machine,
                                  DeviceId device) const {
    return opSeconds(graph, op, machine, device);
  }
  /// The same as `opSeconds` where no byte of operands and results is in a cache; only asked of models for
  /// which `knowsMemory` holds, others make no difference.
  virtual double fromMemorySeconds(const Graph& graph, OpId op, const Machine& machine,
                                   DeviceId device) const {
    return opSeconds(graph, op, machine, device);
  }
  /// Whether `fromMemorySeconds` differs from `opSeconds` for any op.
  virtual bool knowsMemory() const { return false; }
  /// Whether `opSeconds` comes from a measurement, of this op or of one like it, which contains all kernel
  /// launches of the op. Else it prices one launch.
  virtual bool isMeasured(const Graph& /*graph*/, OpId /*op*/, const Machine& /*machine*/,
                          DeviceId /*device*/) const {
    return false;
  }
  /// Seconds that a copy of `bytes` takes over one route by itself.
  virtual double transferSeconds(const Machine& machine, const Route& route, int64_t bytes) const {
    return machine.seconds(route, bytes);
  }
  /// The same over a chain of routes, as Machine::path gives it.
  double pathSeconds(const Machine& machine, const std::vector<Route>& path, int64_t bytes) const;
  /// Utilisation: the fraction of the device's computing power, 0 to 1, that `op` uses while it runs alone
  /// there. Concurrent ops on the queues of one device slow one another down by processor sharing where their
  /// utilisations sum to more than 1. 0 for a model without contention between the queues of a device.
  virtual double utilisation(const Graph& /*graph*/, OpId /*op*/, const Machine& /*machine*/,
                             DeviceId /*device*/) const {
    return 0;
  }
  /// A factor, 0 to 1: `opSeconds` of each product, convolution and attention is at least this factor times
  /// `peakSeconds` (peak_seconds.h). 0: the model states no lower bound.
  virtual double leastOfPeak(const Machine& /*machine*/, DeviceId /*device*/) const { return 0; }
};

/// The roofline (Williams, Waterman and Patterson 2009): launch + max(flops / peak rate, bytes / memory
/// bandwidth), with flops and bytes from the op table and the peak rate by the first operand's element type
/// and, for products of f32, their precision. Matmul-like ops reach less of it where their inner dimension is
/// short or their tiles leave multiprocessors idle (`DeviceRow::matmulRate`), and on a GPU their launch is
/// that of a library's product (`DeviceRow::launchOf`); generated kernels have neither tiles of that size nor
/// that launch. A custom op takes the seconds that it states for the kind of device, and cannot run on a kind
/// without; on a cpu it uses one thread. Views, assigns in place and inputs, which are read where they are
/// fed, cost nothing. The utilisation of an op is the part of its time that is not its launch.
class RooflineCostModel : public CostModel {
 public:
  double opSeconds(const Graph& graph, OpId op, const Machine& machine, DeviceId device) const override;
  double generatedSeconds(const Graph& graph, OpId op, const Machine& machine,
                          DeviceId device) const override;
  double utilisation(const Graph& graph, OpId op, const Machine& machine, DeviceId device) const override;
  double leastOfPeak(const Machine& /*machine*/, DeviceId /*device*/) const override { return 1; }
};

} // namespace dfc
