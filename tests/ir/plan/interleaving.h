// Runs a plan by tags instead of numbers, in an order that chance picks among all that queues and waits
// allow, with steps overlapping in time. Finds a read of wrong or half-written bytes without knowing any rule
// of the verifier.
#pragma once

#include "tests/ir/plan/plan_fixture.h"

#include <random>

namespace dfc::test {

/// Whether one of `runs` random executions goes wrong: a step reads bytes that are not its operand's or
/// change under it, two steps write the same bytes at once, or a fetched value or the state is not there at
/// the end. Offsets and sizes are multiples of 256 and inside the arenas.
bool someRunGoesWrong(const HandPlan& plan, std::mt19937& chance, int runs);

} // namespace dfc::test
