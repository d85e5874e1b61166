#include "ir/graph/rules/attention_shape.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

AttentionShape sizesOf(OperandTypes operands) {
  const Shape &q = operands[0].shape, &k = operands[1].shape, &v = operands[2].shape;
  const size_t rank = q.rank();
  AttentionShape shape;
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
  return shape;
}

// What is wrong with the shapes of q, k and v; empty for nothing. The hint goes to `hint`.
std::string clash(OperandTypes operands, std::string& hint) {
  const Shape &q = operands[0].shape, &k = operands[1].shape, &v = operands[2].shape;
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

double AttentionShape::visiblePairs(bool causal) const {
  const auto each = static_cast<double>(batches()) * static_cast<double>(heads);
  const auto m = static_cast<double>(queries), n = static_cast<double>(keys);
  if (!causal) {
    return each * m * n;
  }
  const double triangle = std::min(m, n); // queries that do not see every key yet: 1, 2, …, triangle keys
  return each * (triangle * (triangle + 1) / 2 + (m - triangle) * n);
}

ElementType attentionSumType(ElementType element) {
  return element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

std::variant<AttentionShape, TypeResult> attentionShape(OpKind kind, OperandTypes operands, bool masked) {
  if (TypeResult elements = checkElements(kind, operands.take_front(3), Domain::Float); !elements.ok()) {
    return elements;
  }
  std::string hint;
  if (const std::string why = clash(operands, hint); !why.empty()) {
    return refuse(kind, operands, why, std::move(hint));
  }
  AttentionShape shape = sizesOf(operands);
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

AttentionShape knownAttentionShape(OperandTypes operands) {
  std::string hint;
  DFC_ASSERT(clash(operands, hint).empty(), hint);
  return sizesOf(operands);
}

} // namespace dfc
