// lower: what the queues of a plan's GPUs launch. Decides which kernel or library call computes each op,
// which launches are merged or fused, and which transfers between GPUs are reads of the other's memory.
// Machine, calibration and stages are arguments; no device is asked anything.
#pragma once

#include "compiler/lower/plan_stages.h"
#include "ir/base/diagnostic.h"
#include "ir/machine/calibration.h"
#include "ir/plan/launch_plan.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc {

struct LowerOptions {
  /// false: no two ops share a kernel launch, even where both are small.
  bool mergeLaunches = true;
  /// false: every transfer between GPUs is a copy. Else the kernel that needs a value may read it in the
  /// other GPU's memory, where the machine has direct routes between the two.
  bool peerReads = true;
  /// false: of these only those of small values (`smallPeerRead`).
  bool largePeerReads = true;
  /// Tables by device model, whose choices of algorithms products take.
  llvm::ArrayRef<Calibration> calibrations = {};
};

/// The launches of every compute queue of a GPU; an empty plan where no GPU computes. The stages are sound.
/// Errors, located at the op: an op without a kernel for the machine's GPU.
Result<LaunchPlan> lower(const PlanStages& stages, const LowerOptions& options = {});

} // namespace dfc
