// PeerReads: how a plan's steps wait for one another where readers read a peer's memory in place of a
// transfer.
//
// The transfer becomes a step without work. Its reader waits for what the transfer waited for and followed;
// whoever waits for the transfer, or follows it on its queue, waits for the reader. So of any two steps that
// had an order the later still comes later, with the reader in the transfer's place: before it whatever made
// the source, after it whatever overwrites the source. That is all that the memory plan relies on.
#pragma once

#include "runtime/cuda/launches/peer_choice.h"
#include "runtime/cuda/launches/step_order.h"

namespace dfc::cuda {

struct PeerReads {
  std::vector<PeerRead> reads;
  StepWaits waits;           ///< of every step, in place of the schedule's; at most one a queue
  std::vector<StepId> order; ///< every step once, behind its waits and the one before on its queue
};

/// Drops those of `chosen` that would have steps wait for one another in a circle. Readers on one queue wait
/// together, before the first of them, where the plan has them late enough not to lose by it: then they may
/// share a launch.
PeerReads lowerPeerReads(const Executable& plan, std::vector<PeerRead> chosen);

} // namespace dfc::cuda
