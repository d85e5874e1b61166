// Verifies a stage's result in debug builds. A stage that breaks its own contract is our bug, not the
// author's.
#pragma once

#include "ir/base/assert.h"
#include "ir/base/diagnostic.h"

#include <string>

namespace dfc {

#ifdef DFC_DEBUG_CHECKS
inline constexpr bool verifyEachStage = true;
#else
inline constexpr bool verifyEachStage = false;
#endif

template <class Verify>
void checkStage(std::string_view stage, Verify verify) {
  if (verifyEachStage) {
    const Diagnostics errors = verify();
    DFC_ASSERT(errors.empty(), "stage '" + std::string(stage) + "' broke its contract:\n" + render(errors));
  }
}

} // namespace dfc
