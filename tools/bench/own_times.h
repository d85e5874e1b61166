// Times of plans' own ops, at their own shapes, as `dfc calibrate` would measure them: for experiments that
// hold predictions against what they measure.
#pragma once

#include "ir/machine/calibration.h"
#include "ir/plan/executable_parts.h"
#include "runtime/backend.h"
#include "runtime/session.h"

#include <vector>

namespace dfc::bench {

class OwnTimes {
 public:
  explicit OwnTimes(std::vector<Calibration> tables) : tables_(std::move(tables)) {}

  /// Times those ops of the plan's steps that are not known yet, on one device of each model that plays in a
  /// session with these options; gives whether anything is known now that was not before. Throws
  /// MachineError.
  bool learn(const Executable& plan, const SessionOptions& options);
  const std::vector<Calibration>& tables() const { return tables_; }
  /// The rows of the first device of this kind that has any; null for none.
  std::shared_ptr<const Calibration> tableFor(DeviceKind kind, const Machine& machine) const;

 private:
  bool learn(const Executable& plan, const DeviceRequest& device, Backend& backend);
  Calibration& tableOf(const std::string& model);
  std::vector<Calibration> tables_;
};

} // namespace dfc::bench
