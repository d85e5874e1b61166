// Calibration for the ops of the plans that are run, at their shapes, as `dfc calibrate` measures them: for
// experiments that compare predictions with measurements.
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

  /// Times the plan's ops that have no row yet, and copies over the machine's links the first time, on one
  /// device of each model that a session with these options uses. Returns whether rows were added. Throws
  /// MachineError.
  bool learn(const Executable& plan, const SessionOptions& options);
  const std::vector<Calibration>& tables() const { return tables_; }

 private:
  bool learn(const Executable& plan, const DeviceRequest& device, Backend& backend);
  Calibration& tableOf(const std::string& model);
  std::vector<Calibration> tables_;
  bool timedLinks_ = false;
};

} // namespace dfc::bench
