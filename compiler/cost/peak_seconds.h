// peakSeconds: what the products of an op take at the highest rate of a device, a floor of every cost model
// that knows how far it may be below (`CostModel::leastOfPeak`).
#pragma once

#include "ir/graph/graph_class.h"
#include "ir/machine/machine.h"

namespace dfc {

/// Seconds of the operations of a product, convolution or attention at the device's highest rate for the
/// precision and the inner dimension, without launches or memory; 0 for other ops, and where the machine file
/// states no rate. Parts of an op together take no less: their inner dimensions are no longer.
double peakSeconds(const Graph& graph, OpId op, const DeviceRow& device);

} // namespace dfc
