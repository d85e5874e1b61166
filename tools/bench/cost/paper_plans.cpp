// Published plans beside the best of the same simulation, in predicted seconds: grids of GPT training steps
// on machines of papers, and schedules of pipelines. Nothing is run, and no time is measured but that of
// planning for a thousand GPUs.
#include "compiler/quotient/quotient_plans.h"
#include "ir/author/text/print.h"
#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"
#include "runtime/steady_seconds.h"
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/pipeline_tasks.h"
#include "tools/bench/papers/host_machines.h"
#include "tools/bench/papers/paper_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace dfc::bench {
namespace {

constexpr int64_t quickLayers = 1, quickBatch = 32;
constexpr double mostPlanningSeconds = 60; // on two cores
/// Of machines whose files are written: a route joins every two GPUs.
constexpr size_t mostGpusInFile = 128;

struct PaperGains {
  int cases = 0, large = 0; ///< large: of at least 5 %
};

Status writeFiles(const std::string& folder, const PaperCase& one, const Graph& graph,
                  const Machine& machine) {
  std::string name(one.name);
  std::replace(name.begin(), name.end(), '/', '_');
  const std::string path = fmt::format("{}/{}", folder, name);
  if (const Status written = writeFileAtomically(path + ".dfg", printGraph(graph)); !written) {
    return written.errors();
  }
  return one.gpus <= mostGpusInFile ? writeFileAtomically(path + ".json", printMachine(machine)) : success();
}

std::string planNote(const char* whose, const QuotientPlan& plan) {
  return fmt::format("{}: {:.4g} s, {}{}", whose, plan.seconds, plan.description,
                     plan.fits ? "" : ", does not fit into memory");
}

Status priceCase(const Harness& harness, const PaperCase& full, Row& row, PaperGains& gains) {
  PaperCase one = full;
  if (harness.quick()) {
    one = withFewerLayers(full, quickLayers);
    one.batch = std::max<int64_t>(quickBatch, static_cast<int64_t>(2 * one.gpus));
    one.published.microBatches.reset();
  }
  const auto graph = graphOf(one);
  if (!graph) {
    return graph.errors();
  }
  const Machine machine = machineOf(one, full);
  if (!harness.graphs().empty()) {
    if (const Status written = writeFiles(harness.graphs(), one, *graph, machine); !written) {
      return written.errors();
    }
  }
  const double begin = steadySeconds();
  const auto made = priced(one, *graph, machine);
  if (!made) {
    return made.errors();
  }
  row.predicted = made->found.seconds;
  // A published plan that does not fit into memory, as the simulation counts it, is no limit for one that
  // fits.
  const bool isLimit = made->published.fits || !made->found.fits;
  row.checks.push_back(
      {"published plan", made->ratio(), isLimit ? harness.atFullSize(1.01) : std::nullopt, std::nullopt});
  if (one.gpus > gpusPerHost) {
    row.checks.push_back(
        {"products cut along weights over the network", made->tensorParallelOverHosts(), {}, {}});
  }
  row.notes = {planNote("published", made->published), planNote("best", made->found),
               fmt::format("simulated in {}", humanSeconds(steadySeconds() - begin))};
  if (!one.note.empty()) {
    row.notes.emplace_back(one.note);
  }
  ++gains.cases;
  gains.large += made->ratio() <= 0.95 ? 1 : 0;
  return success();
}

void priceCases(const Harness& harness) {
  PaperGains gains;
  for (const PaperCase& one : paperCases()) {
    const std::string key = fmt::format("paper/{}", one.name);
    if (harness.wants(key) && (!harness.quick() || one.gpus <= 4)) {
      harness.attempt(
          key, fmt::format("a step of {} on {} GPUs, simulated, over its published plan", one.name, one.gpus),
          [&](Row& row) { return priceCase(harness, one, row, gains); });
    }
  }
  if (gains.cases > 1 && harness.wants("paper/all")) {
    harness.attempt("paper/all", fmt::format("gains of {} rows", gains.cases), [&](Row& row) -> Status {
      const auto least = harness.quick() ? std::nullopt : std::optional(1.0 / 3);
      row.checks.push_back(
          {"cases at least 5 % quicker", static_cast<double>(gains.large) / gains.cases, {}, least});
      return success();
    });
  }
}

/// GPT-3 (Brown et al. 2020): 96 layers of 12288, 175 B parameters.
PaperCase gpt3(bool quick) {
  PaperCase one{"gpt3", {96, 96, 12288, 2048, 51200}, 1536, 1024, false, {}, {}};
  if (quick) {
    one.sizes.layers = 4;
    one.gpus = 32;
    one.batch = 64;
  }
  return one;
}

Status timePlanning(const Harness& harness, const PaperCase& one, Row& row) {
  const auto graph = graphOf(one);
  if (!graph) {
    return graph.errors();
  }
  const Machine machine = machineOf(one, one);
  CompileOptions options;
  options.precision = Precision::Bf16;
  const double begin = steadySeconds();
  const std::clock_t before = std::clock(); // of all threads
  const auto plans = quotientPlans(*graph, machine, RooflineCostModel(), options);
  const double seconds = steadySeconds() - begin;
  const double ofThreads = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  if (!plans) {
    return plans.errors();
  }
  row.time = spreadOf({seconds});
  row.checks.push_back({"seconds", seconds, harness.atFullSize(mostPlanningSeconds), std::nullopt});
  row.notes.push_back(fmt::format("{} of processor time", humanSeconds(ofThreads)));
  for (const QuotientPlan& plan : *plans) {
    row.notes.push_back(planNote(plan.isBound ? "at least" : "predicted", plan));
  }
  return success();
}

Status schedulePipelines(const Harness& harness, size_t stages, Row& row) {
  double overOneForward = 0, overLeast = 0;
  for (size_t batches = 4; batches <= (harness.quick() ? 8U : 64U); batches *= 2) {
    const PipelineTasks pipeline{stages, batches};
    const auto plan = plannedPipeline(pipeline);
    if (!plan) {
      return plan.errors();
    }
    const double makespan = plan->schedule.makespan;
    overOneForward = std::max(overOneForward, makespan / pipeline.oneForwardOneBackward());
    overLeast = std::max(overLeast, makespan / pipeline.leastSeconds());
    std::string note = fmt::format("{} micro-batches: {:g}; 1F1B {:g}, ", batches, makespan,
                                   pipeline.oneForwardOneBackward());
    if (batches >= stages) { // the formulas are of full pipelines
      note += fmt::format("ZB-H1 {:g}, ZB-H2 {:g}, ", pipeline.zeroBubbleH1(), pipeline.zeroBubbleH2());
    }
    row.notes.push_back(note + fmt::format("at least {:g}", pipeline.leastSeconds()));
  }
  row.checks.push_back({"1F1B, at most", overOneForward, 1.0, std::nullopt});
  row.checks.push_back({"least makespan, at most", overLeast, 1.02, std::nullopt});
  return success();
}

} // namespace

void paperPlans(Harness& harness, const BaselineOptions& /*baselines*/) {
  priceCases(harness);
  if (harness.wants("paper/planning/175B")) {
    const PaperCase one = gpt3(harness.quick());
    harness.attempt("paper/planning/175B",
                    fmt::format("finding a grid for {} layers of GPT-3 on {} GPUs in {} hosts",
                                one.sizes.layers, one.gpus, one.gpus / gpusPerHost),
                    [&](Row& row) { return timePlanning(harness, one, row); });
  }
  for (const size_t stages : {4, 8, 16}) {
    const std::string key = fmt::format("paper/pipeline/{}", stages);
    if (harness.wants(key)) {
      harness.attempt(key, fmt::format("schedules of a pipeline of {} stages, F = B = W", stages),
                      [&](Row& row) { return schedulePipelines(harness, stages, row); });
    }
  }
}

} // namespace dfc::bench
