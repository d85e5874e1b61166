#include "compiler/lower/reduction_fusion.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

uint64_t threadsOf(const GeneratedLaunch& launch) { return launch.blocks() * launch.threads; }

bool sameBytes(const Range& a, const Range& b) { return a.begin == b.begin && a.bytes == b.bytes; }

/// The fused launch, in the producer's place; none where the two do not fit.
std::optional<UnmergedLaunch> fused(const UnmergedLaunch& producer, const UnmergedLaunch& reduction,
                                    const FusionLimits& limits) {
  if (producer.fusedReduction || producer.byLibrary() ||
      threadsOf(producer.kernel) <= limits.producerThreads ||
      threadsOf(reduction.kernel) < limits.reductionThreads ||
      reduction.kernel.blocks() < limits.reductionBlocks || producer.writes.size() != 1 ||
      reduction.reads.size() != 1 || !sameBytes(producer.writes[0], reduction.reads[0]) ||
      overlap(reduction.writes, producer.reads) || overlap(reduction.writes, producer.writes)) {
    return std::nullopt;
  }
  auto kernel = fusedWithReduction(producer.kernel, reduction.kernel);
  if (!kernel) {
    return std::nullopt;
  }
  UnmergedLaunch both = producer;
  both.fusedReduction = reduction.computation;
  both.kernel = *std::move(kernel);
  both.pointers.append(reduction.pointers.begin() + 1, reduction.pointers.end()); // the first is the operand
  both.writes.append(reduction.writes.begin(), reduction.writes.end());
  for (Range& range : both.reads) {
    range.stride = 0; // its threads follow the reduction's results
  }
  both.writes[0].stride = 0;
  return both;
}

/// Fuses the reduction with the last earlier launch that it is dependent on; whether that was possible.
bool fuseWithProducer(const UnmergedLaunch& reduction, std::vector<UnmergedLaunch>& before,
                      const FusionLimits& limits) {
  const size_t first = before.size() - std::min(before.size(), limits.lookBack);
  for (size_t at = before.size();
       at > first && before[at - 1].region.queueRegion == reduction.region.queueRegion; --at) {
    UnmergedLaunch& earlier = before[at - 1];
    if (dependent(earlier, reduction)) {
      auto both = fused(earlier, reduction, limits);
      if (!both) {
        return false;
      }
      earlier = *std::move(both);
      return true;
    }
  }
  return false;
}

} // namespace

std::vector<UnmergedLaunch> fuseReductions(std::vector<UnmergedLaunch> launches, const FusionLimits& limits) {
  std::vector<UnmergedLaunch> kept;
  for (UnmergedLaunch& launch : launches) {
    if (launch.kernel.reduction == nullptr || !fuseWithProducer(launch, kept, limits)) {
      kept.push_back(std::move(launch));
    }
  }
  return kept;
}

} // namespace dfc::cuda
