// How much quicker the plans of training steps are on two and on eight GPUs than on one, as predicted. The
// machine is the shipped one of eight GPUs, and its first GPUs; nothing is run.
#include "ir/author/text/print.h"
#include "ir/base/atomic_file.h"
#include "ir/plan/executable_parts.h"
#include "runtime/steady_seconds.h"
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/model_families.h"
#include "tools/dfc/machine_files.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc::bench {
namespace {

constexpr uint32_t mostGpus = 8;

/// The machine's CPUs and its first GPUs, `gpus` of them.
Machine firstGpus(const Machine& machine, uint32_t gpus) {
  Machine part = machine;
  part.name = fmt::format("{}, {} GPUs", machine.name, gpus);
  part.devices = {};
  std::vector<DeviceId> kept(machine.devices.size());
  for (const DeviceId device : machine.devices.ids()) {
    const bool gpu = machine.devices[device].kind == DeviceKind::Gpu;
    if (!gpu || gpus > 0) {
      kept[device.index()] = part.devices.add(machine.devices[device]);
      gpus -= gpu ? 1 : 0;
    }
  }
  part.routes.clear();
  for (const Route& route : machine.routes) {
    const DeviceId from = kept[route.from.index()], to = kept[route.to.index()];
    if (from.valid() && to.valid()) {
      part.routes.push_back({from, to, route.links});
    }
  }
  return part;
}

struct Planned {
  double predicted = 0, planning = 0; ///< seconds of a step; of the compiler
};

Result<Planned> planOn(const Graph& graph, const Machine& machine, Precision precision, uint32_t gpus) {
  CompileOptions options;
  options.precision = precision;
  options.policy = gpus == 1 ? "single" : "auto"; // else the host's CPU helps the one GPU
  const double begin = steadySeconds();
  const auto plan = compile(graph, firstGpus(machine, gpus), RooflineCostModel(), options);
  if (!plan) {
    return plan.errors();
  }
  return Planned{plan->predictedSeconds(), steadySeconds() - begin};
}

struct Gains {
  double two = 0, eight = 0; ///< sums of logarithms
  int count = 0;
};

Status planFamily(const Harness& harness, const ModelFamily& family, const Machine& machine,
                  Precision precision, Row& row, Gains& gains) {
  const auto graph = family.build(harness.quick() ? family.small : family.full);
  if (!graph) {
    return graph.errors();
  }
  if (!harness.graphs().empty()) {
    const std::string file = fmt::format("{}/{}.dfg", harness.graphs(), family.name);
    if (const Status written = writeFileAtomically(file, printGraph(*graph)); !written) {
      return written.errors();
    }
  }
  const auto one = planOn(*graph, machine, precision, 1), two = planOn(*graph, machine, precision, 2);
  const auto eight = planOn(*graph, machine, precision, mostGpus);
  if (!one || !two || !eight) {
    return (!one ? one : !two ? two : eight).errors();
  }
  const double onTwo = one->predicted / two->predicted, onEight = one->predicted / eight->predicted;
  gains.two += std::log(onTwo);
  gains.eight += std::log(onEight);
  ++gains.count;
  row.time = spreadOf({eight->planning});
  row.checks.push_back({"speed-up on 2 GPUs", onTwo, std::nullopt, std::nullopt});
  row.checks.push_back({"speed-up on 8 GPUs", onEight, std::nullopt, std::nullopt});
  row.notes.push_back(fmt::format("{} ops; predicted {:.3f} ms on one GPU, {:.3f} on two, {:.3f} on eight; "
                                  "planned in {:.2f}, {:.2f} and {:.2f} s",
                                  graph->opCount(), one->predicted * 1e3, two->predicted * 1e3,
                                  eight->predicted * 1e3, one->planning, two->planning, eight->planning));
  return success();
}

void meanRow(const Harness& harness, const std::string& key, const Gains& gains) {
  if (gains.count < 2 || !harness.wants(key)) {
    return;
  }
  harness.attempt(key, fmt::format("geometric means of {} rows", gains.count), [&](Row& row) -> Status {
    const auto atLeast = [&](double least) { return harness.quick() ? std::nullopt : std::optional(least); };
    row.checks.push_back({"speed-up on 2 GPUs", std::exp(gains.two / gains.count), {}, atLeast(1.88)});
    row.checks.push_back({"speed-up on 8 GPUs", std::exp(gains.eight / gains.count), {}, atLeast(6.2)});
    return success();
  });
}

} // namespace

void modelSplits(Harness& harness, const BaselineOptions& /*baselines*/) {
  const auto machine = tool::machineNamed("cpu-8gpu-nvlink");
  Gains gains;
  for (const ModelFamily& family : modelFamilies()) {
    for (const Precision precision : {Precision::Ieee, Precision::Bf16}) {
      const std::string_view name = precision == Precision::Ieee ? "f32" : "bf16";
      const std::string key = fmt::format("split/families/{}/{}", family.name, name);
      if (harness.wants(key) && (!harness.quick() || precision == Precision::Ieee)) {
        harness.attempt(key, fmt::format("a step of {} in {}, planned for 8 GPUs", family.name, name),
                        [&](Row& row) -> Status {
                          return machine ? planFamily(harness, family, *machine, precision, row, gains)
                                         : Status(machine.errors());
                        });
      }
    }
  }
  meanRow(harness, "split/families/all", gains);
}

} // namespace dfc::bench
