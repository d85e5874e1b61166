// A sealed plan to bytes. The same plan gives the same bytes: tables in the order of their ids, strings in
// the order of their first use, nothing of the machine or the moment.
#include "ir/base/atomic_file.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/file/executable_attributes.h"
#include "ir/plan/file/executable_format.h"
#include "ir/plan/file/executable_launches.h"

#include <algorithm>

namespace dfc {
namespace {

template <class T>
using Offset = flatbuffers::Offset<T>;
template <class T>
using OffsetVector = Offset<flatbuffers::Vector<T>>;

class PlanWriter {
 public:
  explicit PlanWriter(const Executable& executable)
      : executable_(executable), graph_(executable.graph()), schedule_(executable.schedule()) {}

  std::vector<std::byte> write() {
    const auto plan = writePlan();
    builder_.Finish(plan, file::PlanIdentifier());
    const auto* data = reinterpret_cast<const std::byte*>(builder_.GetBufferPointer());
    return wrapPlan({{data, builder_.GetSize()}, constants_});
  }

 private:
  Offset<file::Plan> writePlan() {
    const auto ops = each<file::Op>(graph_.ops(), [&](OpId op) { return writeOp(op); });
    const auto values = each<file::Value>(graph_.values(), [&](ValueId value) { return writeValue(value); });
    const auto fetches = writeFetches();
    const auto device = ids(executable_.placed().device);
    const auto transfers = writeTransfers();
    const auto replicas = writeReplicas();
    const auto orderings = writeOrderings();
    const auto queues =
        each<file::Queue>(schedule_.queues, [&](const QueueRow& row) { return writeQueue(row); });
    const auto steps = each<file::Step>(schedule_.steps, [&](const StepRow& row) { return writeStep(row); });
    const file::Bounds bounds(schedule_.bounds.criticalPath, schedule_.bounds.busiestQueue,
                              schedule_.bounds.busiestLink);
    const file::Steady steady(schedule_.steady.seconds, schedule_.steady.bound);
    const auto slots = writeSlots();
    const MemoryPlan& memory = executable_.memory();
    const auto arenaBytes = sizes(memory.arenaBytes);
    const auto residentBytes = sizes(memory.residentBytes);
    const auto lowerBound = sizes(memory.lowerBound);
    const auto launches = writeLaunchPlan(executable_.launches(), builder_, strings_);
    const auto name = builder_.CreateString(graph_.name());
    const auto policy = builder_.CreateString(executable_.policy());
    const auto machine = builder_.CreateString(printMachine(executable_.machine()));
    const auto strings = builder_.CreateVectorOfStrings(strings_.all());
    const std::vector<std::byte> preparation = executable_.preparation() != nullptr
                                                   ? executable_.preparation()->serialise()
                                                   : std::vector<std::byte>();
    constants_.insert(constants_.end(), preparation.begin(), preparation.end());
    return file::CreatePlan(builder_, name, policy, machine, strings, ops, values, fetches, device, transfers,
                            replicas, orderings, queues, steps, schedule_.makespan, &bounds, &steady, slots,
                            arenaBytes, residentBytes, lowerBound, launches, preparation.size());
  }

  /// A vector of tables, one for each of `rows`.
  template <class Table, class Rows, class Write>
  OffsetVector<Offset<Table>> each(const Rows& rows, const Write& write) {
    std::vector<Offset<Table>> written;
    written.reserve(rows.size());
    for (const auto& row : rows) {
      written.push_back(write(row));
    }
    return builder_.CreateVector(written);
  }

  /// Any list of ids as their numbers.
  template <class Ids>
  OffsetVector<uint32_t> numbers(const Ids& list) {
    std::vector<uint32_t> indices;
    for (const auto id : list) {
      indices.push_back(id.index());
    }
    return builder_.CreateVector(indices);
  }

  OffsetVector<uint32_t> ids(const SideTable<OpId, DeviceId>& table) {
    std::vector<DeviceId> list;
    list.reserve(table.size());
    for (const OpId op : table.ids()) {
      list.push_back(table[op]);
    }
    return numbers(list);
  }

