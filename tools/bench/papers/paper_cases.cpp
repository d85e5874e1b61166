#include "tools/bench/papers/paper_cases.h"

#include "compiler/quotient/quotient_plans.h"
#include "tools/bench/papers/host_machines.h"

#include <algorithm>

namespace dfc::bench {
namespace {

// Alpa (Zheng et al., OSDI 2022; the project's benchmark/alpa/suite_auto_gpt.py): sequences of 1024 tokens,
// batch 1024, vocabulary 51200. A plan's logical mesh of (a, b) is a groups of b devices. Sizes and numbers
// of micro-batches are from memory.
constexpr int64_t alpaVocabulary = 51200, alpaBatch = 1024;

constexpr gpt::Sizes alpaSizes(int64_t width, int64_t layers, int64_t heads) {
  return {layers, heads, width, 1024, alpaVocabulary};
}

// Megatron-LM (Narayanan et al., SC 2021, table 1): sequences of 2048 tokens, vocabulary 51200. All numbers
// are from memory; the table states no number of micro-batches.
constexpr gpt::Sizes megatronSizes(int64_t width, int64_t layers, int64_t heads) {
  return {layers, heads, width, 2048, 51200};
}

constexpr PaperCase alpa(std::string_view name, gpt::Sizes sizes, size_t gpus, Grid grid, size_t microBatches,
                         std::string_view note = {}) {
  return {name, sizes, alpaBatch, gpus, true, {grid, microBatches}, note};
}

constexpr PaperCase megatron(std::string_view name, gpt::Sizes sizes, size_t gpus, int64_t batch, Grid grid) {
  return {name, sizes, batch, gpus, false, {grid, {}}, {}};
}

constexpr PaperCase cases[] = {
    alpa("alpa/760M", alpaSizes(1536, 24, 16), 2, {2, 1, 1}, 128),
    alpa("alpa/1.3B", alpaSizes(2048, 24, 32), 4, {2, 2, 1}, 128),
    alpa("alpa/2.6B", alpaSizes(2560, 32, 32), 8, {4, 2, 1}, 256,
         "published: stages of 2, 2 and 4 GPUs; priced: four of 2"),
    alpa("alpa/6.7B", alpaSizes(4096, 32, 32), 16, {2, 2, 4}, 64),
    alpa("alpa/15B", alpaSizes(5120, 48, 40), 32, {4, 2, 4}, 128),
    alpa("alpa/39B", alpaSizes(8192, 48, 64), 64, {16, 1, 4}, 1024),
    megatron("megatron/1.7B", megatronSizes(2304, 24, 24), 32, 512, {1, 32, 1}),
    megatron("megatron/3.6B", megatronSizes(3072, 30, 32), 64, 512, {1, 32, 2}),
    megatron("megatron/7.5B", megatronSizes(4096, 36, 32), 128, 512, {1, 32, 4}),
    megatron("megatron/18.4B", megatronSizes(6144, 40, 48), 256, 1024, {1, 32, 8}),
    megatron("megatron/39.1B", megatronSizes(8192, 48, 64), 512, 1536, {2, 32, 8}),
    megatron("megatron/76.1B", megatronSizes(10240, 60, 80), 1024, 1792, {4, 32, 8}),
    megatron("megatron/145.6B", megatronSizes(12288, 80, 96), 1536, 2304, {8, 24, 8}),
};

double parametersOf(const gpt::Sizes& sizes) {
  const auto width = static_cast<double>(sizes.width);
  return static_cast<double>(sizes.layers) * 12 * width * width +
         static_cast<double>(sizes.vocabulary) * width;
}

} // namespace

llvm::ArrayRef<PaperCase> paperCases() { return cases; }

PaperCase withFewerLayers(PaperCase one, int64_t layers) {
  const auto stages = static_cast<int64_t>(one.published.grid.stages);
  const int64_t each = std::max<int64_t>(1, layers / stages);
  one.sizes.layers = std::min(one.sizes.layers, each * stages);
  return one;
}

Result<Graph> graphOf(const PaperCase& one) { return gpt::trainingStep(one.sizes, {.batch = one.batch}); }

Machine machineOf(const PaperCase& one, const PaperCase& full) {
  Machine machine = one.isV100 ? v100Hosts(one.gpus) : a100Hosts(one.gpus);
  for (const DeviceId device : machine.devices.ids()) {
    DeviceRow& row = machine.devices[device];
    row.memoryBytes = static_cast<int64_t>(static_cast<double>(row.memoryBytes) * parametersOf(one.sizes) /
                                           parametersOf(full.sizes));
  }
  return machine;
}

double PricedCase::tensorParallelOverHosts() const {
  const SplitGraph& overGroups = found.split.outer ? *found.split.outer : found.split;
  const Graph& graph = overGroups.whole;
  SideTable<ValueId, bool> isWeight(graph.valueCount()); // parameters, moved or rounded
  double all = 0, cut = 0;
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const OpClass kind = classOf(row.kind());
    const bool keeps = kind == OpClass::View || kind == OpClass::Movement || row.kind() == OpKind::Cast;
    isWeight[row.firstResult] =
        row.kind() == OpKind::Parameter || (keeps && row.operands.size() == 1 && isWeight[row.operands[0]]);
    for (size_t i = 0; i < row.operands.size() && kind == OpClass::Contraction; ++i) {
      if (isWeight[row.operands[i]]) {
        const double flops = costOf(row.attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).flops;
        const OpOption& option = overGroups.plan.option[op];
        all += flops;
        cut += option.form == OpOption::Form::Parts && option.operands[i].isCut() ? flops : 0;
      }
    }
  }
  return all > 0 ? cut / all : 0;
}

Result<PricedCase> priced(const PaperCase& one, const Graph& graph, const Machine& machine) {
  CompileOptions options;
  options.precision = one.isV100 ? Precision::F16 : Precision::Bf16;
  auto plans = quotientPlans(graph, machine, RooflineCostModel(), options, one.published);
  if (!plans) {
    return plans.errors();
  }
  DFC_ASSERT(plans->size() > 1, "the compiler has grids of its own");
  QuotientPlan &published = (*plans)[0], &next = (*plans)[1];
  const bool isFound = published.isOwn && !isBetter(next, published);
  PricedCase made{published, isFound ? published : std::move(next)};
  return made;
}

} // namespace dfc::bench
