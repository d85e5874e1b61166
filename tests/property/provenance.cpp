// Memory as intervals of bytes, each with an origin and the place in it.
#include "tests/property/provenance.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/in_place.h"
#include "runtime/resident.h"

#include <cstring>
#include <map>
#include <numeric>
#include <optional>

namespace dfc::test {
namespace {

using Name = uint64_t;

/// Finaliser of splitmix64 (Steele, Lea and Flood 2014) over both.
Name mix(Name a, Name b) {
  uint64_t z = a * 0x9e3779b97f4a7c15U + b + 0x632be59bd9b4e019U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

enum Kind : Name { Fed = 1, Repeated, Various, Computed };

/// Some bytes of one origin: where in it the first of them lies. Bytes that are alike everywhere in their
/// origin lie nowhere.
struct ByteRange {
  static constexpr int64_t anywhere = -1;
  int64_t bytes = 0;
  Name origin = 0; ///< 0: nobody wrote them
  int64_t place = anywhere;

  ByteRange part(int64_t from, int64_t count) const {
    return {count, origin, place == anywhere ? anywhere : place + from};
  }
  bool continues(const ByteRange& before) const {
    return origin == before.origin &&
           (place == anywhere ? before.place == anywhere : place == before.place + before.bytes);
  }
};
using ByteRanges = std::vector<ByteRange>;

Name nameOf(const ByteRanges& ranges) {
  Name name = 0;
  for (const ByteRange& range : ranges) {
    name = mix(mix(mix(name, range.origin), static_cast<Name>(range.place)), static_cast<Name>(range.bytes));
  }
  return name;
}

/// Equal contents have equal names, and eight bytes repeated are the same wherever one looks.
ByteRange contentsOf(const Literal& literal) {
  const auto bytes = literal.bytes();
  const auto count = static_cast<int64_t>(bytes.size());
  const bool repeats =
      count <= 8 ? count == 8 : std::memcmp(bytes.data(), bytes.data() + 8, bytes.size() - 8) == 0;
  const size_t named = repeats ? 8 : bytes.size();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), named);
  const Name name = std::hash<std::string_view>()(text);
  return repeats ? ByteRange{count, mix(Repeated, name), ByteRange::anywhere}
                 : ByteRange{count, mix(Various, name), 0};
}

class Bytes {
 public:
  ByteRanges read(int64_t begin, int64_t count) const {
    ByteRanges found;
    const int64_t end = begin + count;
    auto next = pieces_.upper_bound(begin);
    if (next != pieces_.begin() && endOf(std::prev(next)) > begin) {
      --next;
    }
    for (int64_t at = begin; at < end;) {
      const bool none = next == pieces_.end() || next->first >= end;
      if (none || next->first > at) {
        const int64_t stop = none ? end : next->first;
        append(found, {stop - at, 0, ByteRange::anywhere});
        at = stop;
      } else {
        const int64_t stop = std::min(end, endOf(next));
        append(found, next->second.part(at - next->first, stop - at));
        at = stop;
        ++next;
      }
    }
    return found;
  }

  void write(int64_t begin, const ByteRanges& ranges) {
    int64_t end = begin;
    for (const ByteRange& range : ranges) {
      end += range.bytes;
    }
    cutAt(begin);
    cutAt(end);
    pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
    for (const ByteRange& range : ranges) {
      if (range.bytes > 0) {
        pieces_[begin] = range;
      }
      begin += range.bytes;
    }
  }

 private:
  using Pieces = std::map<int64_t, ByteRange>; // by their first byte
  static int64_t endOf(Pieces::const_iterator piece) { return piece->first + piece->second.bytes; }

  static void append(ByteRanges& list, const ByteRange& next) {
    if (!list.empty() && next.continues(list.back())) {
      list.back().bytes += next.bytes;
    } else {
      list.push_back(next);
    }
  }

