// A call cut by one factor of its split rule: run part by part in the evaluator, and joined.
#pragma once

#include "ir/graph/rules/split_rule.h"
#include "tests/compiler/split/split_calls.h"

namespace dfc::test {

/// `count` ranges of unequal length, none of them empty; none where the extent is smaller.
std::vector<SplitRange> unevenRanges(int64_t extent, int64_t count);

struct InParts {
  std::vector<Literal> results;
  std::string error; ///< why the parts do not fit together
};

/// What is left out on purpose, for tests of the tests.
enum class Forgotten : uint8_t { Nothing, Attributes };
/// The parts' results, joined as the factor says.
InParts runInParts(const SplitCall& call, const SplitFactor& factor, llvm::ArrayRef<SplitRange> ranges,
                   Dice& dice, Forgotten forgotten = Forgotten::Nothing);
/// The whole call's results.
std::vector<Literal> runWhole(const SplitCall& call);

Literal sumOf(const Literal& a, const Literal& b);
/// Same type, and the same numbers: NaN equals NaN, and zeros of both signs.
bool sameNumbers(const Literal& a, const Literal& b);
/// Largest difference over the largest magnitude of `b`; infinite where one of the two is not finite.
double relativeError(const Literal& a, const Literal& b);

} // namespace dfc::test
