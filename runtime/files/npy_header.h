// The header of an .npy file: a Python dict literal with three keys. Read by a parser of just that much
// Python.
#pragma once

#include "ir/graph/tensor_type.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace dfc {

struct NpyHeader {
  TensorType type;
  bool fortranOrder = false;
  bool bigEndian = false;
};

/// What is wrong with a header, and the way out.
struct NpyProblem {
  std::string message, hint;
};

/// `text` is the dict, with its padding.
std::variant<NpyHeader, NpyProblem> parseNpyHeader(std::string_view text);

/// The dict that np.save would write, without padding. Not for bf16, which has no NumPy type: none then.
std::optional<std::string> printNpyHeader(const TensorType& type);

} // namespace dfc
