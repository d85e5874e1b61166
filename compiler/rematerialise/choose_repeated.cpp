#include "compiler/rematerialise/choose_repeated.h"

#include "compiler/rematerialise/repeatable.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dfc {
namespace {

/// An operand that is gone is kept, not computed again, where it has at most this part of the bytes gained:
/// the statistics of a norm, say.
constexpr int64_t keptPart = 8;
constexpr size_t mostRounds = 400;
/// Ops of a candidate, as long as there are such candidates, and at most: longer ones are seldom worth their
/// seconds.
constexpr size_t shortChain = 32, longChain = 256;
/// The choice is given up where so many rounds on end leave more than this part of the excess.
constexpr size_t patience = 16;
constexpr double slow = 0.9;

class Chooser {
 public:
  Chooser(Lifetimes& lifetimes, const RepetitionProblem& problem)
      : lifetimes_(lifetimes), problem_(problem), graph_(problem.placement.graph),
        banned_(graph_.opCount(), false), seconds_(graph_.opCount(), 0), opsOn_(problem.limits.size()) {
    for (const OpId op : problem_.order.ops) {
      for (const DeviceId device : lifetimes_.devicesOf(op)) {
        if (mayRepeat(op)) {
          opsOn_[device].push_back(op);
          seconds_[op] = problem_.cost.opSeconds(graph_, op, problem_.machine, problem_.placement.device[op]);
        }
      }
    }
  }

  bool run() {
    lifetimes_.evaluate();
    double excess = totalExcess();
    size_t most = std::numeric_limits<size_t>::max(); // candidates of a device in a round
    double before = std::numeric_limits<double>::infinity();
    for (size_t round = 0; round < mostRounds && excess > 0; ++round) {
      if (round % patience == patience - 1 && excess > slow * std::exchange(before, excess)) {
        return false;
      }
      std::vector<Candidate> taken = candidates(most);
      while (taken.empty() && longest_ < longChain) {
        longest_ *= 2;
        taken = candidates(most);
      }
      if (taken.empty()) {
        return false;
      }
      for (const Candidate& one : taken) {
        mark(one);
      }
      lifetimes_.evaluate();
      const double next = totalExcess();
      if (next < excess) {
        excess = next;
        most = std::numeric_limits<size_t>::max();
        continue;
      }
      for (const Candidate& one : taken) {
        unmark(one);
      }
      if (most == 1 || taken.size() == 1) {
        for (const Candidate& one : taken) {
          banned_[one.op] = true;
        }
      }
      most = 1;
      lifetimes_.evaluate();
    }
    return excess <= 0;
  }

 private:
  struct Repeated {
    OpId op;
    uint32_t lastEarly = 0;
  };
  struct Candidate {
    OpId op;
    std::vector<Repeated> repeated; ///< the op and what it needs that is gone
    int64_t bytes = 0;              ///< that fewer are alive at the peak
    double seconds = 0;
  };

  void mark(const Candidate& candidate) {
    for (const Repeated& one : candidate.repeated) {
      lifetimes_.repeat(one.op, one.lastEarly);
    }
  }
  void unmark(const Candidate& candidate) {
    for (const Repeated& one : candidate.repeated) {
      lifetimes_.doNotRepeat(one.op);
    }
  }

  // Bytes above the limits, summed over positions: smaller even where one of several equal peaks goes.
  double totalExcess() const {
    double sum = 0;
    for (const DeviceId device : problem_.limits.ids()) {
      for (const int64_t bytes : lifetimes_.profile(device)) {
        sum += static_cast<double>(std::max<int64_t>(0, bytes - problem_.limits[device]));
      }
    }
    return sum;
  }

  /// For each device above its limit, the best that bring its peak down to it, at most `most`.
  std::vector<Candidate> candidates(size_t most) const {
    std::vector<Candidate> taken;
    llvm::DenseSet<uint32_t> marked;
    for (const DeviceId device : problem_.limits.ids()) {
      const std::vector<int64_t>& profile = lifetimes_.profile(device);
      if (profile.empty()) {
        continue;
      }
      const auto peak = std::max_element(profile.begin(), profile.end());
      int64_t excess = *peak - problem_.limits[device];
      if (excess <= 0) {
        continue;
      }
      std::vector<Candidate> all = candidatesAt(device, static_cast<uint32_t>(peak - profile.begin()));
      llvm::stable_sort(all, [](const Candidate& a, const Candidate& b) {
        return static_cast<double>(a.bytes) * b.seconds > static_cast<double>(b.bytes) * a.seconds;
      });
      size_t count = 0;
      for (Candidate& one : all) {
        const auto isNew = [&](const Repeated& repeated) { return !marked.contains(repeated.op.index()); };
        if (excess <= 0 || count == most) {
          break;
        }
        if (llvm::all_of(one.repeated, isNew)) {
          for (const Repeated& repeated : one.repeated) {
            marked.insert(repeated.op.index());
          }
          excess -= one.bytes;
          ++count;
          taken.push_back(std::move(one));
        }
      }
    }
    return taken;
  }

