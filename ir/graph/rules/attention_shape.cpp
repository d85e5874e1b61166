#include "ir/graph/rules/attention_shape.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

// Operands q, k and v in the order of axes [batch…, heads, rows, width].
std::array<Shape, 3> headsFirst(const ops::Attention& op, OperandTypes operands) {
  std::array<Shape, 3> shapes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    Dims dims(operands[i].shape.dims().begin(), operands[i].shape.dims().end());
    if (op.layout != AttentionLayout::Heads) {
      std::swap(dims.end()[-2], dims.end()[-3]);
    }
    if (op.layout == AttentionLayout::Packed) {
      dims.end()[-3] = i == 0 ? dims.end()[-3] - 2 * op.keyHeads : op.keyHeads;
    }
    shapes[i] = Shape(dims);
  }
  return shapes;
}

// Rows of `width` of `heads` heads, in a tensor of as many or, packed, of more.
AttentionRows rowsOf(AttentionLayout layout, int64_t rows, int64_t heads, int64_t width) {
  return layout == AttentionLayout::Heads
             ? AttentionRows{heads, 0, heads * rows * width, rows * width, width}
             : AttentionRows{heads, 0, heads * rows * width, width, heads * width};
}

AttentionShape sizesOf(const ops::Attention& op, const std::array<Shape, 3>& shapes) {
  const auto& [q, k, v] = shapes;
  const size_t rank = q.rank();
  AttentionShape shape;
  shape.layout = op.layout;
  shape.start = op.start;
  shape.headAxis = rank > 2;
  if (shape.headAxis) {
    shape.batch = Shape(dimRange(q).drop_back(3));
    shape.heads = q[rank - 3];
    shape.keyHeads = k[rank - 3];
  }
  shape.queries = q[rank - 2];
  shape.keys = k[rank - 2];
  shape.width = q[rank - 1];
  shape.valueWidth = v[rank - 1];
  shape.at = attentionStrides(shape);
  return shape;
}

// What the layout asks of the operands beside what every layout does; empty for nothing.
std::string layoutClash(const ops::Attention& op, OperandTypes operands, std::string& hint) {
  if (op.layout != AttentionLayout::Packed && op.keyHeads != 0) {
    hint = "leave keyHeads out; k has its heads as an axis";
    return fmt::format("{} keyHeads are for layout=packed alone", op.keyHeads);
  }
  if (op.layout == AttentionLayout::Heads) {
    return "";
  }
  const auto hasHeads = [](const TensorType& type) { return type.shape.rank() >= 3; };
  if (!std::all_of(operands.begin(), operands.begin() + 3, hasHeads)) {
    hint = "q is [batch…, queries, heads, width]";
    return "the layout has an axis of heads, which an operand lacks";
  }
  if (op.layout != AttentionLayout::Packed) {
    return "";
  }
  hint = "q, k and v are one tensor [batch…, rows, heads + 2 keyHeads, width]";
  const int64_t all = operands[0].shape[operands[0].shape.rank() - 2];
  if (!(operands[1] == operands[0]) || !(operands[2] == operands[0])) {
    return "packed operands are of one type";
  }
  return op.keyHeads >= 1 && op.keyHeads <= all / 3
             ? ""
             : fmt::format("{} packed heads do not hold {} of keys, as many of values and more of queries",
                           all, op.keyHeads);
}

// What is wrong with the shapes of q, k and v; empty for nothing. The hint goes to `hint`.
std::string clash(const std::array<Shape, 3>& shapes, std::string& hint) {
  const auto& [q, k, v] = shapes;
  const size_t rank = q.rank();
  if (rank < 2 || k.rank() != rank || v.rank() != rank) {
    hint = "q is [batch…, heads, queries, width], k [batch…, heads, keys, width], v [batch…, heads, keys, "
           "width of the result]";
    return rank < 2 ? "q has fewer than 2 axes" : "q, k and v have different numbers of axes";
  }
  if (q[rank - 1] != k[rank - 1]) {
    hint = "the last axes of q and k agree";
    return fmt::format("q has width {}, k {}", q[rank - 1], k[rank - 1]);
  }
  if (k[rank - 2] != v[rank - 2]) {
    hint = "a key has one value: k and v have the same length";
    return fmt::format("{} keys have {} values", k[rank - 2], v[rank - 2]);
  }
  if (rank == 2) {
    return "";
  }
  if (k[rank - 3] != v[rank - 3] || (k[rank - 3] == 0 ? q[rank - 3] != 0 : q[rank - 3] % k[rank - 3] != 0)) {
    hint = "k and v have the same number of heads, which divides that of q";
    return fmt::format("{} heads of q, {} of k and {} of v", q[rank - 3], k[rank - 3], v[rank - 3]);
  }
  const auto batch = [&](const Shape& shape) { return dimRange(shape).drop_back(3); };
  if (batch(q) != batch(k) || batch(q) != batch(v)) {
    hint = "the axes before the heads agree; broadcast an operand that is shared";
    return "the batch axes differ";
  }
  return "";
}

} // namespace

