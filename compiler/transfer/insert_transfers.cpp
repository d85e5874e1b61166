#include "compiler/transfer/insert_transfers.h"

#include "ir/machine/paths.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <map>
#include <set>
#include <tuple>

namespace dfc {
namespace {

/// A value on a device, as a key: a pair, as LLVM's hash of one 64-bit number looks at its low half only.
using Key = std::pair<uint32_t, uint32_t>;
Key keyOf(ValueId value, DeviceId device) { return {value.index(), device.index()}; }

class TransferInserter {
 public:
  TransferInserter(const Placement& placement, const Machine& machine, Replicas replicas)
      : placement_(placement), old_(placement.graph), machine_(machine), replicas_(replicas), paths_(machine),
        builder_(old_), keptCasts_(old_.opCount()), home_(old_.valueCount()) {}

  PlacedGraph run(Narrow narrow) {
    if (narrow == Narrow::Kept) {
      findKeptCasts();
    }
    findReplicaDevices();
    for (const OpId op : old_.ops()) {
      if (old_[op].kind() == OpKind::Assign) {
        forwardAssign(op);
      } else if (keptCasts_[op]) {
        addNarrowReplica(op);
      } else {
        copyWithLocalOperands(op);
      }
    }
    addFetches();
    addAssigns();
    Result<Graph> graph = std::move(builder_).finish();
    DFC_ASSERT(graph.ok(), "inserting transfers broke the graph: " + render(graph.errors()));
    placed_.graph = *std::move(graph);
    orderStateWrites(placed_);
    return std::move(placed_);
  }

 private:
  bool isResident(OpId op) const { return dfc::isResident(old_[op].kind()); }

  // A cast of a parameter of f32 to 16 bits becomes a parameter of its own: one for each parameter, type and
  // device. Not one whose value outlives the step: a fetch, or the next value of another parameter.
  void findKeptCasts() {
    SideTable<ValueId, bool> outlives(old_.valueCount());
    for (const Fetch& fetch : old_.fetches()) {
      outlives[fetch.value] = true;
    }
    for (const OpId op : old_.opsOf(OpKind::Assign)) {
      outlives[old_[op].operands[1]] = true;
    }
    std::set<std::tuple<ValueId, ElementType, DeviceId>> kept;
    for (const OpId op : old_.opsOf(OpKind::Cast)) {
      const ValueId from = old_[op].operands[0];
      const ElementType to = old_.typeOf(old_[op].firstResult).element;
      keptCasts_[op] = old_[old_[from].producer].kind() == OpKind::Parameter && isNarrowOf(from, to) &&
                       !outlives[old_[op].firstResult] &&
                       kept.emplace(from, to, placement_.device[op]).second;
    }
  }

  bool isNarrowOf(ValueId wide, ElementType element) const {
    return old_.typeOf(wide).element == ElementType::F32 && isFloat(element) && byteWidth(element) == 2;
  }

  /// The parameter in the type that `cast` gives it; it starts from the parameter's first value, rounded.
  ops::Parameter narrowParameter(OpId cast) const {
    auto parameter = old_[old_[old_[cast].operands[0]].producer].as<ops::Parameter>();
    parameter.type.element = old_.typeOf(old_[cast].firstResult).element;
    return parameter;
  }

  void addNarrowReplica(OpId cast) {
    const DeviceId device = placement_.device[cast];
    const OpId replica = append(narrowParameter(cast), {}, old_.provenanceOf(cast), device);
    const ValueId original = old_[cast].operands[0];
    home_[old_[cast].firstResult] = builder_.result(replica);
    placed_.replicas[replica] = builder_.soFar()[home_[original]].producer;
    narrowReplicas_[old_[original].producer].push_back(cast);
  }

  // All readers count, also readers behind the assign: they see the old value too, so their device needs a
  // replica.
  void findReplicaDevices() {
    assigned_ = SideTable<OpId, bool>(old_.opCount());
    for (const OpId op : old_.opsOf(OpKind::Assign)) {
      assignOf_[old_[old_[op].operands[0]].producer] = op;
    }
    for (const OpId op : old_.ops()) {
      const OpRow& row = old_[op];
      const bool assign = row.kind() == OpKind::Assign;
      if (keptCasts_[op]) {
        continue;
      }
      for (const ValueId operand : row.operands) {
        noteReader(operand, placement_.device[op]);
      }
      if (assign) {
        assigned_[old_[row.operands[0]].producer] = true;
      }
    }
    for (const Fetch& fetch : old_.fetches()) {
      noteResidentReader(old_[fetch.value].producer, machine_.host());
    }
  }

