// attention_layout: attention reads its heads where projections write them, instead of tensors that were
// split and transposed first.
//
// The operands of attention are [batch…, heads, rows, width]; projections give [batch…, rows, heads * width],
// of q, k and v one by one or side by side in one tensor. Where q, k and v are transposes of the former kind,
// the op takes their operands (AttentionLayout::Rows), and where these are the three parts of one tensor,
// that tensor (AttentionLayout::Packed). Its gradient takes and gives the same. Results are transposed back,
// and a packed gradient is split; `simplify` cancels that against the author's transposes and concatenations.
// The order of every sum stays, so every bit does. Movement that is pinned to another device is left alone.
#include "compiler/passes/constant_values.h"
#include "compiler/passes/expand_ops.h"
#include "compiler/passes/passes.h"
#include "ir/author/attention_axes.h"
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/graph/rules/op_rules.h"

#include <llvm/ADT/STLExtras.h>

#include <numeric>

namespace dfc {
namespace {

/// Columns [first, first + count) of a tensor's last axis.
struct Columns {
  ValueId of;
  int64_t first = 0, count = 0;
};

/// The same heads of q, k and v, before they were split and transposed.
struct Source {
  std::array<ValueId, 3> rows;   ///< [batch…, rows, heads, width]
  std::optional<ValueId> packed; ///< [.., columns], of which they are the three parts
  int64_t keyHeads = 0;
};

class Sources {
 public:
  explicit Sources(const Graph& graph) : graph_(graph) {}

  /// The source of attention or its gradient in the layout of heads first; none if q, k or v is no transpose.
  std::optional<Source> of(OpId op) const {
    Source source;
    for (size_t i = 0; i < 3; ++i) {
      const auto rows = rowsOf(graph_[op].operands[i], op);
      if (!rows) {
        return std::nullopt;
      }
      source.rows[i] = *rows;
    }
    const Shape& k = shapeOf(source.rows[1]);
    source.keyHeads = k[k.rank() - 2];
    source.packed = packedOf(source, op);
    return source;
  }

  /// What a value is a transpose of, with heads and rows in each other's place.
  std::optional<ValueId> rowsOf(ValueId value, OpId reader) const {
    const size_t rank = shapeOf(value).rank();
    const auto* transpose = maker<ops::Transpose>(value, reader);
    return rank >= 3 && transpose != nullptr &&
                   transpose->as<ops::Transpose>().permutation == swappedAxes(rank, 2, 3)
               ? std::optional(transpose->operands[0])
               : std::nullopt;
  }

 private:
  const Shape& shapeOf(ValueId value) const { return graph_.typeOf(value).shape; }

  template <class T>
  const OpRow* maker(ValueId value, OpId reader) const {
    const OpRow& row = graph_[graph_[value].producer];
    const bool pinnedApart = !graph_.text(row.pin).empty() && row.pin != graph_[reader].pin;
    return row.getIf<T>() != nullptr && !pinnedApart ? &row : nullptr;
  }

  // The packed QKV tensor: its last axis is the columns of q, k and v, one behind the other.
  std::optional<ValueId> packedOf(const Source& source, OpId op) const {
    const Shape& q = shapeOf(source.rows[0]);
    const size_t rank = q.rank();
    const int64_t width = q[rank - 1], rows = q[rank - 3];
    std::optional<Columns> before;
    for (const ValueId part : source.rows) {
      const Shape& shape = shapeOf(part);
      const auto columns = columnsOf(part, op);
      const int64_t first = before ? before->first + before->count : 0;
      if (!columns || columns->first != first || (before && columns->of != before->of) ||
          shape[rank - 1] != width || shape[rank - 3] != rows) {
        return std::nullopt;
      }
      before = columns;
    }
    const Shape& all = shapeOf(before->of);
    return before->first + before->count == all[all.rank() - 1] ? std::optional(before->of) : std::nullopt;
  }

  // [.., rows, heads, width] as columns of a tensor [.., columns].
  std::optional<Columns> columnsOf(ValueId part, OpId reader) const {
    const Shape& shape = shapeOf(part);
    const auto* reshape = maker<ops::Reshape>(part, reader);
    if (reshape == nullptr) {
      return std::nullopt;
    }
    const ValueId flat = reshape->operands[0];
    const size_t last = shapeOf(flat).rank();
    const int64_t count = shape[shape.rank() - 1] * shape[shape.rank() - 2];
    if (last == 0 || shapeOf(flat)[last - 1] != count) {
      return std::nullopt;
    }
    if (const auto* split = maker<ops::Split>(flat, reader)) {
      return columnsOfSplit(*split, flat);
    }
    const auto* slice = maker<ops::Slice>(flat, reader);
    return slice != nullptr ? columnsOfSlice(*slice) : std::nullopt;
  }

