// A training step of a pipeline as a task graph: forward passes, backward passes and gradients of weights of
// each micro-batch at each stage, with the times of published schedules (Narayanan et al. 2021, "1F1B"; Qi et
// al. 2023, "Zero Bubble Pipeline Parallelism").
#pragma once

#include "compiler/tasks/plan_tasks.h"

#include <cstddef>
#include <string>

namespace dfc::bench {

struct PipelineTasks {
  size_t stages = 4, microBatches = 8;
  double forward = 1, backward = 1, weights = 1; ///< seconds of a micro-batch at a stage

  /// Makespan of 1F1B, where the gradients of weights are a part of the backward pass.
  double oneForwardOneBackward() const;
  /// Makespan of ZB-H1, which needs as much memory as 1F1B; of at least as many micro-batches as stages.
  double zeroBubbleH1() const;
  /// Makespan of ZB-H2, from the first forward pass of the first stage to the last task of the last: no
  /// device is idle between its first and its last task.
  double zeroBubbleH2() const;
  /// What no order of these tasks is below, whatever the memory.
  double leastSeconds() const;
};

/// A machine file: a device for each stage; copies take no time.
std::string pipelineMachineText(const PipelineTasks& pipeline);
/// A task file for it.
std::string pipelineTasksText(const PipelineTasks& pipeline);

/// By policy `auto`.
Result<TaskPlan> plannedPipeline(const PipelineTasks& pipeline);

} // namespace dfc::bench
