// The choices of an author that concern launches.
#pragma once

#include "compiler/compile.h"
#include "compiler/lower/lower.h"

namespace dfc {

/// Refers to the tables of `options`.
inline LowerOptions lowerOptionsOf(const CompileOptions& options) {
  return {options.mergeLaunches, options.peerReads, true, options.calibrations};
}

} // namespace dfc
