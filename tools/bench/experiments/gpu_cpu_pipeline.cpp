// Products on the GPU, each copied to the CPU and multiplied again there: GPU, CPU and copies busy at once,
// in the plan and in the measured trace.
#include "tools/bench/experiments/traced.h"
#include "tools/bench/graphs/parallel.h"

#include "ir/author/text/units.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr int stages = 8;

Status runPipeline(Harness& harness, Row& row) {
  const std::string cpu = harness.machine().devices[harness.machine().host()].name;
  Variation traced;
  traced.trace = true;
  const auto prepared =
      harness.prepare(gpuAndCpuPipeline(harness.gpus()[0], cpu, harness.sizes().independent, stages), traced);
  if (!prepared) {
    return prepared.errors();
  }
  measureSteps(*prepared, harness.longSteps(), row);
  prepared->session->takeTrace();
  const Trace measured = tracedSteps(*prepared, 5);
  const std::vector<Pick> kinds = {computationOn(DeviceKind::Gpu), computationOn(DeviceKind::Cpu),
                                   anyTransfer()};
  const double planned = togetherSeconds(predictedTrace(*prepared->plan), *prepared->plan, kinds);
  const double seen = togetherSeconds(measured, *prepared->plan, kinds) / 5;
  row.checks.push_back(fact("all three at once in the plan", planned > 0));
  row.checks.push_back(harness.seen("all three at once in the trace", seen > 0));
  row.notes.push_back(fmt::format("GPU, CPU and copies busy at once for {} of a step in the plan, {} in the "
                                  "measured trace",
                                  humanSeconds(planned), humanSeconds(seen)));
  return keepTrace(harness, "gpu_cpu_pipeline", *prepared, measured, row);
}

} // namespace

void gpuCpuPipeline(Harness& harness) {
  const std::string description =
      fmt::format("products on the GPU, copied to the CPU and multiplied again there, {0}x{0}",
                  harness.sizes().independent);
  if (harness.gpus().empty()) {
    return harness.lacking("gpu_cpu_pipeline", description, "the machine has no GPU");
  }
  if (harness.wants("gpu_cpu_pipeline")) {
    harness.attempt("gpu_cpu_pipeline", description, [&](Row& row) { return runPipeline(harness, row); });
  }
}

} // namespace dfc::bench
