// The arrays of a data set as `predict` feeds them, row by row.
#pragma once

#include "runtime/predict/predict.h"

namespace dfc {

/// The arrays in their inputs' element types, and the pass over them.
struct PredictedData {
  DataPass pass;
  NamedLiterals columns;
};

/// The pass over `data`, arrays by the inputs' names; those of `everyStep` are fed at every step. All
/// mistakes at once: inputs without data, data of no input, element types and shapes that do not fit, unequal
/// numbers of rows.
Result<PredictedData> passOver(const NamedTypes& inputs, const NamedLiterals& data,
                               const std::vector<std::string>& everyStep);

} // namespace dfc
