// Contention between links: both directions of a bus, the buses of several GPUs, both directions between two
// GPUs. Links that are slower at the same time share a resource, which a machine file describes by one more
// link on their routes.
#pragma once

#include "ir/machine/machine.h"
#include "runtime/cuda/memory.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc::cuda {

/// A large copy that one link of the machine carries.
struct LinkCopy {
  LinkId link;
  int ordinal; ///< of the GPU whose engine copies
  std::byte* to;
  const std::byte* from;
};

/// The effective concurrency of `copies` of `bytes` each, started at the same time: the sum of the seconds
/// that each takes `alone`, over the seconds of all, from 1 to the number of copies. Throws MachineError.
double atOnce(llvm::ArrayRef<LinkCopy> copies, int64_t bytes, llvm::ArrayRef<double> alone);

/// Measures the copies at the same time; if they slow one another down, adds a link `name` to all their
/// routes, with as many slots as their effective concurrency. The links have their rates already.
void measureTogether(Machine& machine, const std::string& name, llvm::ArrayRef<LinkCopy> copies,
                     int64_t bytes);

} // namespace dfc::cuda
