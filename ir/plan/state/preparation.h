// The preparation of a plan: a plan of its own that computes parameters of the step from other parameters,
// before the first step and whenever these have changed. Its parameters are the step's, by the names of the
// placed graphs' ops, and lie in the step's memory; it has no inputs and no fetches.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/state/parameter_rows.h"

namespace dfc {

/// A parameter of the preparation, and that of the step in whose bytes it lies.
struct PreparationParameter {
  ValueId own;
  ValueId step;
  bool prepared = false; ///< assigned by the preparation; else read
};

/// In the preparation's order; invalid ids of the step where it has no such value.
std::vector<PreparationParameter> preparationParameters(const Executable& plan,
                                                        const Executable& preparation);
/// Of the plan's own preparation; none without one.
std::vector<PreparationParameter> preparationParameters(const Executable& plan);

/// The plan's parameters but for prepared ones, which are no state.
std::vector<ParameterRow> parametersOf(const Executable& plan);

/// Bytes of the prepared parameters and their replicas, and how many ops compute them.
struct PreparationSize {
  size_t computations = 0;
  int64_t bytes = 0;
};
PreparationSize preparationSize(const Executable& plan);

/// Bytes of the preparation on a device beside those of the step: values between its ops.
int64_t preparationBytes(const Executable& preparation, DeviceId device);

} // namespace dfc
