#include "compiler/tasks/timeline.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr int mostGapsTried = 64;
constexpr size_t blockGaps = 128;

// Lower bound without branches, which no processor could predict here; the last row is at least `time`.
template <class Row, class EndOf>
size_t firstFrom(const Row* rows, size_t count, double time, const EndOf& endOf) {
  const Row* first = rows;
  while (count > 1) {
    const size_t half = count / 2;
    first += endOf(first[half - 1]) < time ? half : 0;
    count -= half;
  }
  return static_cast<size_t>(first - rows);
}

} // namespace

// The last gap ends never, so there is one.
Timeline::Place Timeline::firstEndingFrom(double time) const {
  const size_t block = firstFrom(ends_.data(), ends_.size(), time, [](double end) { return end; });
  const Block& gaps = blocks_[block];
  return {block, firstFrom(gaps.data(), gaps.size(), time, [](const Gap& gap) { return gap.end; })};
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
