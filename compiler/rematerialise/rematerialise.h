// rematerialise: computes results of the forward pass anew where the backward pass reads them, so that they
// need no memory in between. The ops to repeat are found at the peak of a low-peak order, those first that
// free most bytes for each second that they take, with whatever they need that is gone by then: activations
// first, whole layers where these do not suffice. Sources: Chen, Xu, Zhang and Guestrin 2016, "Training Deep
// Nets with Sublinear Memory Cost"; the greedy choice at the peak as in XLA's HloRematerialization.
#pragma once

#include "compiler/rematerialise/in_flight.h"
#include "compiler/rematerialise/step_order.h"

#include <optional>

namespace dfc {

struct Rematerialised {
  Placement placement;
  size_t ops = 0;                         ///< that are computed a second time
  double seconds = 0;                     ///< that they take, on all devices together
  SideTable<DeviceId, double> bytes = {}; ///< parameters, constants, and the most of the values alive at
                                          ///< once; 0 for a device without a limit
};

/// A placement whose values take at most `share` of the memory behind parameters and constants, in the order
/// that was looked at. Empty where no repetition of ops achieves that, or none is needed. The graph's ops
/// come in that order. Random numbers are functions of a step's seed, so a repeated op has the same bits.
/// `inFlight`: of a graph with few of a step's micro-batches, which stands for one with as many in flight as
/// that says; what a micro-batch keeps for its backward pass then counts so many times.
std::optional<Rematerialised> rematerialise(const Placement& placement, const Machine& machine,
                                            const CostModel& cost, double share,
                                            const InFlight* inFlight = nullptr);

/// The same for an order that is known: `stepOrder` of the placement.
std::optional<Rematerialised> rematerialise(const Placement& placement, const StepOrder& order,
                                            const Machine& machine, const CostModel& cost, double share,
                                            const InFlight* inFlight = nullptr);

/// The same where none may be needed: then the ops come in that order, each once.
std::optional<Rematerialised> orderedForMemory(const Placement& placement, const Machine& machine,
                                               const CostModel& cost, double share,
                                               const InFlight* inFlight = nullptr);

} // namespace dfc
