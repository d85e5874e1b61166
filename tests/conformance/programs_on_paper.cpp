// See programs_on_paper.h.
#include "tests/conformance/programs_on_paper.h"

#include "ir/plan/executable_parts.h"
#include "runtime/cuda/launches/peer_programs.h"

#include <cstdlib>
#include <cstring>

namespace dfc::test {
namespace {

std::vector<cuda::PeerRead> readsBetweenGpus(const Executable& plan) {
  const auto& devices = plan.machine().devices;
  return cuda::choosePeerReads(plan, [&](DeviceId a, DeviceId b) {
    return devices[a].kind == DeviceKind::Gpu && devices[b].kind == DeviceKind::Gpu;
  });
}

} // namespace

HeapArena::HeapArena(int64_t bytes)
    : bytes_(bytes),
      base_(static_cast<std::byte*>(std::aligned_alloc(256, static_cast<size_t>((bytes + 511) / 256 * 256))),
            std::free) {
  std::memset(base_.get(), 0, static_cast<size_t>(bytes));
}

void HeapArena::write(int64_t offset, std::span<const std::byte> bytes) {
  std::memcpy(base_.get() + offset, bytes.data(), bytes.size());
}

void HeapArena::read(int64_t offset, std::span<std::byte> bytes) {
  std::memcpy(bytes.data(), base_.get() + offset, bytes.size());
}

ProgramsOnPaper::ProgramsOnPaper(const Executable& plan, bool peerReads)
    : board(plan.schedule().queues.size(), 0) {
  SideTable<DeviceId, Arena*> byDevice(plan.machine().devices.size());
  for (const DeviceId device : byDevice.ids()) {
    arenas.push_back(std::make_unique<HeapArena>(plan.memory().arenaBytes[device]));
    byDevice[device] = arenas.back().get();
  }
  planned = resolve(plan, byDevice, board);
  if (peerReads) {
    chosen = readsBetweenGpus(plan);
  }
  lowered = cuda::lowerPeerReads(plan, chosen);
  programs = cuda::withPeerReads(plan, lowered, planned.programs, board);
}

} // namespace dfc::test
