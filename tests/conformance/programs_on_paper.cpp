// See programs_on_paper.h.
#include "tests/conformance/programs_on_paper.h"

#include "ir/plan/executable_parts.h"
#include "runtime/cuda/stream/peer_programs.h"

#include <cstdlib>
#include <cstring>

namespace dfc::test {
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

ProgramsOnPaper::ProgramsOnPaper(std::shared_ptr<const Executable> lowered)
    : plan(std::move(lowered)), board(plan->schedule().queues.size(), 0) {
  SideTable<DeviceId, Arena*> byDevice(plan->machine().devices.size());
  for (const DeviceId device : byDevice.ids()) {
    arenas.push_back(std::make_unique<HeapArena>(plan->memory().arenaBytes[device]));
    byDevice[device] = arenas.back().get();
  }
  planned = resolve(*plan, byDevice, board);
  programs = cuda::withPeerReads(*plan, planned.programs, board);
  const Schedule& schedule = plan->schedule();
  StepWaits waits(schedule.steps.size());
  for (const StepId step : waits.ids()) {
    const auto of = plan->launches().waitsOf(schedule, step);
    waits[step].assign(of.begin(), of.end());
  }
  order = orderOf(schedule, waits);
}

} // namespace dfc::test
