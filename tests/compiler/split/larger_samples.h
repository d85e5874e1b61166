// Calls beside those of op_samples: longer axes, so that there are five parts, and the forms that a split
// rule distinguishes: transposes, groups, layouts, windows, masks, runs of reshaped axes.
#pragma once

#include "tests/support/op_samples.h"

namespace dfc::test {

/// May hold calls that the type rule refuses.
std::vector<OpSample> largerSamples(OpKind kind, ElementType element);
std::vector<OpSample> largerWindowSamples(OpKind kind, ElementType element);   ///< convolutions and pools
std::vector<OpSample> largerMovementSamples(OpKind kind, ElementType element); ///< and indexing
std::vector<OpSample> largerAttentionSamples(OpKind kind, ElementType element);

template <class Op, class Fill>
OpSample sampleWith(std::vector<TensorType> operands, Fill fill) {
  Op op;
  fill(op);
  return {std::move(op), std::move(operands)};
}

} // namespace dfc::test
