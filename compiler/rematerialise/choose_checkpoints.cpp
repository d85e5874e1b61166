#include "compiler/rematerialise/choose_checkpoints.h"

#include "compiler/rematerialise/repeatable.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

/// Values of at most this part of the largest are kept, such as the statistics of a norm.
constexpr int64_t smallPart = 64;
/// Segments are tried with a half, a quarter, … of the bytes that are kept without checkpoints.
constexpr int mostHalvings = 6;
/// A step has a peak for each micro-batch; each round lowers the highest one of every device.
constexpr int mostPeaks = 8;
/// The ops that need not be repeated after all are found in this many trials.
constexpr size_t relaxTrials = 48;

/// A value on a device that exceeds its limit, around the peak.
struct Held {
  ValueId value;
  OpId producer;
  uint32_t begin = 0, lastEarly = 0; ///< position, and that of the last read up to the peak
  bool isAlive = false;              ///< at the peak, and read behind it
};

class CheckpointChooser {
 public:
  CheckpointChooser(Lifetimes& lifetimes, const RepetitionProblem& problem)
      : lifetimes_(lifetimes), problem_(problem), graph_(problem.placement.graph),
        opsOn_(problem.limits.size()), kept_(graph_.valueCount(), false) {
    for (const OpId op : problem_.order.ops) {
      for (const DeviceId device : lifetimes_.devicesOf(op)) {
        opsOn_[device].push_back(op);
      }
    }
  }

  bool run() {
    double least = std::numeric_limits<double>::infinity();
    for (int halving = 1; halving <= mostHalvings; ++halving) {
      clear();
      if (lowerPeaks(halving)) {
        relax();
        return true;
      }
      if (excess() >= least) { // what the checkpoints take grows
        break;
      }
      least = excess();
    }
    clear();
    lifetimes_.evaluate();
    return false;
  }

 private:
  void clear() {
    for (const OpId op : problem_.order.ops) {
      lifetimes_.doNotRepeat(op);
    }
    for (const ValueId value : graph_.values()) {
      kept_[value] = false;
    }
    marked_.clear();
  }

  bool fits() const { return excess() <= 0; }

  // The most bytes of a device above its limit.
  double excess() const {
    double most = 0;
    for (const DeviceId device : problem_.limits.ids()) {
      const std::vector<int64_t>& profile = lifetimes_.profile(device);
      if (profile.empty()) {
        continue;
      }
      most = std::max(most, static_cast<double>(*std::max_element(profile.begin(), profile.end())) -
                                static_cast<double>(problem_.limits[device]));
    }
    return most;
  }

  bool lowerPeaks(int halving) {
    lifetimes_.evaluate();
    for (int round = 0; round < mostPeaks && !fits(); ++round) {
      const size_t before = marked_.size();
      for (const DeviceId device : problem_.limits.ids()) {
        const std::vector<int64_t>& profile = lifetimes_.profile(device);
        const auto peak = std::max_element(profile.begin(), profile.end());
        if (!profile.empty() && *peak > problem_.limits[device]) {
          checkpoint(device, static_cast<uint32_t>(peak - profile.begin()), halving);
        }
      }
      if (marked_.size() == before) {
        return false;
      }
      lifetimes_.evaluate();
    }
    return fits();
  }

  std::vector<Held> heldOn(DeviceId device, uint32_t peak) const {
    std::vector<Held> held;
    for (const OpId op : opsOn_[device]) {
      if (lifetimes_.positionOf(op) >= peak || lifetimes_.isRepeated(op)) {
        continue;
      }
      for (const ValueId value : graph_[op].results()) {
        for (const Lifetimes::Span& span : lifetimes_.spansOf(value)) {
          if (span.device == device && span.begin < peak) {
            const uint32_t last = lastEarly(op, peak);
            held.push_back({value, op, span.begin, std::max(last, span.begin),
                            span.end > peak && last < peak && span.end < lifetimes_.length()});
          }
        }
      }
    }
    return held;
  }

  uint32_t lastEarly(OpId op, uint32_t peak) const {
    uint32_t last = lifetimes_.positionOf(op);
    lifetimes_.forEachRead(op, [&](const Lifetimes::Read& read) {
      last = read.position <= peak ? std::max(last, read.position) : last;
    });
    return last;
  }

  // Bytes that the ops behind a position, up to the peak, read of those before it.
  std::vector<int64_t> crossingBytes(llvm::ArrayRef<Held> held, uint32_t peak) const {
    std::vector<int64_t> crossing(peak + 2, 0); // changes first, sums below
    for (const Held& one : held) {
      crossing[one.begin] += lifetimes_.bytesOf(one.value);
      crossing[std::min(one.lastEarly, peak)] -= lifetimes_.bytesOf(one.value);
    }
    for (size_t i = 1; i < crossing.size(); ++i) {
      crossing[i] += crossing[i - 1];
    }
    return crossing;
  }