  OffsetVector<int64_t> sizes(const SideTable<DeviceId, int64_t>& table) {
    std::vector<int64_t> list;
    for (const DeviceId device : table.ids()) {
      list.push_back(table[device]);
    }
    return builder_.CreateVector(list);
  }

  uint32_t string(std::string_view text) { return strings_.indexOf(text); }

  Offset<file::Op> writeOp(OpId op) {
    const OpRow& row = graph_[op];
    const auto attributes =
        builder_.CreateVector(writeAttributes(row.attributes, builder_, strings_, constants_));
    const auto operands = numbers(row.operands);
    return file::CreateOp(builder_, string(dfc::nameOf(row.kind())), operands, row.resultCount,
                          string(graph_.text(row.scope)), string(graph_.text(row.pin)),
                          string(graph_.text(row.file)), row.line, row.column, attributes);
  }

  Offset<file::Value> writeValue(ValueId value) {
    const TensorType& type = graph_.typeOf(value);
    const auto dims = builder_.CreateVector(type.shape.dims().data(), type.shape.rank());
    return file::CreateValue(builder_, string(graph_.nameOf(value)), string(dfc::name(type.element)), dims);
  }

  OffsetVector<const file::Fetch*> writeFetches() {
    std::vector<file::Fetch> list;
    for (const Fetch& fetch : graph_.fetches()) {
      list.emplace_back(string(graph_.text(fetch.name)), fetch.value.index());
    }
    return builder_.CreateVectorOfStructs(list);
  }

  OffsetVector<Offset<file::Transfer>> writeTransfers() {
    std::vector<OpId> ops;
    for (const auto& entry : executable_.placed().transfers) {
      ops.push_back(entry.first);
    }
    std::sort(ops.begin(), ops.end()); // the map has no order of its own
    return each<file::Transfer>(ops, [&](OpId op) {
      const TransferRow row = executable_.placed().transfers.lookup(op);
      const auto links = numbers(row.links);
      return file::CreateTransfer(builder_, op.index(), row.from.index(), row.to.index(), links, row.bytes);
    });
  }

  OffsetVector<const file::OpPair*> writeReplicas() {
    std::vector<std::pair<OpId, OpId>> pairs(executable_.placed().replicas.begin(),
                                             executable_.placed().replicas.end());
    std::sort(pairs.begin(), pairs.end());
    std::vector<file::OpPair> list;
    for (const auto& [replica, original] : pairs) {
      list.emplace_back(replica.index(), original.index());
    }
    return builder_.CreateVectorOfStructs(list);
  }

  OffsetVector<const file::OpPair*> writeOrderings() {
    std::vector<file::OpPair> list;
    list.reserve(executable_.placed().orderings.size());
    for (const Ordering& ordering : executable_.placed().orderings) {
      list.emplace_back(ordering.before.index(), ordering.after.index());
    }
    return builder_.CreateVectorOfStructs(list);
  }

  Offset<file::Queue> writeQueue(const QueueRow& row) {
    const auto steps = numbers(row.steps);
    return file::CreateQueue(builder_, row.device.index(), static_cast<uint8_t>(row.kind), row.index, steps);
  }

  Offset<file::Step> writeStep(const StepRow& row) {
    const auto waits = numbers(row.waits);
    return file::CreateStep(builder_, row.op.index(), row.queue.index(), row.position, waits, row.start,
                            row.end, row.utilisation, row.slowed);
  }

  OffsetVector<const file::Slot*> writeSlots() {
    std::vector<file::Slot> list;
    for (const ValueId value : graph_.values()) {
      const Slot& slot = executable_.memory().slots[value];
      list.emplace_back(slot.device.index(), slot.offset, slot.bytes);
    }
    return builder_.CreateVectorOfStructs(list);
  }

  const Executable& executable_;
  const Graph& graph_;
  const Schedule& schedule_;
  flatbuffers::FlatBufferBuilder builder_;
  FileStrings strings_;
  std::vector<std::byte> constants_;
};

} // namespace

std::vector<std::byte> Executable::serialise() const { return PlanWriter(*this).write(); }

Status Executable::save(const std::string& path) const { return writeFileAtomically(path, serialise()); }

} // namespace dfc
