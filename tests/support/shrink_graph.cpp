#include "tests/support/shrink_graph.h"

#include "ir/base/assert.h"
#include "ir/graph/graph.h"

#include <algorithm>

namespace dfc::test {
namespace {

/// What became of a part of the graph, of ops by their index and then of fetches. The results of an op that
/// is out are inputs, where somebody reads them; what a raised one read is fetched in its place.
enum class Part : uint8_t { Kept, Raised, Out };
using Parts = std::vector<Part>;

class Cutter {
 public:
  Cutter(const Graph& old, const Parts& parts)
      : old_(old), parts_(parts), builder_(old), read_(old.valueCount()), raised_(old.valueCount()),
        made_(old.valueCount()) {}

  Graph run() {
    findRead();
    for (const OpId op : old_.ops()) {
      if (parts_[op.index()] == Part::Raised) {
        fetchOperands(op);
      }
      if (!isRead(op)) {
        continue;
      }
      if (isKept(op)) {
        copy(op);
      } else {
        putInputs(op);
      }
    }
    for (size_t i = 0; i < old_.fetches().size(); ++i) {
      if (isFetched(i)) {
        builder_.fetch(old_.text(old_.fetches()[i].name), made_[old_.fetches()[i].value]);
      }
    }
    auto graph = std::move(builder_).finish();
    DFC_ASSERT(graph.ok(), "a part of a graph is a graph: " + render(graph.errors()));
    return *std::move(graph);
  }

 private:
  bool isFetched(size_t fetch) const { return parts_[old_.opCount() + fetch] == Part::Kept; }
  bool isKept(OpId op) const { return parts_[op.index()] == Part::Kept; }
  bool isRead(OpId op) const {
    const auto results = old_[op].results();
    return (old_[op].kind() == OpKind::Assign && isKept(op)) ||
           std::any_of(results.begin(), results.end(), [&](ValueId value) { return read_[value]; });
  }

  void findRead() {
    for (size_t i = 0; i < old_.fetches().size(); ++i) {
      read_[old_.fetches()[i].value] = read_[old_.fetches()[i].value] || isFetched(i);
    }
    for (auto index = static_cast<uint32_t>(old_.opCount()); index-- > 0;) {
      if (parts_[index] == Part::Raised || (isRead(OpId(index)) && isKept(OpId(index)))) {
        for (const ValueId operand : old_[OpId(index)].operands) {
          read_[operand] = true;
        }
      }
    }
  }

  void copy(OpId op) {
    const OpRow& row = old_[op];
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : row.operands) {
      operands.push_back(made_[operand]);
    }
    const OpId copied = builder_.appendInterned(row.attributes, operands, old_.provenanceOf(op));
    for (uint32_t i = 0; i < row.resultCount; ++i) {
      const ValueId result(row.firstResult.index() + i);
      made_[result] = builder_.result(copied, i);
      if (i > 0) {
        builder_.rename(made_[result], old_[result].name);
      }
    }
  }

  void fetchOperands(OpId op) {
    for (const ValueId operand : old_[op].operands) {
      if (!raised_[operand]) {
        raised_[operand] = true;
        builder_.fetch("raised " + std::string(old_.nameOf(operand)), made_[operand]);
      }
    }
  }

  void putInputs(OpId op) {
    for (const ValueId value : old_[op].results()) {
      if (read_[value]) {
        ops::Input input;
        input.type = old_.typeOf(value);
        made_[value] = builder_.result(builder_.append(input, {}, {.name = old_.nameOf(value)}));
      }
    }
  }

  const Graph& old_;
  const Parts& parts_;
  GraphBuilder builder_;
  SideTable<ValueId, bool> read_, raised_;
  SideTable<ValueId, ValueId> made_;
};

/// Sources go by themselves, with their last reader. (An assign's parameter stays one.)
bool mayGo(const Graph& graph, size_t part) {
  if (part >= graph.opCount()) {
    return true;
  }
  const OpKind kind = graph[OpId(static_cast<uint32_t>(part))].kind();
  return kind != OpKind::Input && kind != OpKind::Parameter;
}

class Shrinker {
 public:
  Shrinker(const Graph& graph, const std::function<bool(const Graph&)>& fails)
      : graph_(graph), fails_(fails), opCount_(graph.opCount()),
        parts_(graph.opCount() + graph.fetches().size()) {}

  Graph run() {
    for (size_t length = parts_.size() / 2; length > 1; length /= 2) {
      leaveOut(length);
    }
    while (leaveOut(1) || raise()) {
    }
    return Cutter(graph_, parts_).run();
  }

 private:
  /// Leaves out runs of `length` parts, the last ones first, wherever the rest still fails.
  bool leaveOut(size_t length) {
    bool any = false;
    for (size_t end = parts_.size(); end > 0; end -= std::min(end, length)) {
      Parts fewer = parts_;
      for (size_t part = end - std::min(end, length); part < end; ++part) {
        fewer[part] = mayGo(graph_, part) ? Part::Out : fewer[part];
      }
      any = take(std::move(fewer)) || any;
    }
    return any;
  }

  /// Where the last op of a chain must be fetched, the one before it may do.
  bool raise() {
    bool any = false;
    for (size_t op = graph_.opCount(); op-- > 0;) {
      Parts fewer = parts_;
      if (fewer[op] == Part::Kept && mayGo(graph_, op)) {
        fewer[op] = Part::Raised;
        any = take(std::move(fewer)) || any;
      }
    }
    return any;
  }

  bool take(Parts fewer) {
    if (fewer == parts_) {
      return false;
    }
    const Graph rest = Cutter(graph_, fewer).run(); // larger where nobody read what was raised
    const bool taken = rest.opCount() <= opCount_ && fails_(rest);
    if (taken) {
      parts_ = std::move(fewer);
      opCount_ = rest.opCount();
    }
    return taken;
  }

  const Graph& graph_;
  const std::function<bool(const Graph&)>& fails_;
  size_t opCount_; ///< of the graph that the parts are
  Parts parts_;
};

} // namespace

Graph shrunk(const Graph& graph, const std::function<bool(const Graph&)>& fails) {
  return Shrinker(graph, fails).run();
}

} // namespace dfc::test
