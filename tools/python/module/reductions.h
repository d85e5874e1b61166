// The reductions that are functions of the module and methods of Tensor, under NumPy's names.
#pragma once

#include "ir/author/dsl.h"
#include "tools/python/module/op.h"

namespace dfc::python {

/// Calls use(name, function of an operand, axes and whether they stay, documentation) for each.
template <class Use>
void forEachReduction(Use use) {
  use(
      "sum", [](Operand a, const Axes& axes, bool keep) { return reduceSum(a, axes, keep); },
      "The sum over `axis` (None: all; negative ones count from the end), of numbers.");
  use(
      "mean", [](Operand a, const Axes& axes, bool keep) { return reduceMean(a, axes, keep); },
      "The mean over `axis` (None: all), of floats. An axis of length 0 is refused.");
  use(
      "max", [](Operand a, const Axes& axes, bool keep) { return reduceMax(a, axes, keep); },
      "The largest over `axis` (None: all), NaN if any is NaN. An axis of length 0 is refused.");
  use(
      "min", [](Operand a, const Axes& axes, bool keep) { return reduceMin(a, axes, keep); },
      "The smallest over `axis` (None: all), NaN if any is NaN. An axis of length 0 is refused.");
  use(
      "prod", [](Operand a, const Axes& axes, bool keep) { return reduceProduct(a, axes, keep); },
      "The product over `axis` (None: all), of numbers; of no elements 1.");
}

} // namespace dfc::python
