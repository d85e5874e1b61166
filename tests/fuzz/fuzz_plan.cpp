// Plan files. A checksum guards them, so that a mutated file hardly ever gets past it: the bytes are read as
// they are, and once more with sizes and checksum made right. What is read serialises to the same bytes every
// time, prints, and can be simulated and resolved into programs.
#include "compiler/simulate/simulate.h"
#include "ir/author/text/print.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/file/executable_format.h"
#include "ir/plan/print/print.h"
#include "runtime/resolve.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/targets.h"

#include <algorithm>

namespace dfc::test {
namespace {

constexpr size_t headerBytes = 32, planSizeAt = 16;

/// Memory that is only addresses.
class PaperArena final : public Arena {
 public:
  std::byte* hostAddress() override { return nullptr; }
  void write(int64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {}
  void read(int64_t /*offset*/, std::span<std::byte> /*bytes*/) override {}
};

void use(const Executable& plan) {
  PaperArena paper;
  const SideTable<DeviceId, Arena*> arenas(plan.machine().devices.size(), &paper);
  const ProgressBoard board(plan.schedule().queues.size(), 0);
  size_t commands = 0;
  for (const Program& program : resolve(plan, arenas, board).programs) {
    commands += program.commands.size();
  }
  expect(commands >= plan.schedule().steps.size(), "a step without a command");
  expect(simulate(plan).trace.spans.size() == plan.schedule().steps.size(), "a step that is not simulated");
  printGraph(plan.graph());
  printPlaced(plan.placed(), plan.machine());
  printSchedule(plan.schedule(), plan.placed(), plan.machine());
  printMemory(plan.memory(), plan.schedule(), plan.placed(), plan.machine());
}

void load(std::span<const std::byte> bytes) {
  const Result<Executable> plan = Executable::parse(bytes, "fuzz.plan");
  if (!plan.ok()) {
    expect(!render(plan.errors()).empty(), "a refusal without a word");
    return;
  }
  const std::vector<std::byte> written = plan->serialise();
  const Result<Executable> again = Executable::parse(written, "again.plan");
  expect(again.ok(), "a written plan that cannot be read" + (again.ok() ? "" : render(again.errors())));
  expect(again->serialise() == written, "a plan that is written differently the second time");
  use(*plan);
}

uint64_t sizeAt(std::span<const std::byte> bytes, size_t at) {
  uint64_t size = 0;
  for (size_t i = 0; i < 8; ++i) {
    size |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
  }
  return size;
}

} // namespace

void fuzzPlan(std::span<const std::byte> bytes) {
  load(bytes);
  if (bytes.size() >= headerBytes) {
    const std::span<const std::byte> inside = bytes.subspan(headerBytes);
    const size_t plan = std::min<uint64_t>(sizeAt(bytes, planSizeAt), inside.size());
    load(wrapPlan({inside.first(plan), inside.subspan(plan)}));
  }
}

} // namespace dfc::test
