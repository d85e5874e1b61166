#include "compiler/split/op_options.h"

#include "compiler/split/split_ranges.h"
#include "compiler/split/sum_form.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

bool isCombined(SplitKind kind) { return kind != SplitKind::Free && kind != SplitKind::Window; }

Layout operandLayout(const SplitAxis& at) {
  switch (at.form) {
  case SplitAxis::Form::Whole: return Layout::onAll();
  case SplitAxis::Form::Partial: return Layout::partial(SplitKind::Sum);
  case SplitAxis::Form::Forward:
  case SplitAxis::Form::Backward: return Layout::cut(at.axis);
  }
  DFC_UNREACHABLE("an axis of another form");
}

Layout resultLayout(const SplitAxis& at, SplitKind kind) {
  return at.cut() ? Layout::cut(at.axis) : isCombined(kind) ? Layout::partial(kind) : Layout::onAll();
}

OpOption partsOption(const SplitFactor& factor, uint32_t index) {
  OpOption option{OpOption::Form::Parts, index, {}, {}};
  for (const SplitAxis& at : factor.operands) {
    option.operands.push_back(operandLayout(at));
  }
  for (const SplitAxis& at : factor.results) {
    option.results.push_back(resultLayout(at, factor.kind));
  }
  return option;
}

OpOption linearOption(const Graph& graph, OpId op, llvm::ArrayRef<uint32_t> partials) {
  OpOption option = wholeOption(graph, op, OpOption::Form::Linear);
  for (const uint32_t i : partials) {
    option.operands[i] = Layout::partial(SplitKind::Sum);
  }
  option.results.assign(graph[op].resultCount, Layout::partial(SplitKind::Sum));
  return option;
}

// Every part has positions, and each piece of an axis that is cut has elements.
bool everyPartHolds(const SplitFactor& factor, size_t parts) {
  const auto count = static_cast<int64_t>(parts);
  const auto longEnough = [&](const SplitAxis& at) { return !at.cut() || at.length >= count; };
  return factor.kind != SplitKind::Scan && factor.extent >= count &&
         llvm::all_of(factor.operands, longEnough) && llvm::all_of(factor.results, longEnough);
}

// The caller's bytes are read where they are: parts of an input are cut along its first axis that is longer
// than 1.
bool isContiguous(const Graph& graph, OpId op, const SplitFactor& factor) {
  const Shape& shape = graph.typeOf(graph[op].firstResult).shape;
  for (size_t axis = 0; axis < factor.results[0].axis; ++axis) {
    if (shape[axis] != 1) {
      return false;
    }
  }
  return true;
}

// Partial sums may pass through an op only as floats or integers, not as truth values.
bool addsUp(const Graph& graph, OpId op) {
  return llvm::all_of(graph[op].results(),
                      [&](ValueId value) { return graph.typeOf(value).element != ElementType::Bool; });
}

bool isLight(OpKind kind) {
  switch (classOf(kind)) {
  case OpClass::State:
  case OpClass::Elementwise:
  case OpClass::Reduction:
  case OpClass::View: return true;
  case OpClass::Source:
  case OpClass::Contraction:
  case OpClass::Movement:
  case OpClass::Structured:
  case OpClass::Custom:
  case OpClass::Transfer:
  case OpClass::Request: return kind == OpKind::Fused || kind == OpKind::Broadcast;
  }
  DFC_UNREACHABLE("an op of another class");
}

// Whether all that an op reads and gives is small.
bool isSmall(const Graph& graph, OpId op) {
  const auto small = [&](ValueId value) { return isSmall(graph.typeOf(value)); };
  return llvm::all_of(graph[op].operands, small) && llvm::all_of(graph[op].results(), small);
}

bool followsCut(const Graph& graph, OpId op, const SplitFactor& factor, const OptionLimits& limits) {
  for (size_t i = 0; i < factor.operands.size() && limits.comesCut; ++i) {
    const SplitAxis& at = factor.operands[i];
    if (at.form == SplitAxis::Form::Forward && at.axis == 0 &&
        limits.comesCut(graph[op].operands[i], at.axis)) {
      return true;
    }
  }
  return false;
}

int64_t stateBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    bytes += graph.typeOf(graph[op].firstResult).bytes();
  }
  return bytes;
}

