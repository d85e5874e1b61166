// A backend whose ops are calls of an empty function, and else `null`: what an op costs that is not left out.
#pragma once

#include "runtime/backend.h"

namespace dfc::bench {

std::unique_ptr<Backend> callingBackend();

} // namespace dfc::bench
