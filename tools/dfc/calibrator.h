// Calibrator: times the ops of a plan, and copies over the machine's links, on the devices of this host.
#pragma once

#include "ir/machine/calibration.h"
#include "ir/plan/executable_parts.h"
#include "runtime/open_devices.h"
#include "runtime/session.h"
#include "tools/dfc/console.h"
#include "tools/dfc/link_times.h"

#include <set>
#include <string>
#include <vector>

namespace dfc::tool {

/// What became of a device of the machine.
struct Timed {
  std::string device, model;
  size_t ops = 0;
  size_t failed = 0;   ///< custom ops whose function failed
  double seconds = 0;  ///< of all ops together
  std::string skipped; ///< why it was not timed; "" where it was
};

class Calibrator {
 public:
  /// `wanted`: names of devices, none for one of each model. Measured times are added to `tables`.
  Calibrator(const Executable& plan, SessionOptions options, std::vector<std::string> wanted,
             std::vector<Calibration> tables);
  void run(const Console& console);

  const std::vector<TimedLink>& links() const { return links_; }
  const std::vector<Timed>& timed() const { return timed_; }
  const std::vector<Calibration>& tables() const { return tables_; }
  size_t opCount() const { return ops_.size() + customOps_.size(); }

 private:
  Timed timeOn(const DeviceRequest& device);
  /// The custom ops that state seconds for the kind of device and whose function is known.
  std::vector<OpId> customOpsFor(DeviceKind kind) const;
  /// Timed itself, or wanted and of a model that was.
  bool isHere(DeviceId device) const;
  Calibration& tableFor(const std::string& model);

  const Executable& plan_;
  SessionOptions options_;
  std::vector<std::string> wanted_;
  std::vector<Calibration> tables_;
  std::vector<OpId> ops_, customOps_;
  std::set<std::string> known_; ///< models that were timed
  std::vector<Timed> timed_;
  std::vector<TimedLink> links_;
};

} // namespace dfc::tool
