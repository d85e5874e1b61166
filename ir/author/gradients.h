// Reverse-mode differentiation: appends the ops of d loss / d x for each x, by the gradient rule of each op
// between them (Griewank and Walther, Evaluating Derivatives, ch. 3). Ordinary ops in the same graph.
#pragma once

#include "ir/author/builder.h"
#include "ir/base/visibility.h"

namespace DFC_PUBLIC dfc {

/// d loss / d x for each x of `wrt`. loss: a float scalar; x: a float tensor. The ops of a rule are scoped by
/// `gradientScope` of the forward op, pinned where it is pinned, and said to be written where it was written.
/// Where a value has several uses, the sum of its contributions stands with the op that makes the value: so
/// two GPUs' gradients of a parameter that is pinned to the CPU are summed on the CPU. Contributions are
/// added in the order of the sweep: the last use first. Each result is named "<x>.gradient". An x that loss
/// does not depend on gets zeros, with a warning where x is a parameter. Mistakes are recorded in the
/// builder.
std::vector<Tensor> gradients(Tensor loss, const std::vector<Tensor>& wrt,
                              std::source_location where = std::source_location::current());

} // namespace dfc
