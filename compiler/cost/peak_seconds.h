// peakSeconds: the seconds of a compute-bound op at the device's peak rate. With the factor
// `CostModel::leastOfPeak` it is a lower bound on the op's seconds in every cost model.
#pragma once

#include "ir/graph/graph_class.h"
#include "ir/machine/machine.h"

namespace dfc {

/// Floating-point operations of a product, convolution or attention, divided by the device's peak rate for
/// the op's precision and inner dimension; launches and memory traffic are not counted. 0 for other ops, and
/// if the machine file states no rate. The parts of a split op take at least as long together: their inner
/// dimensions are no longer than the op's.
double peakSeconds(const Graph& graph, OpId op, const DeviceRow& device);

} // namespace dfc
