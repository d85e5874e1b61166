// B3 on all GPUs of the machine, each with weights of its own and its part of the largest batch: gradients
// exchanged whole, summed part by part and gathered, or sent round in a ring (ir/author/collectives.h).
#include "tools/bench/experiments/training.h"

#include <fmt/format.h>

namespace dfc::bench {

void trainingOnAll(Stage& stage) {
  if (stage.gpus().size() < 2) {
    return stage.lacking("B3/all", "B3 net on all GPUs", "the machine has no second GPU");
  }
  NetSpec spec;
  spec.batch = stage.sizes().largestBatch;
  spec.workers = stage.gpus();
  spec.owner = "";
  for (const std::string& precision : stage.precisions()) {
    for (const auto& [form, name, said] :
         {std::tuple(AllReduce::Exchange, "exchange", "gradients exchanged"),
          std::tuple(AllReduce::Scatter, "scatter", "gradients summed in parts"),
          std::tuple(AllReduce::Ring, "ring", "gradients round a ring")}) {
      if (form == AllReduce::Exchange && spec.workers.size() == 2) {
        continue; // that is B3/2gpu-exchange
      }
      spec.reduction = form;
      timeTraining(
          stage, fmt::format("B3/all-{}/{}/{}", name, precision, spec.batch),
          fmt::format("B3 net, {} GPUs, {}, batch {}, {}", spec.workers.size(), precision, spec.batch, said),
          spec, precision == "tf32");
    }
  }
}

} // namespace dfc::bench
