// PassOptions with which choose_layout has its way everywhere.
#pragma once

#include "compiler/passes/passes.h"

namespace dfc::test {

inline PassOptions channelsLast() {
  PassOptions options;
  options.channelsLast = [](std::string_view /*pin*/) { return true; };
  return options;
}

} // namespace dfc::test
