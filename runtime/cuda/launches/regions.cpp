#include "runtime/cuda/launches/regions.h"

#include "ir/base/assert.h"

namespace dfc::cuda {
namespace {

bool copies(const Command& command) {
  switch (command.kind) {
  case Command::Kind::Nothing:
  case Command::Kind::Compute: return false;
  case Command::Kind::Copy:
  case Command::Kind::Transfer: return true;
  }
  DFC_UNREACHABLE("kind of command");
}

} // namespace

std::vector<Region> regionsOf(const Program& program) {
  std::vector<Region> regions;
  Region region;
  bool published = false, copied = false;
  for (const Command& command : program.commands) {
    const bool alone = copies(command);
    if (!regions.empty()) {
      const bool apart = copied || alone || !command.waits.empty();
      region.queueRegion += apart ? 1 : 0;
      region.number += apart || published ? 1 : 0;
    }
    regions.push_back(region);
    published = command.publishes;
    copied = alone;
  }
  return regions;
}

} // namespace dfc::cuda
