#include "runtime/cuda/launches/reduction_fusion.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

uint64_t threadsOf(const GeneratedLaunch& launch) { return launch.blocks() * launch.threads; }

bool sameBytes(const Range& a, const Range& b) {
  return a.begin.inWorkspace == b.begin.inWorkspace && a.begin.at == b.begin.at && a.bytes == b.bytes;
}

/// Both in one, where the maker is; none where they are not made for each other.
std::optional<Unit> joined(const Unit& maker, const Unit& fold, const FoldLimits& limits) {
  if (maker.along || maker.byLibrary() || threadsOf(maker.launch) <= limits.makerThreads ||
      threadsOf(fold.launch) < limits.foldThreads || fold.launch.blocks() < limits.foldBlocks ||
      maker.writes.size() != 1 || fold.reads.size() != 1 || !sameBytes(maker.writes[0], fold.reads[0]) ||
      overlap(fold.writes, maker.reads) || overlap(fold.writes, maker.writes)) {
    return std::nullopt;
  }
  auto launch = madeAndFolded(maker.launch, fold.launch);
  if (!launch) {
    return std::nullopt;
  }
  Unit both = maker;
  both.along = fold.computation;
  both.launch = *std::move(launch);
  both.pointers.append(fold.pointers.begin() + 1, fold.pointers.end()); // the first is the operand
  both.writes.append(fold.writes.begin(), fold.writes.end());
  for (Range& range : both.reads) {
    range.stride = 0; // its threads follow the fold's results
  }
  both.writes[0].stride = 0;
  return both;
}

/// Whether the fold became a part of one of the units before it: the last one that it must stay behind.
bool joinMaker(const Unit& fold, std::vector<Unit>& before, const FoldLimits& limits) {
  const size_t first = before.size() - std::min(before.size(), limits.lookBack);
  for (size_t at = before.size(); at > first && before[at - 1].segment.stretch == fold.segment.stretch;
       --at) {
    Unit& earlier = before[at - 1];
    if (conflict(earlier, fold)) {
      auto both = joined(earlier, fold, limits);
      if (both) {
        earlier = *std::move(both);
      }
      return both.has_value();
    }
  }
  return false;
}

} // namespace

std::vector<Unit> withFoldsMadeAlong(std::vector<Unit> units, const FoldLimits& limits) {
  std::vector<Unit> kept;
  for (Unit& unit : units) {
    if (unit.launch.fold == nullptr || !joinMaker(unit, kept, limits)) {
      kept.push_back(std::move(unit));
    }
  }
  return kept;
}

} // namespace dfc::cuda
