// The MLP on all GPUs of the machine, each with parameters of its own and its part of the largest batch:
// gradients exchanged whole, reduce-scattered and gathered, or reduced in a ring (ir/author/collectives.h).
#include "tools/bench/experiments/mlp_training.h"

#include <fmt/format.h>

namespace dfc::bench {

void trainOnAllGpus(Harness& harness) {
  if (harness.gpus().size() < 2) {
    return harness.lacking("mlp_training/all", "MLP on all GPUs", "the machine has no second GPU");
  }
  MlpSpec spec;
  spec.batch = harness.sizes().largestBatch;
  spec.workers = harness.gpus();
  spec.owner = "";
  for (const std::string& precision : harness.precisions()) {
    for (const auto& [form, name, reduction] :
         {std::tuple(AllReduce::Exchange, "exchange", "gradients exchanged"),
          std::tuple(AllReduce::Scatter, "scatter", "gradients summed in parts"),
          std::tuple(AllReduce::Ring, "ring", "gradients round a ring")}) {
      if (form == AllReduce::Exchange && spec.workers.size() == 2) {
        continue; // the same as mlp_training/2gpu-exchange
      }
      spec.reduction = form;
      timeTraining(harness, fmt::format("mlp_training/all-{}/{}/{}", name, precision, spec.batch),
                   fmt::format("MLP, {} GPUs, {}, batch {}, {}", spec.workers.size(), precision, spec.batch,
                               reduction),
                   spec, precision == "tf32");
    }
  }
}

} // namespace dfc::bench
