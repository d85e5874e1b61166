#include "runtime/cuda/launches/segments.h"

#include "ir/assert.h"

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

std::vector<uint32_t> segmentsOf(const Program& program) {
  std::vector<uint32_t> segments;
  uint32_t segment = 0;
  bool ended = false;
  for (const Command& command : program.commands) {
    const bool alone = copies(command);
    segment += !segments.empty() && (ended || alone || !command.waits.empty()) ? 1 : 0;
    segments.push_back(segment);
    ended = alone || command.publishes;
  }
  return segments;
}

} // namespace dfc::cuda
