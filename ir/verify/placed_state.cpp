// The rules of state in a placed graph: replicas follow their originals, orderings close no cycle, and every
// reader of a parameter's old value is ordered before the op that overwrites it.
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>

#include <algorithm>
#include <set>

namespace dfc {
namespace {

class StateVerifier {
 public:
  StateVerifier(const PlacedGraph& placed, const Machine& machine, Findings& findings)
      : placed_(placed), graph_(placed.graph), machine_(machine), findings_(findings) {}

  void run() {
    checkReplicas();
    if (checkOrderings() && sortOps()) {
      checkOldReaders();
    }
  }

 private:
  std::string name(OpId op) const { return std::string(graph_.nameOf(op)); }
  OpId producer(ValueId value) const { return graph_[value].producer; }

  void checkReplicas() {
    std::vector<std::pair<OpId, OpId>> pairs(placed_.replicas.begin(), placed_.replicas.end());
    std::sort(pairs.begin(), pairs.end());
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      assignOf_[producer(graph_[op].operands[0])] = op;
    }
    for (const auto& [replica, original] : pairs) {
      if (isParameter(replica) && isParameter(original)) {
        checkReplica(replica, original);
      } else {
        findings_.add(
            fmt::format("replica {} of {}: both must be parameters", replica.index(), original.index()));
      }
    }
    checkMissingReplicas();
  }

  /// A parameter that was written where another was, starts as that, and is called 'NAME@DEVICE' after it and
  /// its own device is its replica: without a row, a checkpoint would set the one and not the other.
  void checkMissingReplicas() {
    for (const OpId op : graph_.opsOf(OpKind::Parameter)) {
      const std::string_view called = graph_.nameOf(op);
      const std::string device = fmt::format("@{}", machine_.devices[placed_.device[op]].name);
      const size_t at = called.rfind(device);
      if (at == std::string_view::npos || graph_[op].line == 0 || placed_.replicas.count(op) != 0) {
        continue;
      }
      const ValueId original = graph_.findValue(called.substr(0, at));
      if (original.valid() && isParameter(producer(original)) && producer(original) != op &&
          graph_.locationOf(producer(original)) == graph_.locationOf(op) &&
          sameAttributes(graph_[producer(original)].attributes, graph_[op].attributes)) {
        findings_.at(op, fmt::format("parameter '{}' is a copy of '{}', but no replica of it", called,
                                     graph_.nameOf(original)));
      }
    }
  }

  bool isParameter(OpId op) const {
    return op.valid() && op.index() < graph_.opCount() && graph_[op].kind() == OpKind::Parameter;
  }

  void checkReplica(OpId replica, OpId original) {
    const std::string who = fmt::format("parameter '{}', the replica of '{}'", name(replica), name(original));
    if (placed_.replicas.count(original)) {
      findings_.at(replica, fmt::format("{}: the original is itself a replica", who));
    }
    const auto& copied = graph_[original].attributes.as<ops::Parameter>();
    auto copy = graph_[replica].attributes.as<ops::Parameter>();
    const ElementType element = copy.type.element;
    const bool narrow =
        copied.type.element == ElementType::F32 && isFloat(element) && byteWidth(element) == 2;
    copy.type.element = narrow ? ElementType::F32 : element;
    if (!sameAttributes(copy, graph_[original].attributes)) {
      findings_.at(replica, fmt::format("{}, starts from another value", who));
    }
    const bool besideIt = placed_.device[replica] == placed_.device[original] && !narrow;
    const bool twice =
        besideIt || !replicaPlaces_.insert({original, {placed_.device[replica], element}}).second;
    if (twice) {
      findings_.at(replica, fmt::format("{}, is not the only copy on {}", who,
                                        deviceText(machine_, placed_.device[replica])));
    }
    checkRefresh(who, replica, original);
  }

  /// A replica is assigned its original's next value, through transfers, and one of 16 bits the cast of it.
  void checkRefresh(const std::string& who, OpId replica, OpId original) {
    const OpId refresh = assignOf_.lookup(replica);
    const OpId update = assignOf_.lookup(original);
    const bool assigned = assignOf_.count(original) != 0;
    if (assigned != (assignOf_.count(replica) != 0)) {
      findings_.at(replica, fmt::format("{}, is {}", who,
                                        assigned ? "not assigned when the original is"
                                                 : "assigned although the original is not"));
      return;
    }
    if (!assigned) {
      return;
    }
    ValueId taken = graph_[refresh].operands[1];
    const OpRow& cast = graph_[producer(beforeTransfers(taken))];
    if (graph_.typeOf(taken) != graph_.typeOf(graph_[update].operands[1]) && cast.kind() == OpKind::Cast) {
      taken = cast.operands[0];
    }
    if (!sameContents(taken, graph_[update].operands[1]) &&
        beforeTransfers(taken) != graph_[update].firstResult) {
      findings_.at(refresh, fmt::format("{}, takes '{}' instead of the original's next value", who,
                                        graph_.nameOf(beforeTransfers(taken))));
    }
  }

  /// Whether two values are equal by construction: connected by transfers, copies of one resident value (a
  /// constant on both devices, a parameter and its replica), or results of the same op of such values.
  bool sameContents(ValueId a, ValueId b) const {
    constexpr int mostCompared = 64;
    int left = mostCompared;
    return sameContents(a, b, left);
  }

