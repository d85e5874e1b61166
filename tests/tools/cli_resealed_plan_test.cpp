// Plans that somebody has changed and sealed anew: what can be computed from the rest of a plan is computed
// when it is read, and compared.
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <functional>

using namespace dfc;
using namespace dfc::test;

namespace {

// w is read on both GPUs and assigned on the host, so it has replicas. A product takes 2 * 1024^3 / 51
// TFLOP/s = 42 µs behind a launch of 2.5 µs, so that three at once want nearly three GPUs.
const char* graph = R"(graph shared {
  on cpu0 {
    parameter w : f32[1024, 1024] = glorot(seed=1)
  }
  on gpu0 {
    a0 = matmul(w, w)
    a1 = matmul(w, transpose(w))
    a2 = matmul(transpose(w), w)
    a = a0 + a1 + a2
  }
  on gpu1 { b = matmul(w, w) }
  next = w - (a + b) * 0.001
  assign(w, next)
  fetch norm = reduceSum(next)
}
)";

struct Parts {
  PlacedGraph placed;
  Schedule schedule;
  MemoryPlan memory;
  Machine machine;
};

/// A plan for GPUs with four compute queues each, so that ops share them.
struct ResealingShop : Workshop {
  ResealingShop() {
    write("g.dfg", graph);
    std::string machine = readText(machineFile("cpu-2gpu"));
    const std::string gpu = "\"class\": \"gpu\"";
    for (size_t at = machine.find(gpu); at != std::string::npos; at = machine.find(gpu, at + gpu.size())) {
      machine.insert(at + gpu.size(), ", \"slots\": 4");
    }
    write("m.json", machine);
    const Outcome compiled = dfc({"compile", "g.dfg", "-m", "m.json", "-o", "g.plan"});
    INFO(compiled.err);
    REQUIRE(compiled.status == 0);
  }
  /// What `dfc simulate` says to the plan after `change`.
  Outcome afterChange(const std::function<void(Parts&)>& change) const {
    const Executable plan = Executable::load(file("g.plan")).orThrow();
    Parts parts{plan.placed(), plan.schedule(), plan.memory(), plan.machine()};
    change(parts);
    Executable::seal(parts.placed, parts.schedule, parts.memory, parts.machine, plan.policy())
        .orThrow()
        .save(file("other.plan"))
        .orThrow();
    return dfc({"simulate", "other.plan"});
  }
};

} // namespace

TEST_CASE("dfc: a plan that is sealed again as it was is as good") {
  CHECK(ResealingShop().afterChange([](Parts&) {}).status == 0);
}

TEST_CASE("dfc: a plan whose lower bounds do not follow from its steps is refused") {
  const ResealingShop shop;
  for (double LowerBounds::*bound :
       {&LowerBounds::criticalPath, &LowerBounds::busiestQueue, &LowerBounds::busiestLink}) {
    const Outcome zero = shop.afterChange([&](Parts& parts) { parts.schedule.bounds.*bound = 0; });
    CHECK(zero.status == 1);
    CHECK_THAT(zero.err, startingWith("other.plan: error: damaged: the lower bound by the "));
    CHECK_THAT(zero.err, containing(" is said to be 0 seconds, but the steps give "));
  }
}

TEST_CASE("dfc: a plan whose ops do not share a device by their utilisations is refused") {
  const ResealingShop shop;
  for (const double utilisation : {0.0, 1.0}) {
    const Outcome outcome = shop.afterChange([&](Parts& parts) {
      bool slowed = false;
      for (const StepId step : parts.schedule.steps.ids()) {
        slowed |= parts.schedule.steps[step].slowed > 0;
        if (parts.schedule.steps[step].utilisation > 0) {
          parts.schedule.steps[step].utilisation = utilisation;
        }
      }
      REQUIRE(slowed); // ops do run at once
    });
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, containing("other.plan: error: damaged: "));
    CHECK_THAT(outcome.err, containing("by the utilisation of its device and memory it ends at"));
  }
}

TEST_CASE("dfc: a plan without the rows of its replicas is refused") {
  const ResealingShop shop;
  const Executable plan = Executable::load(shop.file("g.plan")).orThrow();
  PlacedGraph placed = plan.placed();
  REQUIRE(placed.replicas.size() == 2);
  placed.replicas.clear();
  const auto sealed =
      Executable::seal(std::move(placed), plan.schedule(), plan.memory(), plan.machine(), plan.policy());
  REQUIRE_FALSE(sealed.ok());
  CHECK_THAT(render(sealed.errors()),
             containing("parameter 'w@gpu0' is a copy of 'w', but no replica of it"));
  CHECK_THAT(render(sealed.errors()),
             containing("parameter 'w@gpu1' is a copy of 'w', but no replica of it"));
}
