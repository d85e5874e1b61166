// narrow_movement: ops that only move elements (reshape, transpose, slice, split, concat, broadcast) move
// 16-bit floats where casts stand before or behind them, and the casts go to the other side. Both commute
// with a cast bit by bit, and half as many bytes are moved.
//
// - Behind: where every reader of every result is a cast to one 16-bit type, or an op of this kind of which
// the
//   same is true, the operands are cast instead. One cast, which a fused loop may take in, is left of many.
//   Not of a slice, whose operand has more elements to cast.
// - Before: where every operand is a cast from one 16-bit type to f32, the op moves what was cast, and its
// results
//   are cast, if their readers can be fused with that cast. Not of a broadcast, whose result has more
//   elements.
// Pins are kept: an op takes part only where the casts, and the ops between, have its pin.
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

#include <array>

namespace dfc {
namespace {

bool isNarrow(ElementType element) { return element == ElementType::F16 || element == ElementType::BF16; }

bool moves(OpKind kind) {
  switch (kind) {
  case OpKind::Reshape:
  case OpKind::Transpose:
  case OpKind::Slice:
  case OpKind::Split:
  case OpKind::Concat:
  case OpKind::Broadcast: return true;
  default: return false;
  }
}

class Narrowing {
 public:
  explicit Narrowing(const Graph& graph)
      : graph_(graph), rewriter_(graph), wanted_(graph.valueCount()), target_(graph.opCount()),
        narrowOnly_(graph.valueCount()) {}