  void cutAt(int64_t place) {
    auto piece = pieces_.lower_bound(place);
    if (piece == pieces_.begin() || endOf(--piece) <= place) {
      return;
    }
    const int64_t before = place - piece->first, after = endOf(piece) - place;
    pieces_[place] = piece->second.part(before, after);
    piece->second.bytes = before;
  }

  Pieces pieces_;
};

/// Where a run of a result's elements lies in an operand.
struct Move {
  size_t operand = 0;
  int64_t from = 0, count = 0; ///< elements
};

bool mayMove(const Graph& graph, OpId op) {
  const OpClass kind = classOf(graph[op].kind());
  const bool reducesNothing =
      graph[op].kind() == OpKind::ReduceSum &&
      graph.operandTypesOf(op)[0].shape.elements() == graph.resultTypesOf(op)[0].shape.elements();
  return kind == OpClass::Movement || kind == OpClass::View || reducesNothing;
}

/// The op as moves of elements, when it is no more than a few: found out by running it on operands whose
/// elements say where they are.
std::optional<std::vector<Move>> movesOf(const Graph& graph, OpId op) {
  constexpr size_t few = 16;
  constexpr int64_t mostElements = int64_t{1} << 20;
  std::vector<Literal> places;
  for (const TensorType& type : graph.operandTypesOf(op)) {
    Literal literal({ElementType::I64, type.shape});
    const std::span<int64_t> data = literal.mutableData<int64_t>();
    std::iota(data.begin(), data.end(), static_cast<int64_t>(places.size()) * mostElements);
    places.push_back(std::move(literal));
  }
  std::vector<Move> moves;
  const Literal moved = evaluateOp(graph[op].attributes, places)[0];
  for (const int64_t place : moved.data<int64_t>()) {
    const Move next{static_cast<size_t>(place / mostElements), place % mostElements, 1};
    if (!moves.empty() && moves.back().operand == next.operand &&
        moves.back().from + moves.back().count == next.from) {
      ++moves.back().count;
    } else if (moves.size() == few) {
      return std::nullopt;
    } else {
      moves.push_back(next);
    }
  }
  return moves;
}

class Execution {
 public:
  Execution(const Executable& plan, const CommandOrder& commands) : plan_(plan), commands_(commands) {}

  void write(ValueId value, const Literal& literal) {
    const Slot& slot = plan_.memory().slots[value];
    arenas_[slot.device].write(slot.offset, {contentsOf(literal)});
  }

  void step(const Sequence& sequence, uint64_t number) {
    round_ = number;
    for (const CommandIndex index : sequence) {
      run(commands_.rows()[index].command);
    }
  }

  Name fetched(uint32_t fetch) const {
    const ValueId value = plan_.graph().fetches()[fetch].value;
    return nameOf(fetches_.at(fetch).read(0, plan_.graph().typeOf(value).bytes()));
  }
  bool torn() const { return torn_; }
  Name stateOf(ValueId value) {
    const Slot& slot = plan_.memory().slots[value];
    return nameOf(arenas_[slot.device].read(slot.offset, plan_.graph().typeOf(value).bytes()));
  }

