// A picture of a schedule for Graphviz: time from left to right, a row a queue, boxes as wide as they last,
// waits between rows as arrows, a time axis, a legend. Positions are fixed in the file (layout neato), so
// `dot -Tsvg` draws it. Labels without room in their box hang above it.
#pragma once

#include "ir/plan/schedule.h"

#include <string>

namespace dfc {

/// Steps of one scope that follow each other on a queue are one box, labelled with the scope; below the label
/// stand their ops, unless `byScope`. `explanation`: below the title, such as why it is drawn by scope.
std::string scheduleDot(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine,
                        bool byScope, const std::string& explanation = "");

} // namespace dfc
