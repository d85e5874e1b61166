// SumForm: how a partial sum that all devices of a mesh want whole is made (Thakur, Rabenseifner and Gropp
// 2005, "Optimization of Collective Communication Operations in MPICH").
#pragma once

#include "compiler/split/mesh.h"

namespace dfc {

enum class SumForm : uint8_t {
  Exchange, ///< every device is sent all parts
  Doubling, ///< pairs at distances 1, 2, 4, … exchange sums so far (recursive doubling); 2^n devices only
  Scatter,  ///< reduce-scatter, then all-gather
};
struct SumCost {
  SumForm form = SumForm::Exchange;
  double seconds = 0;
};
/// The quickest form for a value of so many bytes. `scatters`: whether it has an axis to be scattered along.
SumCost cheapestSum(int64_t bytes, bool scatters, const Mesh& mesh);

/// The op that makes one of two partial results: add, maximum, minimum or mul. Asserts such a kind.
OpAttributes combiner(SplitKind kind);
/// Of 16 bits: added up in f32.
bool isNarrow(ElementType element);

/// Whether a value is so small that a transfer of its own is mostly latency.
bool isSmall(const TensorType& type);

} // namespace dfc
