// ConsideredPlacements: the candidates that choosePlacement compared, with their seconds, for reports.
#pragma once

#include "compiler/split/split.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dfc {

struct ConsideredPlacement {
  enum class Outcome : uint8_t {
    Planned,   ///< in full, memory and launches included
    Scheduled, ///< its makespan alone: others were shorter, so that its memory was not planned
    Bounded,   ///< not even scheduled: the work of a device or link alone takes far longer than others' steps
    DoesNotFit, ///< no plan of it fits into memory
  };
  /// "split over gpu0 to gpu7", "pipeline of 2 stages …"; without a split, how the ops were placed: "cpu0
  /// alone", "heft, 6 devices offered".
  std::string description;
  /// Planned: predicted for a step in a sequence of steps. Bounded: a lower bound. Else the makespan of a
  /// step by itself, as scheduled.
  double seconds = 0;
  Outcome outcome = Outcome::Planned;
  std::shared_ptr<const SplitGraph> split = {}; ///< null: whole ops
  std::vector<DeviceId> devices = {};           ///< of whole ops: those that compute, in the machine's order
  double makespan = 0; ///< of a split, without a memory limit; a lower bound where that is all that is known
};

struct ConsideredPlacements {
  std::vector<ConsideredPlacement> candidates; ///< in the order in which they were looked at
  std::optional<size_t> chosen;                ///< none where no placement was found
};

} // namespace dfc
