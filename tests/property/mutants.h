// Mutants: a sound plan with one thing changed that a compiler could get wrong. Four kinds, and of each every
// mutant that there is: a transfer left out, a wait left out, a value moved into a neighbour that is alive at
// the same time, two dependent steps in the other order.
#pragma once

#include "tests/property/plan_stages.h"

#include <array>
#include <string>

namespace dfc::test {

enum class Mutation : uint8_t { NoTransfer, NoWait, SharedBytes, OtherOrder };
inline constexpr std::array allMutations = {Mutation::NoTransfer, Mutation::NoWait, Mutation::SharedBytes,
                                            Mutation::OtherOrder};
std::string_view name(Mutation mutation); ///< "removed transfer", …

struct Mutant {
  Mutation mutation;
  std::string what;                ///< "without the wait of 'y' for 'x@gpu0'"
  std::vector<PlanStages> refused; ///< the mutant as a broken compiler could write it, in each way
  PlanStages executed;             ///< one of these, or the one that a runtime can carry out
  std::vector<StepId> suspects;    ///< in whose early or late running the damage shows, if it does
};

/// Every mutant of one kind. `sound` is of `timelessStagesOf`.
///
/// A transfer is left out in three ways: its readers read the value where it was; a reshape stands in its
/// place; it is there and does nothing (executed).
///
/// A value moves with all that is the same storage: its views, and the parameter that it is the next value
/// of. Its neighbours are the nearest values below and above that are alive while it is: neither is sure,
/// from queue order and waits, to be done with before the other is written. Where an op may write over its
/// operand the two are none.
///
/// Dependent steps are a step and a reader of its result, or two that the placed graph orders. The later one
/// moves before the earlier, which waits for it where they are on two queues; no other wait is added.
std::vector<Mutant> mutantsOf(const PlanStages& sound, Mutation mutation);

} // namespace dfc::test
