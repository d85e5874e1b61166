// From ids and offsets to addresses and counts.
#include "runtime/resolve.h"

#include "ir/graph/whole_state.h"
#include "ir/plan/executable_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

class Resolver {
 public:
  Resolver(const Executable& plan, std::shared_ptr<const ArenaMaps> arenas, const ProgressBoard& board)
      : plan_(plan), graph_(plan.graph()), schedule_(plan.schedule()), arenas_(std::move(arenas)),
        board_(board), feedOf_(graph_.valueCount(), none), directFetch_(graph_.valueCount(), none),
        fetchesOf_(graph_.valueCount()), positions_(schedule_.steps.size()),
        commands_(schedule_.queues.size()) {}

  ResolvedPlan run() {
    findFeeds();
    findFetches();
    findDirectFetches();
    for (const QueueId queue : schedule_.queues.ids()) {
      for (const StepId step : schedule_.queues[queue].steps) {
        addStep(queue, step);
      }
    }
    addResidentFetches();
    addWaits();
    addStepBarrier();
    for (const QueueId queue : schedule_.queues.ids()) {
      if (!commands_[queue].empty()) {
        resolved_.programs.push_back({queue, std::move(commands_[queue]), 0, arenas_});
      }
    }
    return std::move(resolved_);
  }

