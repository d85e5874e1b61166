#include "compiler/split/pipeline/stages.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace dfc {
namespace {

/// Bytes up to which a value says nothing of where its readers belong: step counts and rates.
constexpr int64_t mostScalar = 64;
/// Bytes from which a parameter with several readers keeps them together.
constexpr int64_t leastTied = 1 << 20;
/// How far a cut may be from equal seconds, as a part of a stage's.
constexpr double slack = 0.25;

class StageFinder {
 public:
  StageFinder(const Graph& graph, uint32_t count, const Machine& machine, const CostModel& cost,
              DeviceId device)
      : graph_(graph), count_(count), forward_(graph.opCount(), false), fixed_(graph.opCount(), false),
        displaced_(graph.opCount(), false), readers_(graph.valueCount()), seconds_(graph.opCount(), 0),
        stage_(graph.opCount(), 0) {
    for (const OpId op : graph.ops()) {
      seconds_[op] = cost.opSeconds(graph, op, machine, device);
      for (const ValueId operand : graph[op].operands) {
        readers_[operand].push_back(op);
      }
    }
  }

  SideTable<OpId, uint32_t> run() {
    findForward();
    findFixed();
    for (const OpId op : graph_.ops()) {
      if (forward_[op] && !fixed_[op]) {
        order_.push_back(op);
      }
    }
    findDisplaced();
    cutForward();
    settleFixed();
    settleOthers();
    return std::move(stage_);
  }

 private:
  void findForward() {
    for (const Fetch& fetch : graph_.fetches()) {
      forward_[graph_[fetch.value].producer] = true;
    }
    for (uint32_t i = static_cast<uint32_t>(graph_.opCount()); i-- > 0;) {
      const OpId op(i);
      if (forward_[op] && graph_[op].kind() != OpKind::Assign) {
        for (const ValueId operand : graph_[op].operands) {
          forward_[graph_[operand].producer] = true;
        }
      }
    }
  }

  // Parameters, constants, and what depends on them alone.
  void findFixed() {
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      fixed_[op] = row.kind() != OpKind::Input && llvm::all_of(row.operands, [&](ValueId operand) {
                     return fixed_[graph_[operand].producer];
                   });
    }
  }

  bool isScalar(ValueId value) const { return graph_.typeOf(value).bytes() <= mostScalar; }

  // The parameter, or other source, that most bytes of a value of fixed ops come from; invalid for none.
  OpId sourceOf(ValueId value) const {
    OpId op = graph_[value].producer;
    while (!graph_[op].operands.empty()) {
      const auto& operands = graph_[op].operands;
      const auto largest = std::max_element(operands.begin(), operands.end(), [&](ValueId a, ValueId b) {
        return graph_.typeOf(a).bytes() < graph_.typeOf(b).bytes();
      });
      op = graph_[*largest].producer;
    }
    return graph_[op].kind() == OpKind::Parameter ? op : OpId();
  }

  // Later readers of a large parameter, and what follows them by their largest operand.
  void findDisplaced() {
    firstReader_ = SideTable<OpId, OpId>(graph_.opCount());
    home_ = SideTable<OpId, OpId>(graph_.opCount());
    for (const OpId op : order_) {
      int64_t most = -1;
      for (const ValueId operand : graph_[op].operands) {
        const OpId producer = graph_[operand].producer;
        if (!fixed_[producer]) {
          if (graph_.typeOf(operand).bytes() > most) {
            most = graph_.typeOf(operand).bytes();
            home_[op] = home_[producer];
          }
          continue;
        }
        const OpId parameter = sourceOf(operand);
        if (!parameter.valid() || graph_.typeOf(graph_[parameter].firstResult).bytes() < leastTied) {
          continue;
        }
        OpId& first = firstReader_[parameter];
        if (!first.valid()) {
          first = op;
        } else if (first != op) {
          home_[op] = first;
          break;
        }
      }
      displaced_[op] = home_[op].valid();
    }
  }

  // Bytes of activations that cross each place of the order.
  std::vector<double> crossings(const std::vector<OpId>& line) const {
    std::vector<double> change(line.size() + 1, 0);
    SideTable<OpId, uint32_t> at(graph_.opCount(), std::numeric_limits<uint32_t>::max());
    for (uint32_t i = 0; i < line.size(); ++i) {
      at[line[i]] = i;
    }
    for (uint32_t i = 0; i < line.size(); ++i) {
      for (const ValueId result : graph_[line[i]].results()) {
        uint32_t last = i;
        for (const OpId reader : readers_[result]) {
          last = at[reader] < line.size() ? std::max(last, at[reader]) : last;
        }
        change[i + 1] += static_cast<double>(graph_.typeOf(result).bytes());
        change[std::min<size_t>(last + 1, line.size())] -= static_cast<double>(graph_.typeOf(result).bytes());
      }
    }
    for (size_t i = 1; i < change.size(); ++i) {
      change[i] += change[i - 1];
    }
    return change; // [i]: between op i - 1 and op i
  }

  // Where the fewest bytes cross, among the places near an equal share of the seconds; of equal bytes, the
  // nearest.
  size_t endOf(uint32_t stage, size_t begin, double share, const std::vector<double>& until,
               const std::vector<double>& crossing) const {
    std::optional<size_t> end;
    double distance = 0; // of `end`
    for (size_t i = begin; i < until.size(); ++i) {
      const double off = until[i] / share - (stage + 1);
      if (off > slack && end) {
        break;
      }
      if (off >= -slack &&
          (!end || std::pair(crossing[i + 1], std::abs(off)) < std::pair(crossing[*end], distance))) {
        end = i + 1;
        distance = std::abs(off);
      }
    }
    return end.value_or(until.size());
  }

