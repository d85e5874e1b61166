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

std::vector<Segment> segmentsOf(const Program& program) {
  std::vector<Segment> segments;
  Segment segment;
  bool published = false, copied = false;
  for (const Command& command : program.commands) {
    const bool alone = copies(command);
    if (!segments.empty()) {
      const bool apart = copied || alone || !command.waits.empty();
      segment.stretch += apart ? 1 : 0;
      segment.number += apart || published ? 1 : 0;
    }
    segments.push_back(segment);
    published = command.publishes;
    copied = alone;
  }
  return segments;
}

} // namespace dfc::cuda
