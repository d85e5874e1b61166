// The arrays of a data set as `predict` feeds them, row by row.
#pragma once

#include "runtime/predict/predict.h"

namespace dfc {

/// The pass over `data`, arrays by the inputs' names. All mistakes at once: inputs without data, data of no
/// input, element types and shapes that do not fit, unequal numbers of rows.
Result<DataPass> passOver(const NamedTypes& inputs, const NamedLiterals& data);

} // namespace dfc