  void cutForward() {
    std::vector<OpId> line;
    double sum = 0, away = 0; // seconds; of displaced ops, which their home's stage has beside its own
    for (const OpId op : order_) {
      sum += seconds_[op];
      if (displaced_[op]) {
        away += seconds_[op];
      } else {
        line.push_back(op);
      }
    }
    const std::vector<double> crossing = crossings(line);
    // Where the displaced ops alone take more than an equal share, the other stages divide the rest.
    const double equal = sum / count_;
    const double share = away > equal && count_ > 1 ? (sum - away) / (count_ - 1) : equal;
    // Most tied parameters are the first ones, tables of embeddings.
    double reached = std::min(away, share);
    std::vector<double> until; // seconds of stage 0 and on, up to op i
    for (const OpId op : line) {
      until.push_back(reached += seconds_[op]);
    }
    // Stage 0 has the homes near its beginning: else it would be taken for full before its first op.
    SideTable<OpId, bool> isHome(graph_.opCount());
    for (const OpId op : order_) {
      if (displaced_[op]) {
        isHome[home_[op]] = true;
      }
    }
    size_t begin = 0, homes = 0;
    for (size_t i = 0; i < line.size() && until[i] - until[0] < share; ++i) {
      homes = isHome[line[i]] ? i : homes;
    }
    for (uint32_t stage = 0; stage < count_; ++stage) {
      const size_t from = stage == 0 ? homes : begin;
      const size_t end = stage + 1 < count_ ? endOf(stage, from, share, until, crossing) : line.size();
      for (; begin < end; ++begin) {
        stage_[line[begin]] = stage;
      }
    }
    for (const OpId op : order_) {
      if (displaced_[op]) {
        stage_[op] = stage_[home_[op]];
      }
    }
  }

  // Parameters and what is made of them: where they are first read.
  void settleFixed() {
    for (uint32_t i = static_cast<uint32_t>(graph_.opCount()); i-- > 0;) {
      const OpId op(i);
      if (!fixed_[op]) {
        continue;
      }
      uint32_t least = std::numeric_limits<uint32_t>::max();
      for (const ValueId result : graph_[op].results()) {
        for (const OpId reader : readers_[result]) {
          if (forward_[reader]) {
            least = std::min(least, stage_[reader]);
          }
        }
      }
      stage_[op] = least == std::numeric_limits<uint32_t>::max() ? 0 : least;
    }
  }

  // The stage in which backward ops find a value: that of the forward ops that read it.
  uint32_t stageOfRead(ValueId value) const {
    const OpId producer = graph_[value].producer;
    uint32_t least = std::numeric_limits<uint32_t>::max();
    if (!fixed_[producer]) {
      for (const OpId reader : readers_[value]) {
        if (forward_[reader]) {
          least = std::min(least, stage_[reader]);
        }
      }
    }
    return least == std::numeric_limits<uint32_t>::max() ? stage_[producer] : least;
  }

  void settleOthers() {
    for (const OpId op : graph_.ops()) {
      if (forward_[op] || fixed_[op]) {
        continue;
      }
      uint32_t forward = std::numeric_limits<uint32_t>::max(), other = forward;
      for (const ValueId operand : graph_[op].operands) {
        const OpId producer = graph_[operand].producer;
        if (isScalar(operand) || (fixed_[producer] && !forward_[producer])) {
          continue;
        }
        uint32_t& least = forward_[producer] ? forward : other;
        least = std::min(least, forward_[producer] ? stageOfRead(operand) : stage_[producer]);
      }
      const uint32_t least = forward != std::numeric_limits<uint32_t>::max() ? forward : other;
      stage_[op] = least == std::numeric_limits<uint32_t>::max() ? 0 : least;
    }
    // Moments and the like, which no forward op reads, where they are read.
    for (uint32_t i = static_cast<uint32_t>(graph_.opCount()); i-- > 0;) {
      const OpId op(i);
      if (fixed_[op] && !forward_[op]) {
        for (const ValueId result : graph_[op].results()) {
          for (const OpId reader : readers_[result]) {
            stage_[op] = std::max(stage_[op], stage_[reader]);
          }
        }
      }
    }
    for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
      stage_[assign] = stage_[graph_[graph_[assign].operands[0]].producer];
    }
  }

  const Graph& graph_;
  uint32_t count_;
  SideTable<OpId, bool> forward_, fixed_, displaced_;
  SideTable<ValueId, std::vector<OpId>> readers_;
  SideTable<OpId, double> seconds_;
  SideTable<OpId, uint32_t> stage_;
  std::vector<OpId> order_;           // of forward ops that are not fixed
  SideTable<OpId, OpId> firstReader_; // of parameters
  SideTable<OpId, OpId> home_;        // whose stage a displaced op takes
};

} // namespace

SideTable<OpId, uint32_t> stagesOf(const Graph& graph, uint32_t count, const Machine& machine,
                                   const CostModel& cost, DeviceId device) {
  return StageFinder(graph, count, machine, cost, device).run();
}

} // namespace dfc