// The ops whose results reach nothing but assigns and fetches, by light ops.
SideTable<OpId, bool> updateOps(const Graph& graph) {
  SideTable<OpId, bool> update(graph.opCount(), true);
  for (uint32_t i = static_cast<uint32_t>(graph.opCount()); i-- > 0;) {
    const OpId op(i);
    update[op] = update[op] && isLight(graph[op].kind());
    for (const ValueId operand : graph[op].operands) {
      const OpId producer = graph[operand].producer;
      update[producer] = update[producer] && update[op];
    }
  }
  return update;
}

} // namespace

OpOption wholeOption(const Graph& graph, OpId op, OpOption::Form form) {
  const Layout layout = form == OpOption::Form::OnOne ? Layout::onOne() : Layout::onAll();
  OpOption option{form, 0, {}, {}};
  option.operands.assign(graph[op].operands.size(), layout);
  option.results.assign(graph[op].resultCount, layout);
  return option;
}

bool partsAreTyped(const Graph& graph, OpId op, const SplitFactor& factor,
                   llvm::ArrayRef<SplitRange> ranges) {
  const auto operandTypes = graph.operandTypesOf(op), resultTypes = graph.resultTypesOf(op);
  llvm::SmallVector<int64_t, 5> lengths, before; // of the range, and of its elements in each operand
  return llvm::all_of(ranges, [&](const SplitRange& range) {
    lengths.assign(1, range.size());
    for (const SplitAxis& at : factor.operands) {
      lengths.push_back(at.elements(range).size());
    }
    if (lengths == before) { // of many, most are the same
      return true;
    }
    before = lengths;
    const SplitPart part{factor, range, operandTypes, resultTypes};
    llvm::SmallVector<TensorType, 4> operands;
    for (size_t i = 0; i < operandTypes.size(); ++i) {
      operands.push_back(part.operandType(i));
    }
    return dfc::resultTypes(partOf(graph[op].attributes, part), operands).ok();
  });
}

SplitRule ruleOf(const Graph& graph, OpId op) {
  return splitOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op));
}

std::vector<OpOption> optionsOf(const Graph& graph, OpId op, const SplitRule& rule,
                                const OptionLimits& limits) {
  std::vector<OpOption> options;
  const bool whole =
      limits.space != OptionSpace::All && isSmall(graph, op) && graph[op].kind() != OpKind::Input;
  for (uint32_t f = 0; f < rule.factors.size(); ++f) {
    const SplitFactor& factor = rule.factors[f];
    if (limits.mayBeInParts && (!whole || followsCut(graph, op, factor, limits)) &&
        everyPartHolds(factor, limits.shares.size()) &&
        partsAreTyped(graph, op, factor, rangesOf(factor.extent, limits.shares)) &&
        (graph[op].kind() != OpKind::Input || isContiguous(graph, op, factor))) {
      options.push_back(partsOption(factor, f));
    }
  }
  if (addsUp(graph, op)) {
    for (const auto& partials : rule.linearIn) {
      // Of small values sums are made early, once, unless the op adds several of them or is free.
      if (!whole || partials.size() > 1 || classOf(graph[op].kind()) == OpClass::View) {
        options.push_back(linearOption(graph, op, partials));
      }
    }
  }
  if (limits.mayBeOnAll) {
    options.push_back(wholeOption(graph, op, OpOption::Form::OnAll));
  }
  if (limits.mayBeOnOne) {
    options.push_back(wholeOption(graph, op, OpOption::Form::OnOne));
  }
  return options;
}

WholeOps wholeOps(const Graph& graph, const Mesh& mesh) {
  WholeOps ops{updateOps(graph), SideTable<OpId, bool>(graph.opCount(), true), updateOps(graph)};
  const int64_t most = stateBytes(graph) / static_cast<int64_t>(4 * mesh.size());
  for (const OpId op : graph.ops()) {
    const OpKind kind = graph[op].kind();
    const bool fits = llvm::all_of(graph[op].results(), [&](ValueId value) {
      return graph.typeOf(value).bytes() <= most && !isSmall(graph.typeOf(value));
    });
    ops.onOne[op] = kind == OpKind::Input || kind == OpKind::Custom ||
                    (fits && (ops.onOne[op] || kind == OpKind::Parameter));
    ops.onAll[op] = kind != OpKind::Input && kind != OpKind::Custom;
  }
  for (const OpId assign : graph.opsOf(OpKind::Assign)) {
    for (const OpId op : {assign, graph[graph[assign].operands[0]].producer}) {
      ops.onOne[op] = ops.onOne[op] || !mesh.alike;
      ops.onAll[op] = mesh.alike;
    }
  }
  return ops;
}

} // namespace dfc
