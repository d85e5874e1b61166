// The equation of an einsum: which letters the axes of its operands and of its result have.
#pragma once

#include "ir/author/builder.h"

#include <string>
#include <string_view>
#include <vector>

namespace dfc::notation {

/// The axes of an operand or the result: a letter each. Those that "..." stands for are '0' for the last,
/// '1', …
using Letters = std::string;

inline bool has(const Letters& letters, char letter) { return letters.find(letter) != Letters::npos; }

/// A mistake in an equation.
struct EinsumFault {
  std::string message;
};

struct Terms {
  std::vector<Letters> operands;
  Letters result;
};

/// Throws EinsumFault. The operands are valid.
Terms termsOf(std::string_view equation, const std::vector<Tensor>& operands);

} // namespace dfc::notation
