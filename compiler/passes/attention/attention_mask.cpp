// A causal mask is recognised by its ops if it is a comparison of two iotas or a triangular matrix of one
// number, and by its contents if it is computed from constants in any other way.
#include "compiler/passes/attention/attention_mask.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

using Kind = KeyMask::Kind;

int64_t fromEnd(const Shape& shape, size_t place) {
  return place <= shape.rank() ? shape[shape.rank() - place] : 1;
}

bool sameLastTwo(const Shape& a, const Shape& b) {
  return fromEnd(a, 1) == fromEnd(b, 1) && fromEnd(a, 2) == fromEnd(b, 2);
}

constexpr int deepestRamp = 16;                     // broadcasts, reshapes and casts behind an iota
constexpr int64_t exactIntegers = int64_t{1} << 24; // below, f32 holds every one

bool isOneAxis(const Shape& shape) {
  return llvm::count_if(shape.dims(), [](int64_t dim) { return dim != 1; }) == 1;
}
// The only axis that is longer than 1, counted from the end.
size_t longAxis(const Shape& shape) {
  size_t axis = 0;
  while (shape[axis] == 1) {
    ++axis;
  }
  return shape.rank() - axis;
}

bool sameButLeadingOnes(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.rank(), b.rank());
  bool same = true;
  for (size_t place = 1; place <= rank; ++place) {
    same = same && fromEnd(a, place) == fromEnd(b, place);
  }
  return same;
}

// The mask of these contents; `seen(i)`: element i leaves its key unmasked.
template <class Seen>
KeyMask maskOfContents(const Shape& shape, const Shape& scores, Seen seen) {
  const int64_t keys = fromEnd(shape, 1), queries = fromEnd(shape, 2),
                rows = shape.elements() / std::max<int64_t>(keys, 1);
  bool everything = true, causal = sameLastTwo(shape, scores), everyQuerySees = keys > 0;
  for (int64_t row = 0; row < rows; ++row) {
    bool sees = false;
    for (int64_t key = 0; key < keys; ++key) {
      const bool here = seen(row * keys + key);
      everything &= here;
      causal &= here == (key <= row % queries);
      sees |= here;
    }
    everyQuerySees &= sees;
  }
  const bool isWhole = fromEnd(shape, 1) == fromEnd(scores, 1) || keys == 1;
  KeyMask mask;
  mask.everyQuerySees = everyQuerySees && isWhole;
  mask.kind = everything ? Kind::Everything : causal ? Kind::Causal : Kind::WhereTrue;
  return mask;
}

} // namespace

bool AttentionMasks::isLow(double number) { return number <= -1e4; }

KeyMask AttentionMasks::ofCondition(ValueId condition, bool seenWhere, const Shape& scores) {
  for (const OpRow* row = &graph_[graph_[condition].producer]; row->kind() == OpKind::Not;
       row = &graph_[graph_[condition].producer]) {
    condition = row->operands[0];
    seenWhere = !seenWhere;
  }
  if (comparesRamps(withoutStretch(condition), scores) == seenWhere) {
    return {Kind::Causal, {}, scores[scores.rank() - 1] > 0};
  }
  KeyMask mask;
  if (const std::optional<Literal> literal = constants_.contents(condition)) {
    mask = maskOfContents(literal->type().shape, scores,
                          [&](int64_t i) { return (literal->at(i) != 0) == seenWhere; });
  } else {
    mask.kind = Kind::WhereTrue;
  }
  if (mask.isOperand()) {
    mask.kind = seenWhere ? Kind::WhereTrue : Kind::WhereFalse;
    mask.value = condition;
  }
  return mask;
}

std::optional<KeyMask> AttentionMasks::ofTerm(ValueId term, double sign, const Shape& scores) {
  const ValueId inner = withoutStretch(term);
  const OpRow& row = graph_[graph_[inner].producer];
  if (row.kind() == OpKind::Select) {
    const auto a = constants_.number(row.operands[1]), b = constants_.number(row.operands[2]);
    if (a && b && (*a == 0) != (*b == 0) && isLow(sign * (*a + *b))) {
      KeyMask mask = ofCondition(row.operands[0], *a == 0, scores);
      mask.fill = sign * (*a + *b);
      return mask;
    }
  }
  if (const auto* triangle = row.getIf<ops::Trilu>()) {
    const auto number = constants_.number(row.operands[0]);
    const bool isAbove =
        triangle->upper && triangle->k == 1 && sameLastTwo(graph_.typeOf(inner).shape, scores);
    if (number && isAbove && isLow(sign * *number)) {
      return KeyMask{Kind::Causal, {}, scores[scores.rank() - 1] > 0, sign * *number};
    }
  }
  const std::optional<Literal> literal = constants_.contents(term);
  if (!literal) {
    return std::nullopt;
  }
  double highest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < literal->type().shape.elements(); ++i) {
    const double element = sign * literal->at(i);
    if (element != 0) {
      if (!isLow(element)) {
        return std::nullopt;
      }
      highest = std::max(highest, element);
    }
  }
  KeyMask mask =
      maskOfContents(literal->type().shape, scores, [&](int64_t i) { return literal->at(i) == 0; });
  mask.fill = highest;
  if (mask.isOperand()) {
    mask.kind = Kind::WhereZero;
    mask.value = term;
  }
  return mask;
}

