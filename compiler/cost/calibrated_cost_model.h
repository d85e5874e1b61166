// CalibratedCostModel: measured durations for measured ops and for ops near them, another model elsewhere.
//
// An op on a device whose model has a table takes
//   1. the seconds of its own signature;
//   2. else, from the nearest row of its family, seconds(row) x fallback(op) / fallback(row). A family are
//      the ops of one kind, attributes (a fused body too), and ranks and element types of operands: one
//      kernel, as a rule, on other shapes. The nearest is the one at the least Euclidean distance in (log2
//      flops, log2 bytes), the first by signature on a tie. Neither flops nor bytes may differ by more than a
//      factor of `farthest`;
//   3. else the seconds of the fallback.
// Uncalibrated device (its model has no table): the fallback's seconds, scaled by the largest ratio of
// measured to fallback seconds of this op on the machine's calibrated devices. The relative speed of two
// devices is then that of the fallback, so that a table of one device moves no op to another.
// Links likewise: if copies of one class were measured and those of another not, measured seconds beside the
// file's would move work to where the file is the more hopeful. So they count where all are measured.
//
// Why so: with the roofline as fallback (Williams, Waterman and Patterson 2009), seconds / roofline is how
// far a kernel stays below the hardware's limit. That changes slowly with the size of the work, and by
// factors rather than by amounts (tiles at the edge, waves, caches that stop to suffice), so it is carried
// over from the nearest neighbour in log space, and no further than to four times the work, where other tiles
// and another cache level take over. Launch cost is part of the roofline, so tiny ops do not scale with their
// bytes.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/base/visibility.h"
#include "ir/machine/calibration.h"

#include <map>
#include <optional>

namespace DFC_PUBLIC dfc {

/// Seconds from tables of measurements. See the top of this file.
class CalibratedCostModel : public CostModel {
 public:
  /// How many times the work of a measured op may differ.
  static constexpr double farthest = 4;

  /// If two tables describe the same device, the later table's rows take precedence. `fallback` outlives the
  /// model.
  CalibratedCostModel(std::vector<Calibration> tables, const CostModel& fallback);
  double opSeconds(const Graph& graph, OpId op, const Machine& machine, DeviceId device) const override;
  /// As `opSeconds`, which a measurement has of the kernels that compute the op; the fallback's where that
  /// counts.
  double generatedSeconds(const Graph& graph, OpId op, const Machine& machine,
                          DeviceId device) const override;
  /// As measured with operands in memory, where that was; else as `opSeconds`.
  double fromMemorySeconds(const Graph& graph, OpId op, const Machine& machine,
                           DeviceId device) const override;
  bool knowsMemory() const override { return knowsMemory_; }
  /// Of ops on calibrated devices that take seconds of the table (1 and 2 above).
  bool isMeasured(const Graph& graph, OpId op, const Machine& machine, DeviceId device) const override;
  /// As measured where every class of the machine's links was, else as the machine file says.
  double transferSeconds(const Machine& machine, const Route& route, int64_t bytes) const override;
  /// The fallback's seconds of work divided by this model's seconds, at most 1: how close the op gets to the
  /// limits of its device. The fallback's of custom ops.
  double utilisation(const Graph& graph, OpId op, const Machine& machine, DeviceId device) const override;
  /// The factor of the fallback model, times the least ratio of measured to fallback seconds over the
  /// products, convolutions and attentions of the table, if that ratio is below 1. Seconds that are
  /// interpolated from a measured op keep its ratio.
  double leastOfPeak(const Machine& machine, DeviceId device) const override;

 private:
  /// A measured op, to ask the fallback about.
  struct Row {
    LoneOp lone;
    double seconds = 0, fromMemory = 0, flops = 0, bytes = 0;
  };
  enum class Operands : uint8_t { InCache, InMemory };
  double secondsOf(const Graph& graph, OpId op, const Machine& machine, DeviceId device,
                   Operands operands = Operands::InCache) const;
  std::optional<double> measuredSeconds(const Graph& graph, OpId op, const Machine& machine, DeviceId device,
                                        Operands operands = Operands::InCache) const;
  double factorOfMeasured(const Graph& graph, OpId op, const Machine& machine) const;
  const Calibration* tableOf(const DeviceRow& device) const;
  bool measuredAllCopies(const Machine& machine) const;
  bool hasTable(const DeviceRow& device) const { return tables_.find(device.model) != tables_.end(); }
  using Families = std::map<std::string, std::vector<Row>, std::less<>>;
  static Families familiesOf(const Calibration& table);
  static const Row* nearest(const Families& families, const Graph& graph, OpId op,
                            const std::string& signature);

  std::map<std::string, Calibration, std::less<>> tables_; ///< by device model
  std::map<std::string, Families, std::less<>> families_;  ///< likewise
  const CostModel& fallback_;
  bool knowsMemory_ = false; ///< any row was measured so
};

} // namespace dfc