  std::optional<Columns> columnsOfSplit(const OpRow& split, ValueId part) const {
    const auto& op = split.as<ops::Split>();
    const size_t rank = shapeOf(part).rank(), index = part.index() - split.firstResult.index();
    if (normalAxis(op.axis, rank) != rank - 1) {
      return std::nullopt;
    }
    return Columns{split.operands[0], std::accumulate(op.sizes.begin(), op.sizes.begin() + index, int64_t{0}),
                   op.sizes[index]};
  }

  std::optional<Columns> columnsOfSlice(const OpRow& slice) const {
    const auto& op = slice.as<ops::Slice>();
    const Shape &of = shapeOf(slice.operands[0]), &result = shapeOf(slice.firstResult);
    const size_t last = of.rank() - 1;
    for (size_t axis = 0; axis < last; ++axis) {
      if (result[axis] != of[axis]) {
        return std::nullopt;
      }
    }
    if (!op.strides.empty() && op.strides[last] != 1) {
      return std::nullopt;
    }
    return Columns{slice.operands[0], op.starts[last], result[last]};
  }

  const Graph& graph_;
};

class LayoutWriter {
 public:
  LayoutWriter(const Graph& graph, OpExpansion& expansion, const Sources& sources)
      : graph_(graph), expansion_(expansion), sources_(sources), constants_(graph) {}

  std::vector<Tensor> attention(OpId op, const Source& source, llvm::ArrayRef<Tensor> operands) {
    std::vector<Tensor> own = factors(source);
    own.insert(own.end(), operands.begin() + 3, operands.end());
    const std::vector<Tensor> results =
        builder().multiOp(inLayout(graph_[op].as<ops::Attention>(), source), own, here());
    rowsOfResult_[graph_[op].firstResult] = results[0].value();
    return {rowsAndHeads(results[0]), statisticsOfHeads(results[1])};
  }

  std::vector<Tensor> gradient(OpId op, const Source& source, llvm::ArrayRef<Tensor> operands) {
    std::vector<Tensor> own = factors(source);
    own.push_back(inRows(graph_[op].operands[3], op));
    own.push_back(statisticsOfHeads(operands[4]));
    own.push_back(delta(op));
    own.insert(own.end(), operands.begin() + 6, operands.end());
    ops::AttentionGradient made;
    made.forward = inLayout(graph_[op].as<ops::AttentionGradient>().forward, source);
    std::vector<Tensor> results = builder().multiOp(made, own, here());
    if (source.packed) {
      results = parts(results[0], source);
    }
    llvm::transform(results, results.begin(), rowsAndHeads);
    return results;
  }

 private:
  Builder& builder() { return expansion_.builder(); }
  static std::source_location here() { return std::source_location::current(); }

  static ops::Attention inLayout(ops::Attention op, const Source& source) {
    op.layout = source.packed ? AttentionLayout::Packed : AttentionLayout::Rows;
    op.keyHeads = source.packed ? source.keyHeads : 0;
    return op;
  }

  // q, k and v as the layout has them.
  std::vector<Tensor> factors(const Source& source) {
    if (!source.packed) {
      return {expansion_.tensor(source.rows[0]), expansion_.tensor(source.rows[1]),
              expansion_.tensor(source.rows[2])};
    }
    const Shape& q = graph_.typeOf(source.rows[0]).shape;
    Dims dims(q.dims().begin(), q.dims().end());
    dims.end()[-2] += 2 * source.keyHeads;
    const Tensor packed = reshape(expansion_.tensor(*source.packed), dims);
    return {packed, packed, packed};
  }

  // The three parts of a packed gradient, each [batch…, rows, heads, width].
  std::vector<Tensor> parts(Tensor gradient, const Source& source) {
    const Shape& flat = graph_.typeOf(*source.packed).shape;
    const auto dimsOf = [](const Shape& shape) { return Dims(shape.dims().begin(), shape.dims().end()); };
    Dims sizes;
    for (const ValueId part : source.rows) {
      const Shape& shape = graph_.typeOf(part).shape;
      sizes.push_back(shape[shape.rank() - 1] * shape[shape.rank() - 2]);
    }
    std::vector<Tensor> made = split(reshape(gradient, dimsOf(flat)), sizes, -1);
    for (size_t i = 0; i < made.size(); ++i) {
      made[i] = reshape(made[i], dimsOf(graph_.typeOf(source.rows[i]).shape));
    }
    return made;
  }