  Graph run() && {
    findTargets();
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      if (target_[op]) {
        move(op, *target_[op], false);
      } else if (const auto element = movesWidened(row)) {
        move(op, *element, true);
      } else if (row.kind() == OpKind::Cast && isDone(row)) {
        rewriter_.replace(row.firstResult, source(row.operands[0]));
      } else {
        rewriter_.copy(op);
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  // What the readers of a value want: nothing yet, one 16-bit type, or f32 as it is.
  struct Wanted {
    std::optional<ElementType> element;
    bool asItIs = false;
    bool fuses = true; ///< with a cast in front, as far as the kinds of the readers go
    StringId pin;

    void add(std::optional<ElementType> other, const OpRow& reader) {
      asItIs = asItIs || !other || (element && (*element != *other || pin != reader.pin));
      element = other;
      pin = reader.pin;
      const OpClass opClass = classOf(reader.kind());
      fuses =
          fuses && (opClass == OpClass::Elementwise || opClass == OpClass::Reduction || moves(reader.kind()));
    }
  };

  // From the last op to the first, so that the readers of a value are known before its maker.
  void findTargets() {
    for (const Fetch& fetch : graph_.fetches()) {
      wanted_[fetch.value].asItIs = true;
      wanted_[fetch.value].fuses = false;
    }
    for (uint32_t index = static_cast<uint32_t>(graph_.opCount()); index-- > 0;) {
      const OpId op(index);
      const OpRow& row = graph_[op];
      target_[op] = targetOf(row);
      std::optional<ElementType> element = target_[op];
      if (const auto* cast = row.getIf<ops::Cast>(); cast != nullptr && isNarrow(cast->to)) {
        element = cast->to;
      }
      for (const ValueId operand : row.operands) {
        wanted_[operand].add(element, row);
      }
    }
  }

  std::optional<ElementType> targetOf(const OpRow& row) const {
    if (!moves(row.kind()) || row.kind() == OpKind::Slice ||
        graph_.typeOf(row.firstResult).element != ElementType::F32) {
      return std::nullopt;
    }
    std::optional<ElementType> element;
    for (const ValueId result : row.results()) {
      const Wanted& wanted = wanted_[result];
      if (wanted.asItIs || (wanted.element && wanted.pin != row.pin) ||
          (element && wanted.element && *element != *wanted.element)) {
        return std::nullopt;
      }
      element = wanted.element ? wanted.element : element;
    }
    return element;
  }

  // What stands for an old value, in its own type or in a 16-bit one.
  ValueId source(ValueId old) const {
    return narrowOnly_[old].valid() ? narrowOnly_[old] : rewriter_.mapped(old);
  }

  // The cast is left out where its operand has its type by now.
  bool isDone(const OpRow& row) {
    const Graph& made = rewriter_.builder().soFar();
    return made.typeOf(source(row.operands[0])).element == row.as<ops::Cast>().to &&
           graph_.typeOf(row.operands[0]).element == ElementType::F32 && isNarrow(row.as<ops::Cast>().to);
  }

  // The type of what its operands were cast from, if the op may move that.
  std::optional<ElementType> movesWidened(const OpRow& row) {
    if (!moves(row.kind()) || row.kind() == OpKind::Broadcast ||
        graph_.typeOf(row.firstResult).element != ElementType::F32 ||
        !llvm::all_of(row.results(), [&](ValueId result) { return wanted_[result].fuses; })) {
      return std::nullopt;
    }
    std::optional<ElementType> element;
    for (const ValueId operand : row.operands) {
      const auto from = castFrom(source(operand), row.pin);
      if (!from || (element && *element != *from)) {
        return std::nullopt;
      }
      element = from;
    }
    return element;
  }
  std::optional<ElementType> castFrom(ValueId made, StringId pin) {
    const Graph& graph = rewriter_.builder().soFar();
    const OpRow& maker = graph[graph[made].producer];
    if (maker.kind() != OpKind::Cast || graph.text(maker.pin) != graph_.text(pin)) {
      return std::nullopt;
    }
    const ElementType from = graph.typeOf(maker.operands[0]).element;
    return isNarrow(from) && graph.typeOf(made).element == ElementType::F32 ? std::optional(from)
                                                                            : std::nullopt;
  }

  // `op` of operands in `element`. `widen`: its results are cast to f32 again, which no later cast undoes.
  void move(OpId op, ElementType element, bool widen) {
    const OpRow& row = graph_[op];
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : row.operands) {
      operands.push_back(narrowed(source(operand), element, op, graph_.nameOf(operand)));
    }
    const std::string name = widen ? narrowName(graph_.nameOf(op), element) : "";
    const OpId made = rewriter_.append(row.attributes, operands, op, name);
    for (const ValueId result : row.results()) {
      const ValueId moved = rewriter_.builder().result(made, result.index() - row.firstResult.index());
      if (widen) {
        rewriter_.builder().rename(moved, narrowName(graph_.nameOf(result), element));
        const ValueId now = cast(ElementType::F32, moved, op, graph_.nameOf(result));
        rewriter_.builder().rename(now, graph_.nameOf(result));
        rewriter_.replace(result, now);
      } else {
        rewriter_.builder().rename(moved, graph_.nameOf(result));
        narrowOnly_[result] = moved;
      }
    }
  }

  ValueId narrowed(ValueId made, ElementType element, OpId like, std::string_view name) {
    const Graph& graph = rewriter_.builder().soFar();
    if (graph.typeOf(made).element == element) {
      return made;
    }
    const OpRow& maker = graph[graph[made].producer];
    if (maker.kind() == OpKind::Cast && graph.typeOf(maker.operands[0]).element == element) {
      return maker.operands[0];
    }
    ValueId& known = narrow_[element == ElementType::BF16 ? 0 : 1][{made, graph_[like].pin}];
    return known.valid() ? known : known = cast(element, made, like, narrowName(name, element));
  }
  static std::string narrowName(std::string_view name, ElementType element) {
    return std::string(name) + "." + std::string(dfc::name(element));
  }
  ValueId cast(ElementType element, ValueId value, OpId like, std::string_view name) {
    ops::Cast op;
    op.to = element;
    return rewriter_.builder().result(rewriter_.append(op, {value}, like, name));
  }

  const Graph& graph_;
  Rewriter rewriter_;
  SideTable<ValueId, Wanted> wanted_;
  SideTable<OpId, std::optional<ElementType>> target_; // of ops that move what was cast before
  SideTable<ValueId, ValueId> narrowOnly_;             // of results that nothing reads in f32
  std::array<llvm::DenseMap<std::pair<ValueId, StringId>, ValueId>, 2> narrow_; // bf16, f16; by pin
};

bool hasNarrowCasts(const Graph& graph) {
  return llvm::any_of(graph.opsOf(OpKind::Cast), [&](OpId op) {
    return isNarrow(graph[op].as<ops::Cast>().to) || isNarrow(graph.typeOf(graph[op].operands[0]).element);
  });
}

} // namespace

Result<Graph> narrowMovement(const Graph& graph, const PassOptions& /*options*/) {
  return hasNarrowCasts(graph) ? Narrowing(graph).run() : graph;
}

} // namespace dfc
