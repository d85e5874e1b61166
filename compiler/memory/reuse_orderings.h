// reuseOrderings: what a run through a memory gate has to be ordered by, so that it is safe at any other
// times too.
#pragma once

#include "compiler/memory/admission_control.h"

namespace dfc {

/// A new tenant comes after the last users, on each queue, of the buffer before it; and what the patient
/// order's overwriting asks for. All are kept by `times`, the run that made the reuses.
std::vector<TaskOrdering> reuseOrderings(llvm::ArrayRef<Reuse> reuses, const MinimumMemoryOrder& minimal,
                                         const ListProblem& problem, const ListResult& times);

} // namespace dfc
