// narrow_movement: exchanges casts with data movement (reshape, transpose, slice, split, concat, broadcast),
// so that 16-bit floats are moved instead of f32. A cast commutes with data movement bit for bit.
//
// - Hoisting: a cast to a 16-bit type moves above an op if all uses of the op's results are casts to that
//   type, or data movement above which the cast moves too. One cast of the operand replaces one for each
//   use. A cast is not hoisted above slice, because the operand has more elements than the result, nor above
//   cut, whose wish is about the operand.
// - Sinking: casts from a 16-bit type to f32 move below an op if all its operands are such casts, and all
//   uses of its results are elementwise ops, reductions or data movement, which can be fused with a cast. A
//   cast is not sunk below broadcast, because the result has more elements than the operand.
//
// The casts and the data movement must have the same pin.
#include "compiler/passes/casts.h"
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
  case OpKind::Cut:
  case OpKind::StopGradient:
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
      : graph_(graph), rewriter_(graph), uses_(graph.valueCount()), hoisted_(graph.opCount()),
        narrowOnly_(graph.valueCount()) {}

  Graph run() && {
    findHoists();
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      if (hoisted_[op]) {
        move(op, *hoisted_[op], false);
      } else if (const auto element = sunkCast(row)) {
        move(op, *element, true);
      } else if (row.kind() == OpKind::Cast && wasHoisted(row)) {
        rewriter_.replace(row.firstResult, source(row.operands[0]));
      } else {
        rewriter_.copy(op);
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  // The uses of a value.
  struct Uses {
    std::optional<ElementType>
        element;         ///< the 16-bit type to which the last one casts it; none: it has no such use
    bool inF32 = false;  ///< some use needs f32, or casts to another type or under another pin
    bool fusable = true; ///< every use can be fused with a cast
    StringId pin;        ///< of the last one

    void add(std::optional<ElementType> other, const OpRow& reader) {
      inF32 = inF32 || !other || (element && (*element != *other || pin != reader.pin));
      element = other;
      pin = reader.pin;
      const OpClass opClass = classOf(reader.kind());
      fusable = fusable &&
                (opClass == OpClass::Elementwise || opClass == OpClass::Reduction || moves(reader.kind()));
    }
  };

  // From the last op to the first, so that the uses of a value are known before its definition.
  void findHoists() {
    for (const Fetch& fetch : graph_.fetches()) {
      uses_[fetch.value].inF32 = true;
      uses_[fetch.value].fusable = false;
    }
    for (uint32_t index = static_cast<uint32_t>(graph_.opCount()); index-- > 0;) {
      const OpId op(index);
      const OpRow& row = graph_[op];
      hoisted_[op] = hoistedCast(row);
      std::optional<ElementType> element = hoisted_[op];
      if (const auto* cast = row.getIf<ops::Cast>(); cast != nullptr && isNarrow(cast->to)) {
        element = cast->to;
      }
      for (const ValueId operand : row.operands) {
        uses_[operand].add(element, row);
      }
    }
  }

  std::optional<ElementType> hoistedCast(const OpRow& row) const {
    if (!moves(row.kind()) || row.kind() == OpKind::Slice || row.kind() == OpKind::Cut ||
        graph_.typeOf(row.firstResult).element != ElementType::F32) {
      return std::nullopt;
    }
    std::optional<ElementType> element;
    for (const ValueId result : row.results()) {
      const Uses& uses = uses_[result];
      if (uses.inF32 || (uses.element && uses.pin != row.pin) ||
          (element && uses.element && *element != *uses.element)) {
        return std::nullopt;
      }
      element = uses.element ? uses.element : element;
    }
    return element;
  }

  // The new value of an old one, in its own type or in a 16-bit type.
  ValueId source(ValueId old) const {
    return narrowOnly_[old].valid() ? narrowOnly_[old] : rewriter_.mapped(old);
  }

  // Whether the cast was hoisted: its operand has its type already.
  bool wasHoisted(const OpRow& row) {
    const Graph& made = rewriter_.builder().soFar();
    return made.typeOf(source(row.operands[0])).element == row.as<ops::Cast>().to &&
           graph_.typeOf(row.operands[0]).element == ElementType::F32 && isNarrow(row.as<ops::Cast>().to);
  }

  // The 16-bit type from which all operands are cast, if these casts sink below the op.
  std::optional<ElementType> sunkCast(const OpRow& row) {
    if (!moves(row.kind()) || row.kind() == OpKind::Broadcast ||
        graph_.typeOf(row.firstResult).element != ElementType::F32 ||
        !llvm::all_of(row.results(), [&](ValueId result) { return uses_[result].fusable; })) {
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

  // Appends `op` with operands of `element`. `widen`: the results are cast to f32.
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
        const ValueId now = appendCast(rewriter_, ElementType::F32, moved, op, graph_.nameOf(result));
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
    return known.valid() ? known
                         : known = appendCast(rewriter_, element, made, like, narrowName(name, element));
  }
  const Graph& graph_;
  Rewriter rewriter_;
  SideTable<ValueId, Uses> uses_;
  SideTable<OpId, std::optional<ElementType>> hoisted_; // the cast that is hoisted above an op
  SideTable<ValueId, ValueId> narrowOnly_;              // results that have no use in f32
  std::array<llvm::DenseMap<std::pair<ValueId, StringId>, ValueId>, 2>
      narrow_; // casts to bf16 and f16, by operand and pin
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