  void noteReader(ValueId value, DeviceId device) {
    while (old_[old_[value].producer].kind() == OpKind::Assign) {
      value = old_[old_[value].producer].operands[1];
    }
    const OpId producer = old_[value].producer;
    noteResidentReader(producer, device);
    if (isRecomputedOn(producer, device) && recomputedOn_.insert({producer, device}).second) {
      for (const ValueId operand : old_[producer].operands) {
        noteReader(operand, device);
      }
    }
  }

  // The device of a new replica computes its next value anew if it may.
  void noteResidentReader(OpId producer, DeviceId device) {
    const bool isKept = old_[producer].kind() != OpKind::Parameter ||
                        (replicas_ == Replicas::Kept && !placement_.isStreamed(producer));
    if (!isKept || !isResident(producer) || device == placement_.device[producer] ||
        !replicaDevices_[producer].insert(device).second) {
      return;
    }
    const auto assign = assignOf_.find(producer);
    if (assign != assignOf_.end()) {
      const ValueId next = old_[assign->second].operands[1];
      if (isRecomputedOn(old_[next].producer, device)) {
        noteReader(next, device);
      }
    }
  }

  bool isRecomputedOn(OpId op, DeviceId device) const {
    const DeviceId home = placement_.device[op];
    const DeviceRow &here = machine_.devices[device], &there = machine_.devices[home];
    // Devices of one model give the same bits; devices whose model is not stated have to be alike.
    const bool same =
        here.model.empty() ? alike(here, there) : here.kind == there.kind && here.model == there.model;
    return !placement_.recomputed.empty() && placement_.recomputed[op] && !keptCasts_[op] && device != home &&
           same;
  }

  /// A map, because few ops are resident and few resident ops have readers on other devices.
  const std::set<DeviceId>& replicaDevicesOf(OpId op) const {
    static const std::set<DeviceId> none;
    const auto found = isResident(op) ? replicaDevices_.find(op) : replicaDevices_.end();
    return found == replicaDevices_.end() ? none : found->second;
  }

  void copyWithLocalOperands(OpId op) {
    const DeviceId device = placement_.device[op];
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : old_[op].operands) {
      operands.push_back(valueOn(operand, device));
    }
    const OpId made = append(old_[op].attributes, operands, old_.provenanceOf(op), device);
    for (uint32_t i = 0; i < old_[op].resultCount; ++i) {
      const ValueId result(old_[op].firstResult.index() + i);
      home_[result] = builder_.result(made, i);
      if (i > 0) {
        builder_.rename(builder_.result(made, i), old_[result].name);
      }
    }
    for (const DeviceId other : replicaDevicesOf(op)) {
      addReplica(op, made, other);
    }
  }

  void addReplica(OpId op, OpId original, DeviceId device) {
    InternedProvenance provenance = old_.provenanceOf(op);
    provenance.name = nameOn(old_[op].firstResult, device);
    const OpId replica = append(old_[op].attributes, {}, provenance, device);
    local_[keyOf(old_[op].firstResult, device)] = builder_.result(replica);
    if (old_[op].kind() == OpKind::Parameter) {
      placed_.replicas[replica] = original;
    }
  }

  // The result of an assign is its value: a reader waits for the value, not for the write of the parameter.
  void forwardAssign(OpId op) { forwarded_[old_[op].firstResult] = resolve(old_[op].operands[1]); }

  ValueId resolve(ValueId value) const {
    if (forwarded_.empty()) {
      return value;
    }
    const auto found = forwarded_.find(value);
    return found == forwarded_.end() ? value : found->second;
  }

  /// The value on `device`: as made there, as copied there before, or by a new chain of transfers.
  ValueId valueOn(ValueId oldValue, DeviceId device) {
    const ValueId value = resolve(oldValue);
    const DeviceId from = placement_.device[old_[value].producer];
    if (from == device) {
      return home_[value];
    }
    const auto found = local_.find(keyOf(value, device));
    if (found != local_.end()) {
      return found->second;
    }
    if (recomputedOn_.count({old_[value].producer, device}) != 0) {
      recompute(old_[value].producer, device);
      return local_[keyOf(value, device)];
    }
    ValueId here = home_[value];
    for (const Route& hop : pathOf(from, device, old_.typeOf(value).bytes())) {
      ValueId& next = local_[keyOf(value, hop.to)];
      if (!next.valid()) {
        next = addTransfer(value, here, hop);
      }
      here = next;
    }
    return here;
  }

