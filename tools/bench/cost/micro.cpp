// Kernels, passes and other small pieces, each beside plain code, timed by dfc_micro with Google Benchmark.
#include "tools/bench/cost/costs.h"
#include "tools/bench/micro/cases.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

void finish(const Harness& harness, const MicroCase& one) {
  for (Row& row : harness.report().rows()) {
    if (row.key == one.key && row.time) {
      row.description = one.description;
      if (row.program == "dfc") {
        holdAgainstBaselines(harness.report(), row.key, std::nullopt, row);
      }
    }
  }
}

} // namespace

void microTimes(Harness& harness, const BaselineOptions& baselines) {
  std::vector<MicroCase> cases = microCases(harness.quick());
  std::erase_if(cases, [&](const MicroCase& one) { return !harness.wants(one.key); });
  BaselineProgram micro;
  micro.executable = "dfc_micro";
  for (const MicroCase& one : cases) {
    micro.keys.push_back(one.key);
  }
  runInstalledBaseline(harness, std::move(micro), baselines, {"micro", "kernels, passes, small pieces"});
  for (const MicroCase& one : cases) {
    finish(harness, one);
  }
}

} // namespace dfc::bench
