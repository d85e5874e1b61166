// Task graphs of the literature on scheduling and of parallel programs, as the text of task files, on three
// machines: what `dfc schedule` is tested and measured with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dfc::bench {

/// "layered", "fork_join", "cholesky", "lu", "fft", "stencil", "gauss", "transformer" (training with
/// micro-batches).
std::span<const std::string_view> taskFamilies();
/// "pcie" (a CPU and 4 GPUs, each with links of its own), "switch" (8 GPUs behind two switches that share
/// their way to the host), "nvlink" (8 GPUs with a port each way), "ideal" (8 devices, no contention).
std::span<const std::string_view> taskMachines();

/// A machine file.
std::string taskMachineText(std::string_view machine);

struct TaskFamilyOptions {
  std::string_view family = "layered", machine = "nvlink";
  size_t tasks = 100; ///< about as many
  double ratio = 1;   ///< of the mean copy to the mean task, in seconds
  uint64_t seed = 1;
};

/// A task file for that machine; equal options give equal texts. Tasks and copies take milliseconds. Tasks of
/// "layered", "fork_join", "fft" and "gauss" have a duration of their own on each device, 0.5 to 1.5 times
/// their mean, and edges of their own; those of the others have one a class, and a tensor for all their
/// readers.
std::string taskFamilyText(const TaskFamilyOptions& options);

} // namespace dfc::bench
