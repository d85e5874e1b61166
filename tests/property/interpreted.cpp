// Arenas and buffers as plain bytes.
#include "tests/property/interpreted.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/plan/executable_parts.h"
#include "runtime/resident.h"

#include <algorithm>

namespace dfc::test {
namespace {

using Bytes = std::vector<std::byte>;

class Execution {
 public:
  Execution(const Executable& plan, const CommandOrder& commands)
      : plan_(plan), commands_(commands), fetches_(plan.graph().fetches().size()) {
    for (const DeviceId device : plan.machine().devices.ids()) {
      arenas_.emplace_back(static_cast<size_t>(plan.memory().arenaBytes[device]), std::byte{0xFF});
    }
    for (const OpId op : plan.graph().ops()) {
      if (plan.graph()[op].kind() == OpKind::Input) {
        inputs_.push_back(op);
      }
    }
    for (size_t i = 0; i < fetches_.size(); ++i) {
      const ValueId value = plan.graph().fetches()[i].value;
      fetches_[i].resize(static_cast<size_t>(plan.graph().typeOf(value).bytes()));
    }
  }

  void write(ValueId value, const Literal& literal) {
    std::copy(literal.bytes().begin(), literal.bytes().end(), placeOf(value));
  }
  void step(const Sequence& sequence, const NamedLiterals& feeds) {
    feeds_ = &feeds;
    for (const CommandIndex index : sequence) {
      run(commands_.rows()[index].command);
    }
  }
  Literal fetched(size_t fetch) const {
    Literal literal(plan_.graph().typeOf(plan_.graph().fetches()[fetch].value));
    std::copy(fetches_[fetch].begin(), fetches_[fetch].end(), literal.mutableBytes().begin());
    return literal;
  }
  Literal stateOf(const ParameterRow& row) {
    return joined(row, [&](ValueId value) {
      Literal literal(plan_.graph().typeOf(value));
      std::copy_n(placeOf(value), literal.type().bytes(), literal.mutableBytes().begin());
      return literal;
    });
  }

 private:
  Bytes::iterator placeOf(ValueId value) {
    const Slot& slot = plan_.memory().slots[value];
    return arenas_[slot.device.index()].begin() + slot.offset;
  }
  void run(const Command& command) {
    switch (command.kind) {
    case Command::Kind::Nothing: return;
    case Command::Kind::Copy:
    case Command::Kind::Transfer: write(command.results[0], read(command.operands[0])); return;
    case Command::Kind::Compute: compute(command); return;
    }
  }
  void compute(const Command& command) {
    const Graph& graph = plan_.graph();
    const auto types = graph.operandTypesOf(command.op);
    std::vector<Literal> operands;
    for (size_t i = 0; i < command.operands.size(); ++i) {
      const Bytes bytes = read(command.operands[i]);
      operands.emplace_back(types[i]);
      std::copy(bytes.begin(), bytes.end(), operands.back().mutableBytes().begin());
    }
    const auto results = evaluateOp(graph[command.op].attributes, operands);
    for (size_t i = 0; i < command.results.size(); ++i) {
      write(command.results[i], {results[i].bytes().begin(), results[i].bytes().end()});
    }
  }
  Bytes read(const Location& location) {
    const std::byte* from = nullptr;
    switch (location.base) {
    case Location::Base::Feed:
      from = feeds_->at(std::string(plan_.graph().nameOf(inputs_[location.buffer]))).bytes().data();
      break;
    case Location::Base::Fetch: from = fetches_[location.buffer].data(); break;
    case Location::Base::Arena:
      from = arenas_[commands_.deviceOf(location.arena).index()].data() + location.offset;
      break;
    }
    return {from, from + location.bytes};
  }
  void write(const Location& location, const Bytes& bytes) {
    std::byte* to = location.base == Location::Base::Fetch
                        ? fetches_[location.buffer].data()
                        : arenas_[commands_.deviceOf(location.arena).index()].data() + location.offset;
    std::copy(bytes.begin(), bytes.end(), to);
  }

  const Executable& plan_;
  const CommandOrder& commands_;
  const NamedLiterals* feeds_ = nullptr;
  std::vector<OpId> inputs_; // in the order of feeds
  std::vector<Bytes> arenas_, fetches_;
};

} // namespace

std::vector<Literal> interpreted(const Executable& plan, const CommandOrder& commands,
                                 const Sequence& sequence,
                                 const std::vector<std::pair<ValueId, Literal>>& initial,
                                 const std::vector<NamedLiterals>& steps) {
  Execution execution(plan, commands);
  for (const auto& [value, literal] : initial) {
    execution.write(value, literal);
  }
  std::vector<Literal> all;
  for (const NamedLiterals& feeds : steps) {
    execution.step(sequence, feeds);
    for (size_t fetch = 0; fetch < commands.fetchCount(); ++fetch) {
      all.push_back(execution.fetched(fetch));
    }
  }
  for (const ParameterRow& row : parametersOf(plan.placed())) {
    all.push_back(execution.stateOf(row));
  }
  return all;
}

} // namespace dfc::test
