// A plan lowered again with other options, and the stages that it is lowered from.
#pragma once

#include "compiler/lower/lower.h"
#include "ir/plan/executable_parts.h"
#include "tests/support/catch.h"

#include <memory>

namespace dfc::test {

/// They refer to the plan.
inline PlanStages stagesOf(const Executable& plan) {
  return {plan.placed(), plan.schedule(), plan.memory(), plan.machine()};
}

/// The same plan with these options of its lowering.
inline std::shared_ptr<const Executable> relowered(const Executable& plan, const LowerOptions& options) {
  auto launches = lower(stagesOf(plan), options);
  REQUIRE(launches.ok());
  auto sealed = Executable::seal(plan.placed(), plan.schedule(), plan.memory(), *std::move(launches),
                                 plan.machine(), plan.policy());
  INFO(render(sealed.errors()));
  REQUIRE(sealed.ok());
  return std::make_shared<const Executable>(*std::move(sealed));
}

} // namespace dfc::test
