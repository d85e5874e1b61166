// PlanStages: the stages of a plan taken apart, so that a test may damage one of them, and put together again
// without the verifiers that stand between a damaged plan and the runtime.
#pragma once

#include "ir/plan/executable_parts.h"

#include <memory>

namespace dfc::test {

struct PlanStages {
  PlacedGraph placed;
  Schedule schedule;
  MemoryPlan memory;
  Machine machine;
};

/// All predicted times are 0, which every verifier takes for a sound prediction: whatever it finds wrong
/// after a damage is then about order and memory, never about times.
PlanStages timelessStagesOf(const Executable& plan);

/// What sealing says of the parts; empty when they make a plan.
Diagnostics verdictOn(const PlanStages& parts);

/// An executable of these parts, sound or not. `sound` is any executable: there is no other way to get one.
std::shared_ptr<const Executable> unverified(const Executable& sound, const PlanStages& parts);

} // namespace dfc::test
