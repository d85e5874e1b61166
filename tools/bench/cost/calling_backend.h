// A backend like `null` whose ops are calls of an empty function: the cost of an op that is executed.
#pragma once

#include "runtime/backend.h"

namespace dfc::bench {

std::unique_ptr<Backend> callingBackend();

} // namespace dfc::bench
