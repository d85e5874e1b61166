// From ids and offsets to addresses and counts.
#include "runtime/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

class Resolver {
 public:
  Resolver(const Executable& plan, const SideTable<DeviceId, Arena*>& arenas, const ProgressBoard& board)
      : plan_(plan), graph_(plan.graph()), schedule_(plan.schedule()), arenas_(arenas), board_(board),
        feedOf_(graph_.valueCount(), none), fetchOf_(graph_.valueCount(), none),
        commands_(schedule_.queues.size()) {}

  ResolvedPlan run() {
    findFeeds();
    findDirectFetches();
    for (const QueueId queue : schedule_.queues.ids()) {
      for (const StepId step : schedule_.queues[queue].steps) {
        commands_[queue].push_back(commandOf(step));
      }
    }
    addFetches();
    addWaits();
    addRoundBarrier();
    for (const QueueId queue : schedule_.queues.ids()) {
      if (!commands_[queue].empty()) {
        resolved_.programs.push_back({queue, std::move(commands_[queue])});
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
        resolved_.feeds.push_back({std::string(graph_.nameOf(op)), graph_.typeOf(row.firstResult)});
      } else if (classOf(row.kind()) == OpClass::View) {
        feedOf_[row.firstResult] = feedOf_[row.operands[0]];
      }
    }
  }

  // Written straight into the caller's buffer: made by one op with one result, read by nobody, in memory of
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
      if (!read[value] && fetchOf_[value] == none && writesAnywhere(producer) &&
          arenas_[plan_.memory().slots[value].device]->hostAddress() != nullptr) {
        fetchOf_[value] = i;
      }
    }
  }

  bool writesAnywhere(OpId op) const {
    const OpClass kind = classOf(graph_[op].kind());
    return kind != OpClass::Source && kind != OpClass::State && kind != OpClass::View &&
           graph_[op].resultCount == 1;
  }

  Location locationOf(ValueId value) const {
    const Slot& slot = plan_.memory().slots[value];
    const int64_t bytes = graph_.typeOf(value).bytes();
    if (feedOf_[value] != none) {
      return {Location::Base::Feed, feedOf_[value], nullptr, 0, bytes};
    }
    if (fetchOf_[value] != none) {
      return {Location::Base::Fetch, fetchOf_[value], nullptr, 0, bytes};
    }
    DFC_ASSERT(arenas_[slot.device] != nullptr, fmt::format("no arena for {}", graph_.nameOf(value)));
    return {Location::Base::Arena, 0, arenas_[slot.device], slot.offset, bytes};
  }

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

  Command::Kind kindOf(const Command& command) const {
    switch (classOf(graph_[command.op].kind())) {
    case OpClass::Source: return Command::Kind::Nothing;
    case OpClass::State:
    case OpClass::View:
      return command.operands[0] == command.results[0] ? Command::Kind::Nothing : Command::Kind::Copy;
    case OpClass::Transfer: return Command::Kind::Transfer;
    case OpClass::Elementwise:
    case OpClass::Reduction:
    case OpClass::Contraction:
    case OpClass::Movement:
    case OpClass::Composite: return Command::Kind::Compute;
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

  void addFetches() {
    for (uint32_t i = 0; i < graph_.fetches().size(); ++i) {
      const Fetch& fetch = graph_.fetches()[i];
      const QueueId queue = queueNear(fetch.value);
      std::vector<Command>& commands = commands_[queue];
      size_t writer = 0;
      if (fetchOf_[fetch.value] == i) {
        writer = schedule_.steps[schedule_.stepOf[graph_[fetch.value].producer]].position;
      } else {
        writer = commands.size();
        commands.push_back(fetchCopy(fetch.value, i));
      }
      commands[writer].publishes = true;
      fetchWriters_.push_back({queue, writer});
      resolved_.fetches.push_back({std::string(graph_.text(fetch.name)), graph_.typeOf(fetch.value), {}});
    }
  }

  Command fetchCopy(ValueId value, uint32_t fetch) const {
    Command command;
    command.kind = Command::Kind::Copy;
    command.op = graph_[value].producer;
    command.operands.push_back(locationOf(value));
    command.results.push_back({Location::Base::Fetch, fetch, nullptr, 0, graph_.typeOf(value).bytes()});
    return command;
  }

  // The queue that makes the value; for a resident one the first of its device.
  QueueId queueNear(ValueId value) const {
    const StepId step = schedule_.stepOf[graph_[value].producer];
    if (step.valid()) {
      return schedule_.steps[step].queue;
    }
    for (const QueueId queue : schedule_.queues.ids()) {
      if (schedule_.queues[queue].device == plan_.memory().slots[value].device) {
        return queue;
      }
    }
    DFC_UNREACHABLE(fmt::format("{} is fetched from a device without a queue", graph_.nameOf(value)));
  }

  void addWaits() {
    for (const QueueId queue : schedule_.queues.ids()) {
      for (const StepId step : schedule_.queues[queue].steps) {
        for (const StepId wait : schedule_.steps[step].waits) {
          const StepRow& before = schedule_.steps[wait];
          commands_[before.queue][before.position].publishes = true;
          Command& command = commands_[queue][schedule_.steps[step].position];
          command.waits.push_back(waitFor(before.queue, before.position + 1));
        }
      }
    }
    for (size_t i = 0; i < fetchWriters_.size(); ++i) {
      resolved_.fetches[i].ready = waitFor(fetchWriters_[i].queue, fetchWriters_[i].position + 1);
    }
  }

  void addRoundBarrier() {
    SideTable<QueueId, bool> endIsWaitedFor(schedule_.queues.size());
    for (const StepRow& row : schedule_.steps) {
      for (const StepId wait : row.waits) {
        const StepRow& before = schedule_.steps[wait];
        endIsWaitedFor[before.queue] =
            endIsWaitedFor[before.queue] || before.position + 1 == commands_[before.queue].size();
      }
    }
    for (const QueueId queue : schedule_.queues.ids()) {
      if (commands_[queue].empty()) {
        continue;
      }
      commands_[queue].back().publishes = true;
      for (const QueueId other : schedule_.queues.ids()) {
        if (other != queue && !commands_[other].empty() && !endIsWaitedFor[other]) {
          commands_[queue].front().waits.push_back(waitFor(other, 0));
        }
      }
    }
  }

  WaitFor waitFor(QueueId queue, uint64_t offset) const {
    return {&board_[queue.index()], commands_[queue].size(), offset};
  }

  struct FetchWriter {
    QueueId queue;
    size_t position;
  };

  const Executable& plan_;
  const Graph& graph_;
  const Schedule& schedule_;
  const SideTable<DeviceId, Arena*>& arenas_;
  const ProgressBoard& board_;
  SideTable<ValueId, uint32_t> feedOf_;  // fed values and their views: the feed
  SideTable<ValueId, uint32_t> fetchOf_; // values that live in a fetch buffer only: the fetch
  SideTable<QueueId, std::vector<Command>> commands_;
  std::vector<FetchWriter> fetchWriters_; // by fetch
  ResolvedPlan resolved_;
};

} // namespace

ResolvedPlan resolve(const Executable& plan, const SideTable<DeviceId, Arena*>& arenas,
                     const ProgressBoard& board) {
  return Resolver(plan, arenas, board).run();
}

} // namespace dfc
