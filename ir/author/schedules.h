// Rates that change from step to step, as scalars of the graph: factors of the number of steps run before, to
// be multiplied with one another and with the rate.
//
//   const Tensor step = g.step();
//   adam(weights, d, {.rate = 1e-3 * warmUp(step, 100) * cosineDecay(step - 100, 900)});
//
// Before step 0 a decay is 1, so that `step - 100` begins it behind the warm-up. A checkpoint keeps the step,
// and a training that goes on has the rate that it would have had. f32: exact for 16 million steps.
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

namespace DFC_PUBLIC dfc {

/// (step + 1) / steps, and 1 from step `steps` - 1 on.
Tensor warmUp(Tensor step, int64_t steps, std::source_location where = std::source_location::current());

/// From 1 at step 0 evenly to `end` at step `steps`, where it stays.
Tensor linearDecay(Tensor step, int64_t steps, double end = 0,
                   std::source_location where = std::source_location::current());

/// From 1 at step 0 along half a cosine to `end` at step `steps`, where it stays (Loshchilov and Hutter
/// 2017).
Tensor cosineDecay(Tensor step, int64_t steps, double end = 0,
                   std::source_location where = std::source_location::current());

/// factor ^ floor(step / steps): another `factor` every so many steps.
Tensor stepDecay(Tensor step, int64_t steps, double factor = 0.1,
                 std::source_location where = std::source_location::current());

} // namespace dfc
