// A computation that runs earlier within its queue region races with no other command, although other queues
// wait for commands in between.
#include "tests/conformance/command_graph.h"
#include "tests/conformance/peer_plans.h"
#include "tests/conformance/programs_on_paper.h"

#include "compiler/lower/regions.h"
#include "ir/plan/executable_parts.h"
#include "tests/support/catch.h"
#include "tests/support/relowered.h"

using namespace dfc;
using namespace dfc::test;

namespace {

enum class Within { QueueRegion, Program };

/// Fuses a command with an earlier one, which then accesses the bytes of both.
void fuse(Command& earlier, Command& command) {
  earlier.operands.append(command.operands.begin(), command.operands.end());
  earlier.results.append(command.results.begin(), command.results.end());
  command.operands.clear();
  command.results.clear();
  command.kind = Command::Kind::Nothing;
}

/// Fuses each computation of a GPU's queue with the last earlier one that it conflicts with, or with the
/// first one up to the limit; gives how many left their region.
size_t fuseEarlier(Program& program, const SideTable<StepId, cuda::Region>& ofSteps, Within limit) {
  std::vector<cuda::Region> regions;
  for (const Command& command : program.commands) { // the copy of a fetched value is in none
    regions.push_back(command.step.valid() ? ofSteps[command.step] : cuda::Region{~0U, ~0U});
  }
  size_t moved = 0;
  for (size_t i = 0; i < regions.size(); ++i) {
    Command& command = program.commands[i];
    size_t earliest = i;
    for (size_t at = i; command.kind == Command::Kind::Compute && at > 0; --at) {
      const Command& before = program.commands[at - 1];
      const bool computes = before.kind == Command::Kind::Compute;
      if ((limit == Within::QueueRegion && regions[at - 1].queueRegion != regions[i].queueRegion) ||
          (!computes && conflict(before, command))) {
        break;
      }
      earliest = computes ? at - 1 : earliest;
      if (conflict(before, command)) {
        break;
      }
    }
    if (earliest < i) {
      fuse(program.commands[earliest], command);
      moved += regions[earliest].number != regions[i].number ? 1 : 0;
    }
  }
  return moved;
}

struct Seen {
  size_t moved = 0, races = 0;
};

void look(const Executable& plan, bool peerReads, Within limit, Seen& seen) {
  ProgramsOnPaper paper(relowered(plan, {.peerReads = peerReads}));
  const auto regions = cuda::regionsOf(stagesOf(*paper.plan), paper.plan->launches().peers);
  for (Program& program : paper.programs) {
    const DeviceId device = plan.schedule().queues[program.queue].device;
    if (plan.machine().devices[device].kind == DeviceKind::Gpu) {
      seen.moved += fuseEarlier(program, regions, limit);
    }
  }
  seen.races += CommandGraph(paper.programs, paper.board).races();
}

} // namespace

TEST_CASE("queue regions: an earlier computation races with no command within one, but does beyond it") {
  std::vector<Plan> plans;
  for (uint64_t seed = 0; seed < 60; seed += 2) {
    plans.push_back(scatteredPlan(seed, 30 + 2 * seed, 400));
  }
  for (const int64_t batch : {64, 1024, 8192}) {
    plans.push_back(exchangingNet(batch));
  }
  for (const bool peerReads : {false, true}) {
    INFO((peerReads ? "with" : "without") << " reads from peers");
    Seen queueRegion, program;
    for (const Plan& plan : plans) {
      look(*plan, peerReads, Within::QueueRegion, queueRegion);
      look(*plan, peerReads, Within::Program, program);
    }
    CHECK(queueRegion.moved > 150); // else little is tested
    CHECK(queueRegion.races == 0);
    CHECK(program.races > 0); // else a wrong queue region would not be seen
  }
}
