// A transformer block (Vaswani et al. 2017, with the norms in front as in GPT-2): x + attention(norm(x)),
// then x + mlp(norm(x)) with a GELU of tanh form; biases everywhere. The batch is a parameter: nothing feeds
// a step.
#pragma once

#include "ir/author/builder.h"

namespace dfc::bench {

struct BlockSpec {
  int64_t batch = 8, sequence = 128, width = 256, heads = 4, expansion = 4;
  double rate = 1e-3;
};

/// Fetches the block's result, "y".
Result<Graph> blockForward(const BlockSpec& spec);
/// One step of SGD on mean((y - t)^2) over all parameters but x and t.
Result<Graph> blockTraining(const BlockSpec& spec);

} // namespace dfc::bench
