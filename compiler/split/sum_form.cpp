#include "compiler/split/sum_form.h"

#include "ir/plan/peer_reads.h"

#include <bit>
#include <cmath>

namespace dfc {

SumCost cheapestSum(int64_t bytes, bool scatters, const Mesh& mesh) {
  const auto k = static_cast<double>(mesh.size());
  const double wire = mesh.bandwidth > 0 ? static_cast<double>(bytes) / mesh.bandwidth : 0;
  if (mesh.readsPeers && bytes <= smallPeerRead) { // a round costs a launch in place of a copy's latency
    const double exchange = mesh.launchSeconds + (k - 1) * wire;
    const double doubling = std::log2(k) * (mesh.launchSeconds + wire);
    return std::has_single_bit(mesh.size()) && doubling < exchange ? SumCost{SumForm::Doubling, doubling}
                                                                   : SumCost{SumForm::Exchange, exchange};
  }
  SumCost best{SumForm::Exchange, (k - 1) * (mesh.latencySeconds + wire)};
  const auto offer = [&](SumForm form, double seconds) {
    if (seconds < best.seconds) {
      best = {form, seconds};
    }
  };
  if (std::has_single_bit(mesh.size())) {
    offer(SumForm::Doubling, std::log2(k) * (mesh.latencySeconds + wire));
  }
  if (scatters) {
    offer(SumForm::Scatter, 2 * (k - 1) * (mesh.latencySeconds + wire / k));
  }
  return best;
}

OpAttributes combiner(SplitKind kind) {
  switch (kind) {
  case SplitKind::Sum: return ops::Add{};
  case SplitKind::Max: return ops::Maximum{};
  case SplitKind::Min: return ops::Minimum{};
  case SplitKind::Product: return ops::Mul{};
  case SplitKind::Free:
  case SplitKind::Scan:
  case SplitKind::Window: break;
  }
  DFC_UNREACHABLE("parts of this kind are not combined");
}

bool isNarrow(ElementType element) { return element == ElementType::BF16 || element == ElementType::F16; }

bool isSmall(const TensorType& type) {
  constexpr int64_t mostSmall = 64 << 10;
  return type.bytes() <= mostSmall;
}

} // namespace dfc