  void recompute(OpId op, DeviceId device) {
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : old_[op].operands) {
      operands.push_back(valueOn(operand, device));
    }
    InternedProvenance provenance = old_.provenanceOf(op);
    provenance.name = nameOn(old_[op].firstResult, device);
    provenance.pin = builder_.intern("");
    const OpId made = append(old_[op].attributes, operands, provenance, device);
    for (uint32_t i = 0; i < old_[op].resultCount; ++i) {
      local_[keyOf(ValueId(old_[op].firstResult.index() + i), device)] = builder_.result(made, i);
    }
  }

  ValueId addTransfer(ValueId oldValue, ValueId source, const Route& hop) {
    const OpId producer = old_[oldValue].producer;
    InternedProvenance provenance = old_.provenanceOf(producer);
    provenance.name = nameOn(oldValue, hop.to);
    provenance.scope = builder_.intern("");
    const OpId transfer = append(ops::Transfer{}, {source}, provenance, hop.to);
    placed_.transfers[transfer] = {hop.from, hop.to, hop.links, old_.typeOf(oldValue).bytes()};
    return builder_.result(transfer);
  }

  // A fetched value is read when the step has ended. An old value that the step overwrites is therefore
  // copied aside first.
  void addFetches() {
    for (const Fetch& fetch : old_.fetches()) {
      ValueId value = valueOn(fetch.value, machine_.host());
      if (readsAssignedState(fetch.value)) {
        value = setAside(value, machine_.host());
      }
      builder_.fetch(old_.text(fetch.name), value);
    }
  }

  bool readsAssignedState(ValueId value) const {
    value = resolve(value);
    OpId producer = old_[value].producer;
    while (classOf(old_[producer].kind()) == OpClass::View) {
      producer = old_[resolve(old_[producer].operands[0])].producer;
    }
    return assigned_[producer];
  }

  ValueId setAside(ValueId value, DeviceId device) {
    const TensorType type = builder_.soFar().typeOf(value);
    ops::Broadcast copy;
    copy.shape.assign(type.shape.dims().begin(), type.shape.dims().end());
    const StringId none = builder_.intern("");
    const InternedProvenance provenance{
        builder_.intern(fmt::format("{}.old", builder_.soFar().nameOf(value))), none, none, none};
    return builder_.result(append(std::move(copy), {value}, provenance, device));
  }

  /// An assign of one copy of a parameter: the original's or a replica's.
  struct PendingAssign {
    OpId old;
    ValueId target, value; // new ids
    DeviceId device;
    bool narrow = false; // of a replica of 16 bits
  };

  // The next value is cast on the device of the assign, and transferred in 16 bits.
  void addNarrowAssigns(OpId assign, std::vector<PendingAssign>& pending) {
    const auto found = narrowReplicas_.find(old_[old_[assign].operands[0]].producer);
    if (found == narrowReplicas_.end()) {
      return;
    }
    const DeviceId home = placement_.device[assign];
    const ValueId next = llvm::find_if(pending, [&](const PendingAssign& row) {
                           return row.old == assign && row.device == home;
                         })->value;
    for (const OpId cast : found->second) {
      InternedProvenance provenance = old_.provenanceOf(assign);
      provenance.name = builder_.intern(fmt::format("{}.rounded", old_.nameOf(old_[cast].firstResult)));
      ValueId value = builder_.result(append(old_[cast].attributes, {next}, provenance, home));
      value = movedTo(placement_.device[cast], home, value, old_[cast].firstResult);
      pending.push_back({assign, home_[old_[cast].firstResult], value, placement_.device[cast], true});
    }
  }

  const std::vector<Route>& pathOf(DeviceId from, DeviceId to, int64_t bytes) {
    const auto [found, isNew] = pathOf_.try_emplace({from.index(), to.index(), bytes});
    if (isNew) {
      auto path = paths_.path(from, to, bytes);
      DFC_ASSERT(path.has_value(), "no route between two devices of a verified machine");
      found->second = *std::move(path);
    }
    return found->second;
  }

  /// `value` on device `to`, by transfers of its own; `like`: an old value of its type, for their names.
  ValueId movedTo(DeviceId to, DeviceId from, ValueId value, ValueId like) {
    if (from != to) {
      for (const Route& hop : pathOf(from, to, old_.typeOf(like).bytes())) {
        value = addTransfer(like, value, hop);
      }
    }
    return value;
  }

