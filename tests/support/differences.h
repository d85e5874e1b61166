// Gradients of a formula against central differences in f64. Only `evaluate` vouches for the values.
#pragma once

#include "ir/author/builder.h"
#include "tests/support/random_values.h"

#include <functional>

namespace dfc::test {

/// How a case is built: the tensors for its operand types, to its result.
using Formula = std::function<Tensor(const std::vector<Tensor>&)>;

/// Checks the gradients of a weighed sum of the formula's result for every float operand; `order` 2: of a
/// weighed sum of the first gradients, and so on. Operands are drawn from [0.25, 2); other types are 0 or 1.
void checkDifferences(const Formula& formula, const std::vector<TensorType>& types, int order = 1,
                      uint64_t seed = 1);

} // namespace dfc::test