  // A value of layout [batch, head, row, width] in the layout [batch, row, head, width]: the operand of the
  // transpose that made it, or else a new transpose of it.
  Tensor inRows(ValueId old, OpId reader) {
    if (const auto made = rowsOfResult_.find(old); made != rowsOfResult_.end()) {
      return {&builder(), made->second};
    }
    const auto rows = sources_.rowsOf(old, reader);
    return rows ? expansion_.tensor(*rows) : rowsAndHeads(expansion_.tensor(old));
  }

  // delta; where it is the row sums of two tensors' product, of these in the order of rows first.
  Tensor delta(OpId op) {
    const ValueId old = graph_[op].operands[5];
    const OpRow* const product = productInDelta(old, graph_.typeOf(graph_[op].operands[3]).shape);
    if (product == nullptr) {
      return statisticsOfHeads(expansion_.tensor(old));
    }
    const Tensor a = factorOfDelta(product->operands[0], op), b = factorOfDelta(product->operands[1], op);
    return reduceSum(a * b, {-1});
  }

  // The product of tensors of `shape` whose sum over the last axis delta is, perhaps less 0; null for others.
  const OpRow* productInDelta(ValueId delta, const Shape& shape) {
    const TensorType& type = graph_.typeOf(delta);
    const OpRow* sum = &maker(delta);
    if (sum->kind() == OpKind::Sub && constants_.number(sum->operands[1]) == 0.0) {
      sum = &maker(sum->operands[0]);
    }
    const auto* reduced = sum->getIf<ops::ReduceSum>();
    if (reduced == nullptr || reduced->keepDims || !(graph_.typeOf(sum->firstResult) == type) ||
        !sumsLastAxis(*sum)) {
      return nullptr;
    }
    const OpRow& product = maker(sum->operands[0]);
    const auto isFactor = [&](ValueId value) {
      return graph_.typeOf(value) == TensorType{type.element, shape};
    };
    return product.kind() == OpKind::Mul && shape.rank() >= 3 && llvm::all_of(product.operands, isFactor)
               ? &product
               : nullptr;
  }

  const OpRow& maker(ValueId value) const { return graph_[graph_[value].producer]; }

  bool sumsLastAxis(const OpRow& sum) const {
    const size_t rank = graph_.typeOf(sum.operands[0]).shape.rank();
    const auto axes = normalAxes(sum.as<ops::ReduceSum>().axes, rank);
    return axes && axes->size() == 1 && axes->front() == static_cast<int64_t>(rank) - 1;
  }

  // A 16-bit factor was widened for the product.
  Tensor factorOfDelta(ValueId old, OpId reader) {
    const OpRow& cast = maker(old);
    if (cast.kind() != OpKind::Cast || graph_.typeOf(old).element != ElementType::F32) {
      return inRows(old, reader);
    }
    const ElementType from = graph_.typeOf(cast.operands[0]).element;
    const bool isNarrow = from == ElementType::F16 || from == ElementType::BF16;
    return isNarrow ? widened(inRows(cast.operands[0], reader)) : inRows(old, reader);
  }

  const Graph& graph_;
  OpExpansion& expansion_;
  const Sources& sources_;
  ConstantValues constants_;
  llvm::DenseMap<ValueId, ValueId> rowsOfResult_; ///< of an old result the new one, rows first
};

bool hasLayoutOfHeads(const OpRow& row) {
  const auto* attention = row.getIf<ops::Attention>();
  const auto* gradient = row.getIf<ops::AttentionGradient>();
  return (attention != nullptr && attention->layout == AttentionLayout::Heads) ||
         (gradient != nullptr && gradient->forward.layout == AttentionLayout::Heads);
}

} // namespace

Result<Graph> attentionLayout(const Graph& graph, const PassOptions& /*options*/) {
  const Sources sources(graph);
  llvm::DenseMap<OpId, Source> found;
  for (const OpKind kind : {OpKind::Attention, OpKind::AttentionGradient}) {
    for (const OpId op : graph.opsOf(kind)) {
      if (auto source = hasLayoutOfHeads(graph[op]) ? sources.of(op) : std::nullopt) {
        found.try_emplace(op, *source);
      }
    }
  }
  if (found.empty()) {
    return graph;
  }
  OpExpansion expansion(graph);
  Builder& builder = expansion.builder();
  LayoutWriter writer(graph, expansion, sources);
  return std::move(expansion).run([&](OpId op) { return found.count(op) != 0; },
                                  [&](OpId op, llvm::ArrayRef<Tensor> operands) {
                                    const Builder::Guard around =
                                        builder.exactly(graph.scopeOf(op), graph.pinOf(op));
                                    const Source& source = found.find(op)->second;
                                    return graph[op].kind() == OpKind::Attention
                                               ? writer.attention(op, source, operands)
                                               : writer.gradient(op, source, operands);
                                  });
}

} // namespace dfc