 private:
  void findFeeds() {
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      if (row.kind() == OpKind::Input) {
        feedOf_[row.firstResult] = static_cast<uint32_t>(resolved_.feeds.size());
        resolved_.feeds.push_back(feedRow(op));
      } else if (classOf(row.kind()) == OpClass::View) {
        feedOf_[row.firstResult] = feedOf_[row.operands[0]];
      }
    }
  }

  FeedRow feedRow(OpId op) const {
    const TensorType& own = graph_.typeOf(graph_[op].firstResult);
    const TensorPart& place = placeOf(graph_, op);
    DFC_ASSERT(place.contiguous(own.shape) == own.shape.elements(), "an input whose bytes are not one piece");
    const int64_t first = own.shape.elements() == 0 ? 0 : place.indexInWhole(own.shape, 0);
    return {std::string(authorNameOf(graph_, op)), authorTypeOf(graph_, op), first * byteWidth(own.element)};
  }

  void findFetches() {
    for (uint32_t i = 0; i < graph_.fetches().size(); ++i) {
      const Fetch& fetch = graph_.fetches()[i];
      fetchesOf_[fetch.value].push_back(i);
      resolved_.fetches.push_back({std::string(graph_.text(fetch.name)), graph_.typeOf(fetch.value), {}});
    }
    fetchWriters_.resize(graph_.fetches().size());
  }

  // Written straight into the caller's buffer: made by an op that runs a kernel, read by no op, in memory of
  // the host.
  void findDirectFetches() {
    SideTable<ValueId, bool> read(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        read[operand] = true;
      }
    }
    for (uint32_t i = 0; i < graph_.fetches().size(); ++i) {
      const ValueId value = graph_.fetches()[i].value;
      const OpId producer = graph_[value].producer;
      if (!read[value] && directFetch_[value] == none && writesAnywhere(producer) &&
          placeIn(plan_.memory().slots[value]).arena->hostAddress() != nullptr) {
        directFetch_[value] = i;
      }
    }
  }

  bool writesAnywhere(OpId op) const {
    const OpClass kind = classOf(graph_[op].kind());
    return kind != OpClass::Source && kind != OpClass::State && kind != OpClass::View;
  }

  Location locationOf(ValueId value) const {
    const Slot& slot = plan_.memory().slots[value];
    const int64_t bytes = graph_.typeOf(value).bytes();
    if (feedOf_[value] != none) {
      return {Location::Base::Feed, feedOf_[value], nullptr, 0, bytes};
    }
    if (directFetch_[value] != none) {
      return {Location::Base::Fetch, directFetch_[value], nullptr, 0, bytes};
    }
    const ArenaMap::Place place = placeIn(slot);
    DFC_ASSERT(place.arena != nullptr, fmt::format("no arena for {}", graph_.nameOf(value)));
    return {Location::Base::Arena, 0, place.arena, place.offset, bytes};
  }

  ArenaMap::Place placeIn(const Slot& slot) const { return (*arenas_)[slot.device].at(slot.offset); }

  Command commandOf(StepId step) const {
    const OpId op = schedule_.steps[step].op;
    const OpRow& row = graph_[op];
    Command command;
    command.step = step;
    command.op = op;
    for (const ValueId operand : row.operands) {
      command.operands.push_back(locationOf(operand));
    }
    for (const ValueId result : row.results()) {
      command.results.push_back(locationOf(result));
    }
    if (row.kind() == OpKind::Assign) { // the parameter's old value is not read
      command.operands.erase(command.operands.begin());
    }
    command.kind = kindOf(command);
    checkDevices(command);
    return command;
  }

  // Whether the result of a view or an assign lies where it is to be.
  bool isInPlace(const Command& command) const {
    Location place = command.operands[0];
    place.offset += viewOffset(graph_, graph_[command.op]);
    place.bytes = graph_[command.op].kind() == OpKind::Subview ? command.results[0].bytes : place.bytes;
    return place == command.results[0];
  }

  Command::Kind kindOf(const Command& command) const {
    switch (classOf(graph_[command.op].kind())) {
    case OpClass::Source: return Command::Kind::Nothing;
    case OpClass::State:
    case OpClass::View: return isInPlace(command) ? Command::Kind::Nothing : Command::Kind::Copy;
    case OpClass::Transfer: return Command::Kind::Transfer;
    case OpClass::Elementwise:
    case OpClass::Reduction:
    case OpClass::Contraction:
    case OpClass::Movement:
    case OpClass::Structured:
    case OpClass::Custom: return Command::Kind::Compute;
    case OpClass::Request: break;
    }
    DFC_UNREACHABLE(fmt::format("{} in an executable", graph_.nameOf(command.op)));
  }

  void checkDevices(const Command& command) const {
    if (command.kind == Command::Kind::Transfer) {
      return;
    }
    const DeviceId device = plan_.placed().device[command.op];
    for (const ValueId operand : graph_[command.op].operands) {
      DFC_ASSERT(
          plan_.memory().slots[operand].device == device,
          fmt::format("{} reads {} on another device", graph_.nameOf(command.op), graph_.nameOf(operand)));
    }
  }

  // A fetched value is copied as soon as it is made, so that the caller may read it while the step goes on.
  void addStep(QueueId queue, StepId step) {
    positions_[step] = commands_[queue].size();
    commands_[queue].push_back(commandOf(step));
    for (const ValueId value : graph_[schedule_.steps[step].op].results()) {
      for (const uint32_t fetch : fetchesOf_[value]) {
        addFetch(queue, value, fetch);
      }
    }
  }

  void addResidentFetches() {
    for (uint32_t i = 0; i < graph_.fetches().size(); ++i) {
      const ValueId value = graph_.fetches()[i].value;
      if (!schedule_.stepOf[graph_[value].producer].valid()) {
        addFetch(firstQueueOf(plan_.memory().slots[value].device), value, i);
      }
    }
  }

  QueueId firstQueueOf(DeviceId device) const {
    for (const QueueId queue : schedule_.queues.ids()) {
      if (schedule_.queues[queue].device == device) {
        return queue;
      }
    }
    DFC_UNREACHABLE(fmt::format("a value is fetched from device {}, which has no queue", device.index()));
  }

  void addFetch(QueueId queue, ValueId value, uint32_t fetch) {
    if (directFetch_[value] != fetch) {
      commands_[queue].push_back(fetchCopy(value, fetch));
    }
    commands_[queue].back().publishes = true;
    fetchWriters_[fetch] = {queue, commands_[queue].size() - 1};
  }

  Command fetchCopy(ValueId value, uint32_t fetch) const {
    Command command;
    command.kind = Command::Kind::Copy;
    command.op = graph_[value].producer;
    command.operands.push_back(locationOf(value));
    command.results.push_back({Location::Base::Fetch, fetch, nullptr, 0, graph_.typeOf(value).bytes()});
    return command;
  }

  void addWaits() {
    for (const StepRow& step : schedule_.steps) {
      for (const StepId wait : step.waits) {
        const QueueId queue = schedule_.steps[wait].queue;
        commands_[queue][positions_[wait]].publishes = true;
        Command& command = commands_[step.queue][positions_[schedule_.stepOf[step.op]]];
        command.waits.push_back(waitFor(queue, positions_[wait] + 1));
      }
    }
    for (size_t i = 0; i < fetchWriters_.size(); ++i) {
      resolved_.fetches[i].ready = waitFor(fetchWriters_[i].queue, fetchWriters_[i].position + 1);
    }
  }

  void addStepBarrier() {
    SideTable<QueueId, bool> endIsWaitedFor(schedule_.queues.size());
    for (const StepRow& step : schedule_.steps) {
      for (const StepId wait : step.waits) {
        const QueueId queue = schedule_.steps[wait].queue;
        if (positions_[wait] + 1 == commands_[queue].size()) {
          endIsWaitedFor[queue] = true;
        }
      }
    }
    for (const QueueId queue : schedule_.queues.ids()) {
      if (!commands_[queue].empty()) {
        commands_[queue].back().publishes = true;
        addWaitsForEnds(queue, endIsWaitedFor);
      }
    }
  }

  void addWaitsForEnds(QueueId queue, const SideTable<QueueId, bool>& endIsWaitedFor) {
    for (const QueueId other : schedule_.queues.ids()) {
      if (other != queue && !commands_[other].empty() && !endIsWaitedFor[other]) {
        commands_[queue].front().waits.push_back(waitFor(other, 0));
      }
    }
  }

  WaitFor waitFor(QueueId queue, uint64_t offset) const {
    return {&board_[queue.index()], commands_[queue].size(), offset};
  }

  struct FetchWriter {
    QueueId queue;
    size_t position = 0;
  };

  const Executable& plan_;
  const Graph& graph_;
  const Schedule& schedule_;
  std::shared_ptr<const ArenaMaps> arenas_;
  const ProgressBoard& board_;
  SideTable<ValueId, uint32_t> feedOf_;      // fed values and their views: the feed
  SideTable<ValueId, uint32_t> directFetch_; // values that live in a fetch buffer only: the fetch
  SideTable<ValueId, llvm::SmallVector<uint32_t, 0>> fetchesOf_;
  SideTable<StepId, size_t> positions_; // in the commands of its queue
  SideTable<QueueId, std::vector<Command>> commands_;
  std::vector<FetchWriter> fetchWriters_; // by fetch
  ResolvedPlan resolved_;
};

} // namespace

ResolvedPlan resolve(const Executable& plan, std::shared_ptr<const ArenaMaps> arenas,
                     const ProgressBoard& board) {
  return Resolver(plan, std::move(arenas), board).run();
}

ResolvedPlan resolve(const Executable& plan, const SideTable<DeviceId, Arena*>& arenas,
                     const ProgressBoard& board) {
  auto maps = std::make_shared<ArenaMaps>(arenas.size());
  for (const DeviceId device : arenas.ids()) {
    (*maps)[device] = ArenaMap(arenas[device]);
  }
  return resolve(plan, std::move(maps), board);
}

} // namespace dfc