// The value before broadcasts, and before reshapes that only add or drop axes of length 1 in front.
ValueId AttentionMasks::withoutStretch(ValueId value) const {
  for (;;) {
    const OpRow& row = graph_[graph_[value].producer];
    const Shape& to = graph_.typeOf(value).shape;
    const bool broadcasts =
        row.kind() == OpKind::Broadcast && sameLastTwo(graph_.typeOf(row.operands[0]).shape, to);
    const bool reshapes =
        row.kind() == OpKind::Reshape && sameButLeadingOnes(graph_.typeOf(row.operands[0]).shape, to);
    if (!broadcasts && !reshapes) {
      return value;
    }
    value = row.operands[0];
  }
}

// For a value that is an iota along the keys' axis of the scores or along the queries': which axis, counted
// from the end (1: keys, 2: queries). It is constant along all other axes.
std::optional<size_t> AttentionMasks::rampAxis(ValueId value, const Shape& scores, int depth) const {
  if (depth == deepestRamp) {
    return std::nullopt;
  }
  const OpRow& row = graph_[graph_[value].producer];
  const Shape& shape = graph_.typeOf(value).shape;
  std::optional<size_t> place;
  if (const auto* iota = row.getIf<ops::Iota>()) {
    const bool isWide = byteWidth(iota->type.element) >= 4 && iota->start == 0; // exact up to 2^24
    const auto axis =
        static_cast<size_t>(iota->axis < 0 ? iota->axis + static_cast<int64_t>(shape.rank()) : iota->axis);
    place = isWide ? std::optional(shape.rank() - axis) : std::nullopt;
  } else if (row.kind() == OpKind::Broadcast) {
    place = rampAxis(row.operands[0], scores, depth + 1);
  } else if (row.kind() == OpKind::Cast && byteWidth(graph_.typeOf(value).element) >= 4) {
    place = rampAxis(row.operands[0], scores, depth + 1);
  } else if (row.kind() == OpKind::Reshape && isOneAxis(shape) &&
             isOneAxis(graph_.typeOf(row.operands[0]).shape)) {
    // A column or a row: its operand must be a ramp over its own long axis.
    const size_t before = longAxis(graph_.typeOf(row.operands[0]).shape);
    Dims dims(std::max<size_t>(before, 2), 1);
    dims[dims.size() - before] = shape.elements();
    place = rampAxis(row.operands[0], Shape(std::span<const int64_t>(dims)), depth + 1) == before
                ? std::optional(longAxis(shape))
                : std::nullopt;
  }
  const bool spans = place && *place <= 2 && shape.elements() < exactIntegers &&
                     fromEnd(shape, *place) == fromEnd(scores, *place);
  return spans ? place : std::nullopt;
}

// For a comparison of key index and query index: true if it holds exactly for key <= query, false if exactly
// for key > query; none otherwise.
std::optional<bool> AttentionMasks::comparesRamps(ValueId condition, const Shape& scores) const {
  const OpRow& row = graph_[graph_[condition].producer];
  const auto* compare = row.getIf<ops::Compare>();
  const auto a = compare != nullptr ? rampAxis(row.operands[0], scores) : std::nullopt;
  const auto b = compare != nullptr ? rampAxis(row.operands[1], scores) : std::nullopt;
  if (!a || !b || *a == *b) {
    return std::nullopt;
  }
  const bool keyFirst = *a == 1;
  switch (compare->direction) {
  case Direction::Le: return keyFirst ? std::optional(true) : std::nullopt;
  case Direction::Gt: return keyFirst ? std::optional(false) : std::nullopt;
  case Direction::Ge: return keyFirst ? std::nullopt : std::optional(true);
  case Direction::Lt: return keyFirst ? std::nullopt : std::optional(false);
  default: return std::nullopt;
  }
}

} // namespace dfc
