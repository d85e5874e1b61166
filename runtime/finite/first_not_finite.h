// Which of the ops that were fused into one gives the first value that is not finite: the fused op is
// computed again, one op after the other, by the cpu's kernels. For FiniteCheck, once a step has failed.
#pragma once

#include "ir/graph/op.h"
#include "runtime/finite/finite.h"

#include <optional>
#include <string>
#include <vector>

namespace dfc {

struct NamedLiteral {
  std::string name; ///< for messages
  Literal value;
};

/// One of the ops in a fused op, and what it reads.
struct FusedPart {
  std::string kind;             ///< "log"
  size_t number = 0, count = 0; ///< which of how many, from 1
  NamedLiteral result;
  std::vector<NamedLiteral> operands;
};

/// Whether the op is several in one.
bool isFused(const OpAttributes& attributes);

/// The first part whose result holds NaN, or an infinity unless `infinitiesPass`; none where the reduction at
/// the end is the first. `operands`: those of the fused op.
std::optional<FusedPart> firstNotFinite(const OpAttributes& attributes, std::vector<NamedLiteral> operands,
                                        bool infinitiesPass);

/// "log (2 of 4) gives f32[4] from 0 to 1.1, 2 of 4 elements nan, of the result of sub f32[4] from -2 to 3".
std::string textOf(const FusedPart& part);

} // namespace dfc
