// What links do at once: two directions of a bus, the buses of several GPUs, both directions between two
// GPUs. Links that do not keep their rates then share something, which a machine file says with one more
// link.
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

/// Of `copies` of `bytes` each, all begun at once: how many get on as if each were alone, from 1 to all.
/// `alone`: the seconds of one, by copy. Throws MachineError.
double atOnce(llvm::ArrayRef<LinkCopy> copies, int64_t bytes, llvm::ArrayRef<double> alone);

/// Measures the copies at once; where they are held up, adds a link `name` that all of their routes hold,
/// with as many slots as copies get on. The links have their rates already.
void measureTogether(Machine& machine, const std::string& name, llvm::ArrayRef<LinkCopy> copies,
                     int64_t bytes);

} // namespace dfc::cuda
