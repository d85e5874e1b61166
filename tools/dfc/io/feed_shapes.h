// How a file's rows fit an input, and what is said where two files were given to one another's inputs.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/graph/tensor_type.h"

#include <string>
#include <vector>

namespace dfc::tool {

/// Rows of the input's shape, and more of them than a step takes.
bool longerRows(const Shape& data, const Shape& input);
/// Rows of the input's shape, but too few for a step.
bool tooFewRows(const Shape& data, const Shape& input);
/// One more dimension before: each step takes the next entry.
bool hasEntries(const Shape& data, const Shape& input);

/// A file that does not fit the input it was given to.
struct Misfit {
  std::string name; ///< of the input
  TensorType input;
  std::string source; ///< as the argument names it
  TensorType data;
  bool bytes = false;      ///< rows of bytes (byte_rows.h)
  bool anyElement = false; ///< numbers as text, which become the input's elements
  size_t error = 0;        ///< which of the errors says so
};

/// Two files that fit one another's inputs are swapped: their errors become one. `option` has given the
/// files.
void tellSwapped(const std::vector<Misfit>& misfits, const std::string& option, Diagnostics& errors);

} // namespace dfc::tool