  std::vector<Candidate> candidatesAt(DeviceId device, uint32_t peak) const {
    std::vector<Candidate> found;
    for (const OpId op : opsOn_[device]) {
      if (!lifetimes_.isRepeated(op) && !banned_[op]) {
        Candidate candidate = candidateOf(op, device, peak);
        if (candidate.bytes > 0 && std::isfinite(candidate.seconds)) {
          found.push_back(std::move(candidate));
        }
      }
    }
    return found;
  }

  bool mayRepeat(OpId op) const { return !lifetimes_.isRepeated(op) && isRepeatable(graph_, op); }

  struct AlivePart {
    int64_t bytes = 0;
    uint32_t copies = 1; ///< as of `Lifetimes::Span`
  };
  AlivePart aliveAt(OpId op, DeviceId device, uint32_t position) const {
    AlivePart alive;
    for (const ValueId result : graph_[op].results()) {
      for (const Lifetimes::Span& span : lifetimes_.spansOf(result)) {
        if (span.device == device && span.begin <= position && position <= span.end) {
          alive.bytes += lifetimes_.bytesOf(result);
          alive.copies = std::max(alive.copies, span.copies);
        }
      }
    }
    return alive;
  }

  // Without bytes where the op's results are read at the peak, or no more behind it.
  Candidate candidateOf(OpId op, DeviceId device, uint32_t peak) const {
    const AlivePart alive = aliveAt(op, device, peak);
    Candidate candidate{op, {}, alive.bytes * alive.copies, 0};
    uint32_t lastEarly = lifetimes_.positionOf(op), next = Lifetimes::none;
    if (candidate.bytes == 0 || lastEarly >= peak) {
      return {};
    }
    lifetimes_.forEachRead(op, [&](const Lifetimes::Read& read) {
      if (read.position <= peak) {
        lastEarly = std::max(lastEarly, read.position);
      } else {
        next = std::min(next, read.position);
      }
    });
    if (lastEarly == peak || next == Lifetimes::none || next >= lifetimes_.length()) { // or it is fetched
      return {};
    }
    llvm::DenseSet<uint32_t> seen;
    addRepeated({op, lastEarly}, {device, peak, next, alive}, candidate, seen);
    return candidate.repeated.size() > longest_ ? Candidate() : candidate;
  }

  struct Moment {
    DeviceId device; ///< of the peak
    uint32_t peak, again;
    AlivePart gained;
  };

  void addRepeated(Repeated repeated, const Moment& moment, Candidate& candidate,
                   llvm::DenseSet<uint32_t>& seen) const {
    if (candidate.repeated.size() > longest_ || candidate.bytes <= 0 ||
        !seen.insert(repeated.op.index()).second) {
      return;
    }
    const DeviceId device = problem_.placement.device[repeated.op];
    candidate.repeated.push_back(repeated);
    candidate.seconds += seconds_[repeated.op];
    for (const ValueId operand : graph_[repeated.op].operands) {
      const ValueId source = lifetimes_.sourceOf(operand);
      const OpId producer = graph_[source].producer;
      if (lifetimes_.bytesOf(source) == 0 || lifetimes_.isRepeated(producer)) {
        continue;
      }
      uint32_t end = lifetimes_.positionOf(producer);
      for (const Lifetimes::Span& span : lifetimes_.spansOf(source)) {
        end = span.device == device ? std::max(end, span.end) : end;
      }
      if (end >= moment.peak) { // alive at the peak anyway
        continue;
      }
      const int64_t bytes = lifetimes_.bytesOf(source);
      if (bytes * keptPart <= moment.gained.bytes || !mayRepeat(producer)) {
        candidate.bytes -= device == moment.device ? bytes * moment.gained.copies : 0;
        continue;
      }
      uint32_t lastEarly = lifetimes_.positionOf(producer);
      lifetimes_.forEachRead(producer, [&](const Lifetimes::Read& read) {
        lastEarly = read.position < moment.peak ? std::max(lastEarly, read.position) : lastEarly;
      });
      addRepeated({producer, lastEarly}, moment, candidate, seen);
    }
  }

  Lifetimes& lifetimes_;
  const RepetitionProblem problem_;
  const Graph& graph_;
  SideTable<OpId, bool> banned_;
  size_t longest_ = shortChain;                  // most ops of a candidate
  SideTable<OpId, double> seconds_;              // of a repetition
  SideTable<DeviceId, std::vector<OpId>> opsOn_; // that may be repeated, and have results on the device
};

} // namespace

bool chooseRepeated(Lifetimes& lifetimes, const RepetitionProblem& problem) {
  return Chooser(lifetimes, problem).run();
}

} // namespace dfc
