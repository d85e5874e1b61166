#include "tools/bench/bench.h"

#include "tools/bench/experiments/experiments.h"

namespace dfc::bench {
namespace {

Setting settingOf(const Stage& stage) {
  return {stage.machine().name, stage.deviceReport(), stage.realGpus(), stage.quick(), hostFacts()};
}

} // namespace

Setting runExperiments(BenchOptions options, Report& report) {
  Stage stage(std::move(options), report);
  for (const Experiment& experiment : allExperiments()) {
    experiment.run(stage);
  }
  return settingOf(stage);
}

} // namespace dfc::bench
