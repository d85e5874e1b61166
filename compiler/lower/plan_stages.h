// The stages that launches are planned from.
#pragma once

#include "ir/machine/machine.h"
#include "ir/plan/memory_plan.h"

namespace dfc {

/// The stages of a plan before lowering. References: they outlive what is made of them.
struct PlanStages {
  const PlacedGraph& placed;
  const Schedule& schedule;
  const MemoryPlan& memory;
  const Machine& machine;
};

} // namespace dfc
