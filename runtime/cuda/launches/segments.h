// Where a queue's program may not be rearranged: at its waits, at what others wait for, and at copies.
#pragma once

#include "runtime/backend.h"

namespace dfc::cuda {

/// The number of each command's segment, ascending from 0: a command that waits begins one, a command that
/// somebody waits for ends one, and a copy is one by itself.
std::vector<uint32_t> segmentsOf(const Program& program);

} // namespace dfc::cuda