Shape AttentionShape::withHeads(int64_t count, llvm::ArrayRef<int64_t> tail) const {
  Dims dims(batch.dims().begin(), batch.dims().end());
  if (headAxis) {
    dims.push_back(count);
  }
  dims.insert(dims.end(), tail.begin(), tail.end());
  return Shape(dims);
}

AttentionStrides attentionStrides(const AttentionSizes& s) {
  AttentionStrides at{
      rowsOf(s.layout, s.queries, s.heads, s.width), rowsOf(s.layout, s.keys, s.keyHeads, s.width),
      rowsOf(s.layout, s.keys, s.keyHeads, s.valueWidth), rowsOf(s.layout, s.queries, s.heads, s.valueWidth),
      rowsOf(s.layout, s.queries, s.heads, 1)};
  if (s.layout == AttentionLayout::Packed) {
    at.q = at.k = at.v = rowsOf(s.layout, s.queries, s.heads + 2 * s.keyHeads, s.width);
    at.q.heads = s.heads;
    at.k.heads = at.v.heads = s.keyHeads;
    at.k.first = s.heads * s.width;
    at.v.first = (s.heads + s.keyHeads) * s.width;
  }
  return at;
}

Shape AttentionShape::result() const {
  return layout == AttentionLayout::Heads ? withHeads(heads, {queries, valueWidth})
                                          : withHeads(queries, {heads, valueWidth});
}

Shape AttentionShape::rows() const {
  return layout == AttentionLayout::Heads ? withHeads(heads, {queries}) : withHeads(queries, {heads});
}

double AttentionShape::visiblePairs(bool causal) const {
  const auto each = static_cast<double>(batches()) * static_cast<double>(heads);
  const auto m = static_cast<double>(queries), n = static_cast<double>(keys);
  if (!causal) {
    return each * m * n;
  }
  // Queries that do not see every key yet see start + 1, start + 2, … keys.
  const auto before = static_cast<double>(start);
  const double triangle = std::clamp(n - before, 0.0, m);
  return each * (triangle * before + triangle * (triangle + 1) / 2 + (m - triangle) * n);
}

ElementType attentionSumType(ElementType element) {
  return element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

std::variant<AttentionShape, TypeResult> attentionShape(OpKind kind, const ops::Attention& op,
                                                        OperandTypes operands, bool masked) {
  if (TypeResult elements = checkElements(kind, operands.take_front(3), Domain::Float); !elements.ok()) {
    return elements;
  }
  std::string hint;
  std::string why = layoutClash(op, operands, hint);
  why = why.empty() ? clash(headsFirst(op, operands), hint) : why;
  if (!why.empty()) {
    return refuse(kind, operands, why, std::move(hint));
  }
  if (op.start < 0 || op.start >= int64_t{1} << 60 || (op.start != 0 && !op.causal)) {
    return refuse(kind, operands, fmt::format("the first query is number {}", op.start),
                  "start is for causal attention, and 0 or more");
  }
  AttentionShape shape = sizesOf(op, headsFirst(op, operands));
  if (!shape.scores().wellFormed()) {
    return refuse(kind, operands, "no tensor may have the shape of the scores",
                  "heads x queries x keys stays below 2^60 elements");
  }
  if (masked) {
    const TensorType& mask = operands.back();
    const std::optional<Shape> common = broadcastShapes(mask.shape, shape.scores());
    if (mask.element != ElementType::Bool || !common || !(*common == shape.scores())) {
      return refuse(
          kind, operands,
          fmt::format("the mask is {}, the scores are {}", toString(mask), toString(shape.scores())),
          "the mask is bool, true where a query may see a key, and broadcasts to the scores");
    }
  }
  return shape;
}

std::optional<std::array<int64_t, 4>> maskStrides(const AttentionShape& shape, const Shape& mask) {
  const Shape scores = shape.scores();
  const size_t missing = scores.rank() - mask.rank();
  std::array<int64_t, 4> strides{};
  int64_t stride = 1, ofBatches = 1; // the batch stride, in elements of a batch, that the inner axes ask for
  bool repeats = false, varies = false;
  for (size_t axis = scores.rank(); axis-- > 0;) {
    const size_t fromEnd = scores.rank() - axis;
    const int64_t extent = axis < missing ? 1 : mask[axis - missing];
    if (fromEnd <= 3) {
      strides[4 - fromEnd] = extent == 1 ? 0 : stride;
    } else if (scores[axis] > 1) {
      repeats = repeats || extent == 1;
      varies = varies || extent > 1;
    }
    stride *= extent;
    ofBatches *= fromEnd <= 3 ? extent : 1;
  }
  strides[0] = varies ? ofBatches : 0;
  return repeats && varies ? std::nullopt : std::optional(strides);
}

AttentionShape knownAttentionShape(const ops::Attention& op, OperandTypes operands) {
  std::string hint;
  DFC_ASSERT(layoutClash(op, operands, hint).empty() && clash(headsFirst(op, operands), hint).empty(), hint);
  return sizesOf(op, headsFirst(op, operands));
}

} // namespace dfc
