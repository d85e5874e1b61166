// temporary driver
#include "compiler/quotient/quotient_plans.h"
#include "runtime/steady_seconds.h"
#include "tools/bench/cost/costs.h"
#include "tools/bench/papers/host_machines.h"
#include "tools/bench/papers/paper_cases.h"
#include <cstdlib>
#include <fmt/format.h>

namespace dfc::bench {
void paperPlans(Harness& harness, const BaselineOptions&) {
  for (const PaperCase& given : paperCases()) {
    const std::string key = fmt::format("paper/{}", given.name);
    if (!harness.wants(key)) continue;
    const char* l = getenv("LAYERS");
    PaperCase one = l ? withFewerLayers(given, atoi(l)) : given;
    double t0 = steadySeconds();
    const Machine m = one.isV100 ? v100Hosts(one.gpus) : a100Hosts(one.gpus);
    auto g = gpt::trainingStep(one.sizes, {.batch = one.batch});
    CompileOptions o;
    o.precision = one.isV100 ? Precision::F16 : Precision::Bf16;
    double t1 = steadySeconds();
    fmt::print("{}: {} ops, made in {:.1f}\n", key, g->opCount(), t1 - t0);
    auto plans = quotientPlans(*g, m, RooflineCostModel(), o, one.published);
    if (!plans) {
      fmt::print("error {}\n", render(plans.errors()));
      continue;
    }
    for (auto& p : *plans)
      fmt::print("  {:.4f} s  {:.1f} GB (state {:.1f}) {} {}\n", p.seconds, p.memoryBytes / 1e9,
                 p.stateBytes / 1e9, p.fits ? "fits" : "NOT", p.description);
    fmt::print("  took {:.1f} s\n", steadySeconds() - t1);
    fflush(stdout);
  }
}
} // namespace dfc::bench
