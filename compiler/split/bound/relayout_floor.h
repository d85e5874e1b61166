// What a change of layout brings to the devices of a mesh at least, and how fast bytes can arrive there.
#pragma once

#include "compiler/split/layout.h"
#include "compiler/split/mesh.h"

namespace dfc {

/// What reaches a device, on average over the mesh, as multiples of the value's bytes.
struct Traffic {
  double copied = 0;   ///< pieces, which are joined
  double readable = 0; ///< parts of a sum and whole values, which a kernel may read where they are
};
/// The least of a change of layout of a value that is not small. Pieces may be of unlike lengths, some empty.
Traffic leastTraffic(const Layout& from, const Layout& to, const TensorType& type, const Mesh& mesh);

struct ArrivalRate {
  double bytesPerSecond = 0;   ///< at most, over all routes into any device of the mesh; 0: no limit
  bool isOfMachineFile = true; ///< whether copies take what the machine file says, not measured seconds
};

/// Of copies from other devices of the mesh, direct or staged.
ArrivalRate arrivalRate(const Mesh& mesh, const Machine& machine, const CostModel& cost);

/// Whether kernels on a device of the mesh may read the memory of another in place of a copy.
bool mayReadPeers(const Mesh& mesh, const Machine& machine);

} // namespace dfc
