#include "compiler/tasks/timeline.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr int mostGapsTried = 64;
constexpr size_t blockGaps = 128;

} // namespace

// Searches follow one another in time as a rule, so the block of the last one and the next are looked at
// first.
size_t Timeline::blockEndingFrom(double time) const {
  for (size_t block = found_.block; block < ends_.size() && block < found_.block + 2; ++block) {
    if (time <= ends_[block] && (block == 0 || ends_[block - 1] < time)) {
      return block;
    }
  }
  return static_cast<size_t>(std::lower_bound(ends_.begin(), ends_.end(), time) - ends_.begin());
}

// The last gap ends never, so there is one.
Timeline::Place Timeline::firstEndingFrom(double time) const {
  const size_t block = blockEndingFrom(time);
  const Block& gaps = blocks_[block];
  const auto gap = std::lower_bound(gaps.begin(), gaps.end(), time,
                                    [](const Gap& one, double end) { return one.end < end; });
  return {block, static_cast<size_t>(gap - gaps.begin())};
}

double Timeline::earliestStart(double ready, double seconds) {
  const double lastStart = blocks_.back().back().start;
  if (lastStart <= ready) {
    return ready;
  }
  Place place = firstEndingFrom(ready + seconds);
  for (int tried = 0; tried < mostGapsTried && place.block < blocks_.size(); ++tried) {
    const Block& block = blocks_[place.block];
    const double start = std::max(ready, block[place.gap].start);
    if (start + seconds <= block[place.gap].end) {
      found_ = place;
      return start;
    }
    if (++place.gap == block.size()) {
      place = {place.block + 1, 0};
    }
  }
  return lastStart;
}

Timeline::Place Timeline::holding(double start, double end) const {
  if (blocks_.back().back().start <= start) {
    return {blocks_.size() - 1, blocks_.back().size() - 1};
  }
  if (found_.block < blocks_.size() && found_.gap < blocks_[found_.block].size()) {
    const Gap& gap = blocks_[found_.block][found_.gap];
    if (gap.start <= start && end <= gap.end) {
      return found_;
    }
  }
  return firstEndingFrom(end);
}

void Timeline::occupy(double start, double end) {
  if (start == end) {
    return;
  }
  const Place place = holding(start, end);
  Gap& gap = blocks_[place.block][place.gap];
  const Gap before{gap.start, start};
  if (gap.end > end) {
    gap.start = end;
    if (before.start < start) {
      insert(place, before);
    }
  } else if (before.start < start) {
    gap = before;
    ends_[place.block] = blocks_[place.block].back().end;
  } else {
    erase(place);
  }
}

void Timeline::release(double start, double end) {
  if (start == end) {
    return;
  }
  const Place place = firstEndingFrom(start); // the gap before, if it ends there; else the gap after
  Gap& gap = blocks_[place.block][place.gap];
  if (gap.end > start) {
    if (gap.start == end) {
      gap.start = start;
    } else {
      insert(place, {start, end});
    }
    return;
  }
  gap.end = end;
  const bool lastOfBlock = place.gap + 1 == blocks_[place.block].size();
  const Place after = lastOfBlock ? Place{place.block + 1, 0} : Place{place.block, place.gap + 1};
  const Gap next = blocks_[after.block][after.gap]; // of which the last has no end
  if (next.start == end) {
    gap.end = next.end;
    erase(after);
  }
  ends_[place.block] = blocks_[place.block].back().end;
}

void Timeline::insert(Place place, Gap gap) {
  Block& block = blocks_[place.block];
  block.insert(block.begin() + static_cast<ptrdiff_t>(place.gap), gap); // before one: ends_ stays
  if (block.size() > blockGaps) {
    const auto middle = block.begin() + static_cast<ptrdiff_t>(blockGaps / 2);
    Block rest(middle, block.end());
    block.erase(middle, block.end());
    rest.reserve(blockGaps + 1);
    ends_.insert(ends_.begin() + static_cast<ptrdiff_t>(place.block), block.back().end);
    blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(place.block) + 1, std::move(rest));
  }
}

void Timeline::erase(Place place) {
  Block& block = blocks_[place.block];
  block.erase(block.begin() + static_cast<ptrdiff_t>(place.gap));
  if (block.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(place.block));
    ends_.erase(ends_.begin() + static_cast<ptrdiff_t>(place.block));
  } else {
    ends_[place.block] = block.back().end;
  }
}

void Timeline::clear() {
  blocks_.resize(1);
  ends_.assign(1, std::numeric_limits<double>::infinity());
  blocks_.front().assign(1, {0, std::numeric_limits<double>::infinity()});
}

} // namespace dfc
