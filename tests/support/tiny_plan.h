// Plans made by hand for tests of the runtime, without the compiler: the obvious schedule and a memory plan
// that reuses nothing. Also small machines.
#pragma once

#include "ir/plan/executable_parts.h"

#include <functional>

namespace dfc::test {

/// cpu0 and `gpus` gpus (gpu0, gpu1, …); a link each way between cpu0 and each gpu, and between any two gpus.
Machine smallMachine(uint32_t gpus, uint32_t cpuQueues = 1, uint32_t gpuQueues = 1);

/// A link of its own, and a route over it, from each device to each other. Seconds, bytes a second.
void connectAll(Machine& machine, double latency, double bandwidth);

/// Ops are where their pin says, else on cpu0. A value read elsewhere is transferred there once a step; state
/// lives on one device. Fetches are transferred to cpu0 unless `fetchWhereMade`. Readers of a parameter come
/// before its assign.
PlacedGraph placeByPins(const Graph& graph, const Machine& machine, bool fetchWhereMade = false);

/// Steps in op order, dealt in turn to the compute queues of their device; copies on the gpu's copy queues.
/// Every dependence between queues is a wait.
Schedule plainSchedule(const PlacedGraph& placed, const Machine& machine);

/// Each value has a place of its own, but views and assigns, which share as they must.
MemoryPlan plainMemory(const PlacedGraph& placed, const Machine& machine);

/// All of it, sealed.
std::shared_ptr<const Executable> tinyPlan(const Graph& graph, const Machine& machine,
                                           bool fetchWhereMade = false);

} // namespace dfc::test