  // Keeps what crosses the narrowest positions, one for each so many bytes, and repeats the rest.
  void checkpoint(DeviceId device, uint32_t peak, int halving) {
    std::vector<Held> held = heldOn(device, peak);
    llvm::stable_sort(held, [](const Held& a, const Held& b) { return a.begin < b.begin; });
    int64_t all = 0;
    large_ = 0;
    for (const Held& one : held) {
      all += one.isAlive ? lifetimes_.bytesOf(one.value) : 0;
      large_ = std::max(large_, one.isAlive ? lifetimes_.bytesOf(one.value) / smallPart : 0);
    }
    const std::vector<int64_t> crossing = crossingBytes(held, peak);
    int64_t sum = 0;
    uint32_t from = 0;
    for (const Held& one : held) {
      sum += one.isAlive ? lifetimes_.bytesOf(one.value) : 0;
      if (sum < all >> halving) {
        continue;
      }
      const uint32_t cut = narrowest(crossing, from, one.begin);
      sum = 0;
      for (const Held& other : held) {
        kept_[other.value] = kept_[other.value] || (other.begin <= cut && cut < other.lastEarly);
        sum += other.isAlive && other.begin > cut && other.begin <= one.begin
                   ? lifetimes_.bytesOf(other.value)
                   : 0;
      }
      from = cut + 1;
    }
    for (const Held& one : held) {
      if (one.isAlive && isRepeated(one.value)) {
        mark(one.producer, peak);
      }
    }
  }

  // The last of the narrowest.
  static uint32_t narrowest(llvm::ArrayRef<int64_t> crossing, uint32_t from, uint32_t to) {
    uint32_t best = to;
    for (uint32_t at = to; at-- > from;) {
      best = crossing[at] < crossing[best] ? at : best;
    }
    return best;
  }

  bool isRepeated(ValueId value) const {
    return !kept_[value] && lifetimes_.bytesOf(value) > large_ &&
           isRepeatable(graph_, graph_[value].producer);
  }

  // And what it needs that is not kept, within its stage: other stages would have to send it again.
  void mark(OpId op, uint32_t peak) {
    llvm::SmallVector<OpId, 32> open = {op};
    while (!open.empty()) {
      const OpId next = open.pop_back_val();
      if (lifetimes_.isRepeated(next)) {
        continue;
      }
      const uint32_t last = lastEarly(next, peak);
      lifetimes_.repeat(next, last);
      marked_.push_back(
          {next, last,
           problem_.cost.opSeconds(graph_, next, problem_.machine, problem_.placement.device[next])});
      for (const ValueId operand : graph_[next].operands) {
        const ValueId source = lifetimes_.sourceOf(operand);
        const OpId producer = graph_[source].producer;
        if (isRepeated(source) && lifetimes_.positionOf(producer) < peak &&
            lifetimes_.areOfOneStage(problem_.placement.device[producer], problem_.placement.device[next])) {
          open.push_back(producer);
        }
      }
    }
  }

  // Results that take most seconds for each byte are kept where that fits, some at a time.
  void relax() {
    llvm::stable_sort(marked_, [&](const Marked& a, const Marked& b) {
      return a.seconds * bytesOf(b.op) > b.seconds * bytesOf(a.op);
    });
    size_t from = 0, size = std::max<size_t>(1, marked_.size() / 4);
    for (size_t trial = 0; trial < relaxTrials && from < marked_.size(); ++trial) {
      const auto some = llvm::ArrayRef<Marked>(marked_).slice(from, std::min(size, marked_.size() - from));
      for (const Marked& one : some) {
        lifetimes_.doNotRepeat(one.op);
      }
      lifetimes_.evaluate();
      if (fits()) {
        from += some.size();
        continue;
      }
      for (const Marked& one : some) {
        lifetimes_.repeat(one.op, one.lastEarly);
      }
      from += size == 1 ? 1 : 0;
      size = std::max<size_t>(1, size / 2);
    }
    lifetimes_.evaluate();
  }

  double bytesOf(OpId op) const {
    double bytes = 1;
    for (const ValueId result : graph_[op].results()) {
      bytes += static_cast<double>(lifetimes_.bytesOf(result));
    }
    return bytes;
  }

  struct Marked {
    OpId op;
    uint32_t lastEarly = 0;
    double seconds = 0;
  };

  Lifetimes& lifetimes_;
  const RepetitionProblem problem_;
  const Graph& graph_;
  SideTable<DeviceId, std::vector<OpId>> opsOn_; // that have results on the device
  SideTable<ValueId, bool> kept_;
  int64_t large_ = 0; // bytes; smaller values are kept
  std::vector<Marked> marked_;
};

} // namespace

bool chooseCheckpoints(Lifetimes& lifetimes, const RepetitionProblem& problem) {
  return CheckpointChooser(lifetimes, problem).run();
}

} // namespace dfc
