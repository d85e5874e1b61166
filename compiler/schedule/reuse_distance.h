// Which bytes an op finds in a device's cache: those last touched so recently that no more than the cache
// holds was touched since (reuse distance: Mattson, Gecsei, Slutz and Traiger 1970, "Evaluation techniques
// for storage hierarchies"), counted in the order of the graph, step after step.
#pragma once

#include "ir/graph/graph.h"
#include "ir/machine/machine.h"
#include "ir/plan/placed_graph.h"

namespace dfc {

/// For each op: the part, 0 to 1, of the bytes of its operands and results that its device's cache does not
/// hold: read from memory, or written back before they are read. 0 where the machine file states no cache.
/// Bytes touched twice count twice in a distance, so the part is at least that of a cache that replaces the
/// least recently used.
SideTable<OpId, double> partsFromMemory(const PlacedGraph& placed, const Machine& machine);

} // namespace dfc
