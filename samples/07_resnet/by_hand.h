// What the first batch norm has to find, worked out on the host by the definitions.
#pragma once

#include "ir/graph/literal.h"
#include "samples/07_resnet/resnet.h"

namespace dfc::resnet {

/// The running statistics of a channel.
struct Statistics {
  double mean = 0, variance = 1;
};

/// Those of the first channel of "bn1" after one step with these feeds; `filter`: "conv1.weight" before it.
Statistics firstStatistics(const Sizes& sizes, const NamedLiterals& feeds, const Literal& filter);

} // namespace dfc::resnet
