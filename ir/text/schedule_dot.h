// A picture of a schedule for Graphviz: time from left to right, a lane a queue, boxes as wide as they last,
// waits between lanes as arrows, a time axis. Positions are fixed in the file (layout neato), so `dot -Tsvg`
// draws it.
#pragma once

#include "ir/schedule.h"

#include <string>

namespace dfc {

/// `byScope`: steps of one scope that follow each other on a queue are one box, labelled with the scope;
/// otherwise every step is a box of its own.
std::string scheduleDot(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine,
                        bool byScope);

} // namespace dfc