  bool sameContents(ValueId a, ValueId b, int& budget) const {
    a = beforeTransfers(a);
    b = beforeTransfers(b);
    if (a == b) {
      return true;
    }
    const OpRow& left = graph_[producer(a)];
    const OpRow& right = graph_[producer(b)];
    if (left.kind() != right.kind() || left.kind() == OpKind::Input || --budget < 0) {
      return false;
    }
    if (left.kind() == OpKind::Parameter) {
      return originalOf(producer(a)) == originalOf(producer(b));
    }
    const bool alike = sameAttributes(left.attributes, right.attributes) &&
                       left.operands.size() == right.operands.size() &&
                       a.index() - left.firstResult.index() == b.index() - right.firstResult.index();
    return alike && std::equal(left.operands.begin(), left.operands.end(), right.operands.begin(),
                               [&](ValueId x, ValueId y) { return sameContents(x, y, budget); });
  }

  OpId originalOf(OpId parameter) const {
    const auto found = placed_.replicas.find(parameter);
    return found == placed_.replicas.end() ? parameter : found->second;
  }

  ValueId beforeTransfers(ValueId value) const {
    while (graph_[producer(value)].kind() == OpKind::Transfer) {
      value = graph_[producer(value)].operands[0];
    }
    return value;
  }

  bool checkOrderings() {
    const size_t opCount = graph_.opCount();
    bool sound = true;
    for (const Ordering& ordering : placed_.orderings) {
      if (ordering.before.index() >= opCount || ordering.after.index() >= opCount) {
        findings_.add("an ordering names an op that does not exist");
        sound = false;
      } else if (placed_.isResident(ordering.before) || placed_.isResident(ordering.after)) {
        findings_.at(ordering.after, fmt::format("ordering of '{}' before '{}': one of them has no step",
                                                 name(ordering.before), name(ordering.after)));
        sound = false;
      }
    }
    return sound;
  }

  /// Kahn's topological sort over values and orderings; false, with an error, on a cycle.
  bool sortOps() {
    successors_.resize(graph_.opCount());
    SideTable<OpId, uint32_t> missing(graph_.opCount(), 0);
    const auto edge = [&](OpId before, OpId after) {
      successors_[before].push_back(after);
      ++missing[after];
    };
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        edge(producer(operand), op);
      }
    }
    for (const Ordering& ordering : placed_.orderings) {
      edge(ordering.before, ordering.after);
    }
    for (const OpId op : graph_.ops()) {
      if (missing[op] == 0) {
        order_.push_back(op);
      }
    }
    for (size_t i = 0; i < order_.size(); ++i) {
      for (const OpId next : successors_[order_[i]]) {
        if (--missing[next] == 0) {
          order_.push_back(next);
        }
      }
    }
    if (order_.size() < graph_.opCount()) {
      reportCycle(missing);
      return false;
    }
    return true;
  }

  void reportCycle(const SideTable<OpId, uint32_t>& missing) {
    for (const Ordering& ordering : placed_.orderings) {
      if (missing[ordering.before] != 0 && missing[ordering.after] != 0) {
        findings_.at(ordering.after,
                     fmt::format("the ordering of '{}' before '{}' closes or continues a cycle",
                                 name(ordering.before), name(ordering.after)),
                     "these ops wait for one another and would never start");
      }
    }
  }

  /// Every reader of a parameter's storage must precede its assign by some path. Readers without an ordering
  /// of their own are answered 64 assigns at a time by one backward sweep of bit masks.
  void checkOldReaders() {
    if (assignOf_.empty()) {
      return;
    }
    const Readers readers(graph_);
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      collectOldReaders(op, readers);
    }
    std::vector<uint64_t> precedes(graph_.opCount());
    for (size_t first = 0; first < pending_.size(); first += 64) {
      const size_t count = std::min<size_t>(64, pending_.size() - first);
      sweep(first, count, precedes);
      for (size_t i = 0; i < count; ++i) {
        reportUnordered(pending_[first + i], precedes, uint64_t{1} << i);
      }
    }
  }

  struct Pending {
    OpId assign;
    std::vector<OpId> readers;
  };

  void collectOldReaders(OpId assign, const Readers& readers) {
    Pending pending{assign, {}};
    for (const OpId reader : readers.ofStorage(graph_, graph_[assign].operands[0])) {
      const auto& next = successors_[reader];
      if (reader != assign && std::find(next.begin(), next.end(), assign) == next.end()) {
        pending.readers.push_back(reader);
      }
    }
    if (!pending.readers.empty()) {
      pending_.push_back(std::move(pending));
    }
  }

  void sweep(size_t first, size_t count, std::vector<uint64_t>& precedes) const {
    std::fill(precedes.begin(), precedes.end(), 0);
    for (size_t i = 0; i < count; ++i) {
      precedes[pending_[first + i].assign.index()] |= uint64_t{1} << i;
    }
    for (size_t i = order_.size(); i-- > 0;) {
      for (const OpId next : successors_[order_[i]]) {
        precedes[order_[i].index()] |= precedes[next.index()];
      }
    }
  }

  void reportUnordered(const Pending& pending, const std::vector<uint64_t>& precedes, uint64_t bit) {
    for (const OpId reader : pending.readers) {
      if ((precedes[reader.index()] & bit) == 0) {
        findings_.at(reader,
                     fmt::format("op '{}' reads the old value of '{}', but nothing orders it before '{}'",
                                 name(reader), graph_.nameOf(graph_[pending.assign].operands[0]),
                                 name(pending.assign)),
                     "an ordering of the two is missing");
      }
    }
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  Findings& findings_;
  llvm::DenseMap<OpId, OpId> assignOf_; // parameter op -> its assign
  std::set<std::pair<OpId, std::pair<DeviceId, ElementType>>> replicaPlaces_;
  SideTable<OpId, llvm::SmallVector<OpId, 2>> successors_;
  std::vector<OpId> order_;
  std::vector<Pending> pending_;
};

} // namespace

void checkPlacedState(const PlacedGraph& placed, const Machine& machine, Findings& findings) {
  StateVerifier(placed, machine, findings).run();
}

} // namespace dfc
