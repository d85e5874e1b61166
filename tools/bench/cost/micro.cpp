// Kernels, passes and other small pieces, each beside plain code: timed by dfc_micro with Google Benchmark.
#include "tools/bench/cost/costs.h"
#include "tools/bench/micro/cases.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

void finish(const Stage& stage, const MicroCase& one) {
  for (Row& row : stage.report().rows()) {
    if (row.key == one.key && row.time) {
      row.what = one.what;
      if (row.who == "dfc") {
        holdAgainstPeers(stage.report(), row.key, std::nullopt, row);
      }
    }
  }
}

} // namespace

void microTimes(Stage& stage, const PeerOptions& peers) {
  std::vector<MicroCase> cases = microCases(stage.quick());
  std::erase_if(cases, [&](const MicroCase& one) { return !stage.wants(one.key); });
  PeerScript micro;
  micro.program = "dfc_micro";
  for (const MicroCase& one : cases) {
    micro.keys.push_back(one.key);
  }
  runProgramBeside(stage, std::move(micro), peers, {"micro", "kernels, passes, small pieces"});
  for (const MicroCase& one : cases) {
    finish(stage, one);
  }
}

} // namespace dfc::bench
