// forEach: independent work of the planner on several threads.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <cstddef>

namespace dfc {

/// Calls work(0), …, work(count - 1), each once, on as many threads as the host has, at most eight: the
/// caller's and others, which end before it returns. `work` writes to what belongs to its index alone.
void forEach(size_t count, llvm::function_ref<void(size_t)> work);

} // namespace dfc