  // All values first, then all assigns: a value may be another parameter's old one (p <- q and q <- p in one
  // step).
  void addAssigns() {
    std::vector<PendingAssign> pending;
    for (const OpId op : old_.opsOf(OpKind::Assign)) {
      pending.push_back(valueToAssign(op, placement_.device[op]));
      for (const DeviceId device : replicaDevicesOf(old_[old_[op].operands[0]].producer)) {
        pending.push_back(valueToAssign(op, device));
      }
      addNarrowAssigns(op, pending);
    }
    for (const PendingAssign& assign : pending) {
      InternedProvenance provenance = old_.provenanceOf(assign.old);
      if (assign.narrow) {
        provenance.name = builder_.intern(fmt::format("{}.next", builder_.soFar().nameOf(assign.target)));
      } else if (assign.device != placement_.device[assign.old]) {
        provenance.name = nameOn(old_[assign.old].firstResult, assign.device);
      }
      append(ops::Assign{}, {assign.target, assign.value}, provenance, assign.device);
    }
  }

  PendingAssign valueToAssign(OpId op, DeviceId device) {
    const OpRow& row = old_[op];
    ValueId value = valueOn(row.operands[1], device);
    if (readsAssignedState(row.operands[1])) {
      value = setAside(value, device);
    }
    return {op, valueOn(row.operands[0], device), value, device};
  }

  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, const InternedProvenance& provenance,
              DeviceId device) {
    const OpId op = builder_.appendInterned(std::move(attributes), operands, provenance);
    DFC_ASSERT(op.valid(), "a placed op is ill-typed: " + render(builder_.errors()));
    placed_.device.resize(op.index() + 1);
    placed_.device[op] = device;
    return op;
  }

  StringId nameOn(ValueId value, DeviceId device) {
    return builder_.intern(fmt::format("{}@{}", old_.nameOf(value), machine_.devices[device].name));
  }

  const Placement& placement_;
  const Graph& old_;
  const Machine& machine_;
  Replicas replicas_;
  const Paths paths_;
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, std::vector<Route>> pathOf_; // by devices and bytes
  GraphBuilder builder_;
  PlacedGraph placed_;
  std::map<OpId, std::set<DeviceId>>
      replicaDevices_; // in device order, so that plans are the same everywhere
  SideTable<OpId, bool> assigned_;
  std::map<OpId, OpId> assignOf_; // by parameter
  std::set<std::pair<OpId, DeviceId>> recomputedOn_;
  SideTable<OpId, bool> keptCasts_;
  std::map<OpId, std::vector<OpId>> narrowReplicas_; // by parameter: the casts that became replicas
  SideTable<ValueId, ValueId> home_;                 // old value -> new value on the device that makes it
  llvm::DenseMap<Key, ValueId> local_;               // (old value, other device) -> new value there
  llvm::DenseMap<ValueId, ValueId> forwarded_;       // result of an assign -> its value
};

} // namespace

Diagnostics refusePlanOps(const Graph& graph) {
  Diagnostics errors;
  for (const OpId op : graph.opsOf(OpKind::Transfer)) {
    errors.push_back({Severity::Error, graph.locationOf(op),
                      fmt::format("op '{}' is a transfer, which only dfc makes", graph.nameOf(op)),
                      fmt::format("use '{}' itself: dfc copies it to every device that reads it",
                                  graph.nameOf(graph[op].operands[0]))});
  }
  for (const OpId op : graph.opsOf(OpKind::Subview)) {
    errors.push_back({Severity::Error, graph.locationOf(op),
                      fmt::format("op '{}' is a subview, which only dfc makes", graph.nameOf(op)),
                      "use slice: dfc copies nothing where its elements lie together"});
  }
  return errors;
}

bool hasNarrowReplicas(const PlacedGraph& placed) {
  const Graph& graph = placed.graph;
  return llvm::any_of(placed.replicas, [&](const auto& pair) {
    return graph.typeOf(graph[pair.first].firstResult) != graph.typeOf(graph[pair.second].firstResult);
  });
}

PlacedGraph insertTransfers(const Placement& placement, const Machine& machine, Narrow narrow,
                            Replicas replicas) {
  return TransferInserter(placement, machine, replicas).run(narrow);
}

} // namespace dfc