 private:
  void run(const Command& command) {
    switch (command.kind) {
    case Command::Kind::Nothing: return;
    case Command::Kind::Copy:
    case Command::Kind::Transfer: write(command.results[0], read(command.operands[0])); return;
    case Command::Kind::Compute: compute(command); return;
    }
  }
  void compute(const Command& command) {
    torn_ = torn_ || tears(command);
    if (const auto& moves = movesOf(command.op)) {
      move(command, *moves);
      return;
    }
    Name name = mix(Computed, command.op.index());
    for (const Location& operand : command.operands) {
      name = mix(name, nameOf(read(operand)));
    }
    for (size_t i = 0; i < command.results.size(); ++i) {
      write(command.results[i], {{command.results[i].bytes, mix(name, i), 0}});
    }
  }
  void move(const Command& command, const std::vector<Move>& moves) {
    const Graph& graph = plan_.graph();
    const int64_t width = byteWidth(graph.resultTypesOf(command.op)[0].element);
    ByteRanges all;
    for (const Move& move : moves) {
      Location part = command.operands[move.operand];
      part.bytes = move.count * width;
      const ByteRanges piece = read(part, move.from * width);
      all.insert(all.end(), piece.begin(), piece.end());
    }
    write(command.results[0], all);
  }
  const std::optional<std::vector<Move>>& movesOf(OpId op) {
    const auto found = moves_.find(op);
    if (found != moves_.end()) {
      return found->second;
    }
    const Graph& graph = plan_.graph();
    return moves_[op] = mayMove(graph, op) ? test::movesOf(graph, op) : std::nullopt;
  }
  /// Whether it writes over what it reads without leave.
  bool tears(const Command& command) const {
    for (const Location& result : command.results) {
      for (size_t i = 0; i < command.operands.size(); ++i) {
        const Location& operand = command.operands[i];
        const bool overlap = result.base == Location::Base::Arena && operand.base == Location::Base::Arena &&
                             result.arena == operand.arena &&
                             result.offset < operand.offset + operand.bytes &&
                             operand.offset < result.offset + result.bytes;
        if (overlap && !(result == operand && mayRunInPlace(plan_.graph(), command.op, i))) {
          return true;
        }
      }
    }
    return false;
  }
  ByteRanges read(const Location& location, int64_t from = 0) {
    switch (location.base) {
    case Location::Base::Feed: return {{location.bytes, mix(mix(Fed, location.buffer), round_), from}};
    case Location::Base::Fetch: return fetches_[location.buffer].read(from, location.bytes);
    case Location::Base::Arena: break;
    }
    return arenas_[commands_.deviceOf(location.arena)].read(location.offset + from, location.bytes);
  }
  void write(const Location& location, const ByteRanges& ranges) {
    const bool fetch = location.base == Location::Base::Fetch;
    (fetch ? fetches_[location.buffer] : arenas_[commands_.deviceOf(location.arena)])
        .write(fetch ? 0 : location.offset, ranges);
  }

  const Executable& plan_;
  const CommandOrder& commands_;
  uint64_t round_ = 0;
  std::map<DeviceId, Bytes> arenas_;
  std::map<uint32_t, Bytes> fetches_;
  std::map<OpId, std::optional<std::vector<Move>>> moves_;
  bool torn_ = false;
};

} // namespace

std::vector<std::pair<ValueId, Literal>> initialWrites(const PlacedGraph& placed,
                                                       const NamedLiterals& state) {
  const auto residents = residentValues(placed, ".");
  DFC_ASSERT(residents.ok(), "parameters of these graphs are drawn");
  std::vector<std::pair<ValueId, Literal>> writes;
  for (const auto& entry : *residents) {
    writes.emplace_back(entry.first, entry.second);
  }
  for (const ParameterRow& row : parametersOf(placed)) {
    for (const ParameterPart& copy : row.copies) {
      const TensorType& own = placed.graph.typeOf(copy.value);
      writes.emplace_back(copy.value, valueOf(copy, own, state.at(row.name)));
    }
  }
  return writes;
}

Origins provenanceOf(const Executable& plan, const CommandOrder& commands, const Sequence& sequence,
                     const std::vector<std::pair<ValueId, Literal>>& initial, int steps) {
  Execution execution(plan, commands);
  for (const auto& [value, literal] : initial) {
    execution.write(value, literal);
  }
  std::vector<uint64_t> names;
  for (int step = 0; step < steps; ++step) {
    execution.step(sequence, static_cast<uint64_t>(step));
    for (uint32_t fetch = 0; fetch < commands.fetchCount(); ++fetch) {
      names.push_back(execution.fetched(fetch));
    }
  }
  for (const ParameterRow& row : parametersOf(plan.placed())) {
    for (const ParameterPart& part : row.parts) {
      names.push_back(execution.stateOf(part.value));
    }
  }
  return {names, execution.torn()};
}

} // namespace dfc::test
