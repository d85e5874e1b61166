// PeerReads: the waits of a plan's steps where peer reads replace transfers.
//
// A replaced transfer becomes a step without work. Its reader inherits its waits and waits for its queue
// predecessor; each step that waits for the transfer, or follows it on its queue, waits for the reader. The
// happens-before relation of the plan is kept, with the reader in the transfer's place: the steps that
// compute the source precede it, and the steps that overwrite the source follow it. The memory plan relies on
// no more.
#pragma once

#include "compiler/lower/peer_choice.h"

namespace dfc::cuda {

/// Drops reads of `chosen` that would make the waits cyclic. Readers on one queue share their waits, before
/// the first of them, where the plan predicts that none is delayed by it: then their launches may be merged.
PeerReads lowerPeerReads(const Schedule& schedule, std::vector<PeerRead> chosen);

} // namespace dfc::cuda
