// view_slices: slices whose elements lie together in memory become subviews, which copy nothing.
//
// A subview keeps its whole operand in memory for as long as it is read. So the slices of a value become
// subviews together, and only if they have half of its bytes or more, or if the value is state, which is kept
// anyhow. Slices of inputs stay: inputs lie in the caller's memory. So do slices that are fetched or
// assigned: those are written where they are wanted.
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"

#include <optional>

namespace dfc {
namespace {

/// The first element of a slice, if its elements lie one behind the other in the operand: behind the last
/// axis that is cut, axes are whole, and before it the result has one index.
std::optional<int64_t> firstOf(const ops::Slice& slice, const Shape& operand, const Shape& result) {
  int64_t first = 0, row = 1; // row: elements of an index of the axis
  bool isCut = false;
  for (size_t axis = operand.rank(); axis-- > 0;) {
    const int64_t stride = slice.strides.empty() ? 1 : slice.strides[axis];
    if (result[axis] != 1 && (isCut || stride != 1)) {
      return std::nullopt;
    }
    isCut = isCut || result[axis] != operand[axis];
    first += slice.starts[axis] * row;
    row *= operand[axis];
  }
  return first;
}

class SliceViewer {
 public:
  explicit SliceViewer(const Graph& graph)
      : graph_(graph), rewriter_(graph), view_(graph.opCount()), stays_(graph.valueCount()),
        viewed_(graph.valueCount(), 0) {
    for (const Fetch& fetch : graph.fetches()) {
      stays_[fetch.value] = true;
    }
    for (const OpId op : graph.opsOf(OpKind::Assign)) {
      stays_[graph[op].operands[1]] = true;
    }
  }

  Graph run() {
    for (const OpId op : graph_.opsOf(OpKind::Slice)) {
      find(op);
    }
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      if (view_[op] && isWorth(row.operands[0])) {
        rewriter_.replace(row.firstResult, rewriter_.builder().result(rewriter_.append(
                                               *view_[op], {rewriter_.mapped(row.operands[0])}, op)));
      } else {
        rewriter_.copy(op);
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  void find(OpId op) {
    const OpRow& row = graph_[op];
    const TensorType &operand = graph_.typeOf(row.operands[0]), &result = graph_.typeOf(row.firstResult);
    if (stays_[row.firstResult] || result.bytes() == 0 || sourceOf(row.operands[0]) == OpKind::Input) {
      return;
    }
    const std::optional<int64_t> first = firstOf(row.as<ops::Slice>(), operand.shape, result.shape);
    if (first && *first * byteWidth(operand.element) % ops::subviewAlignment == 0) {
      ops::Subview view;
      view.start = *first;
      view.shape.assign(result.shape.dims().begin(), result.shape.dims().end());
      view_[op] = std::move(view);
      viewed_[row.operands[0]] += result.bytes();
    }
  }

  /// The op that makes a value, views left out.
  OpKind sourceOf(ValueId value) const {
    OpId producer = graph_[value].producer;
    while (classOf(graph_[producer].kind()) == OpClass::View) {
      producer = graph_[graph_[producer].operands[0]].producer;
    }
    return graph_[producer].kind();
  }

  bool isWorth(ValueId operand) const {
    const OpKind source = sourceOf(operand);
    return source == OpKind::Parameter || source == OpKind::Constant ||
           2 * viewed_[operand] >= graph_.typeOf(operand).bytes();
  }

  const Graph& graph_;
  Rewriter rewriter_;
  SideTable<OpId, std::optional<ops::Subview>> view_;
  SideTable<ValueId, bool> stays_;     // fetched or assigned
  SideTable<ValueId, int64_t> viewed_; // bytes of the slices of a value that may be subviews
};

} // namespace

Result<Graph> viewSlices(const Graph& graph, const PassOptions& /*options*/) {
  return graph.opsOf(OpKind::Slice).empty() ? graph : SliceViewer(graph).run();
}

} // namespace dfc
