// ONNX's ops that pick or set elements by index. Several axes at once are one axis of a flat table.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dfc::onnx {
namespace {

NodeResults gathered(NodeCall& call) {
  return {gather(call.operand(0), call.operand(1), call.integer("axis", 0))};
}

// The indices of what is not 0, one row an axis: of a constant, as the shape depends on it.
NodeResults nonZero(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 1);
  if (!call.scope().state().known.isConstant(a)) {
    throw MissingOp("a shape that depends on data (NonZero)");
  }
  const Literal value = call.literalOf(a);
  call.spend(value.type().shape.elements());
  const size_t rank = a.shape().rank();
  std::vector<std::vector<int64_t>> rows(rank);
  for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
    int64_t rest = i;
    for (size_t axis = rank; value.at(i) != 0 && axis-- > 0; rest /= a.shape()[axis]) {
      rows[axis].push_back(rest % a.shape()[axis]);
    }
  }
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& row : rows) {
    all.insert(all.end(), row.begin(), row.end());
  }
  const Shape shape{static_cast<int64_t>(rank), static_cast<int64_t>(rows[0].size())};
  return {call.constant(Literal(shape, std::span<const int64_t>(all)))};
}

// Indices below zero count from the end, once; the values are the off and the on one.
NodeResults hot(NodeCall& call) {
  const double given = call.number(1); // of any type of number
  if (!(given >= 0 && given < 1e15)) {
    call.refuse(fmt::format("a depth of {}", given));
  }
  const auto depth = static_cast<int64_t>(given);
  const Tensor values = call.operand(2);
  const Tensor indices = cast(call.operand(0), ElementType::I64);
  const Tensor isHot = oneHot(indices, depth, call.integer("axis", -1), values.type().element);
  const auto at = [&](int64_t i) { return reshape(slice(values, {i}, {i + 1}), {}); };
  return {select(compare(isHot, 0, Direction::Ne), at(1), at(0))};
}

Tensor fromFront(Tensor indices, int64_t length) {
  const Tensor whole = cast(indices, ElementType::I64);
  return select(compare(whole, 0, Direction::Lt), whole + static_cast<double>(length), whole);
}

// The index along `axis` of a result of shape `dims`, to broadcast.
Tensor alongAxis(NodeCall& call, const Dims& dims, size_t axis) {
  Dims line(dims.size(), 1);
  line[axis] = dims[axis];
  return iota(call.builder(), i64(Shape(line)), static_cast<int64_t>(axis));
}

// Where the elements of `a` that `given` names along an axis stand in its flat table.
Tensor flatPlaces(NodeCall& call, Tensor a, Tensor given) {
  const size_t rank = a.shape().rank();
  if (rank == 0 || given.shape().rank() != rank) {
    call.refuse(fmt::format("indices of shape {} for {}", toString(given.shape()), toString(a.shape())));
  }
  const size_t axis = call.axis("axis", 0, rank);
  const Dims dims = dimsOf(given);
  int64_t stride = 1;
  Tensor flat = call.builder().scalar(ElementType::I64, 0);
  for (size_t i = rank; i-- > 0; stride *= a.shape()[i]) {
    const Tensor index = i == axis ? fromFront(given, a.shape()[axis]) : alongAxis(call, dims, i);
    flat = flat + index * static_cast<double>(stride);
  }
  return flat;
}

NodeResults gatheredElements(NodeCall& call) {
  const Tensor a = call.operand(0);
  return {gather(reshape(a, {-1}), flatPlaces(call, a, call.operand(1)))};
}

// Rows of `a` set to, or raised by, the updates.
Tensor scattered(NodeCall& call, Tensor a, Tensor rows, Tensor updates) {
  if (call.choice("reduction", {"none", "add"}) == "add") {
    return scatterAdd(a, rows, updates);
  }
  const Tensor nothing = broadcast(call.scalar(a, 0), dimsOf(a));
  const Tensor hits = scatterAdd(nothing, rows, broadcast(call.scalar(a, 1), dimsOf(updates)));
  return select(compare(hits, 0, Direction::Ne), scatterAdd(nothing, rows, updates), a);
}

NodeResults scatteredElements(NodeCall& call) {
  const Tensor a = call.operand(0), places = flatPlaces(call, a, call.operand(1));
  const Tensor result =
      scattered(call, reshape(a, {-1}), reshape(places, {-1}), reshape(call.operand(2), {-1}));
  return {reshape(result, dimsOf(a))};
}

/// `a` as rows that tuples of indices name.
struct Rows {
  Tensor table, places; ///< [rows, …the axes that are not named], the shape of the indices without the tuples
};

// The first `batch` axes of both are the same; a tuple names the axes behind them.
Rows rowsOf(NodeCall& call, size_t batch) {
  const Tensor a = call.operand(0), tuples = cast(call.operand(1), ElementType::I64);
  Dims ends = dimsOf(tuples), places = ends;
  if (places.empty() || ends.back() < 0 || a.shape().rank() < batch ||
      ends.back() > static_cast<int64_t>(a.shape().rank() - batch) || batch >= places.size()) {
    call.refuse(fmt::format("indices of shape {} for {}", toString(tuples.shape()), toString(a.shape())));
  }
  const auto named = static_cast<size_t>(ends.back());
  places.pop_back();
  Tensor row = broadcast(call.builder().scalar(ElementType::I64, 0), places);
  for (size_t i = 0; i < batch; ++i) {
    row = row * static_cast<double>(a.shape()[i]) + alongAxis(call, places, i);
  }
  Dims starts(ends.size(), 0);
  for (size_t i = 0; i < named; ++i) {
    starts.back() = static_cast<int64_t>(i);
    ends.back() = static_cast<int64_t>(i) + 1;
    const int64_t length = a.shape()[batch + i];
    row = row * static_cast<double>(length) + fromFront(reshape(slice(tuples, starts, ends), places), length);
  }
  const auto inner = a.shape().dims().begin() + static_cast<int64_t>(batch + named);
  Dims table{std::accumulate(a.shape().dims().begin(), inner, int64_t{1}, std::multiplies<>())};
  table.insert(table.end(), inner, a.shape().dims().end());
  return {reshape(a, table), row};
}

NodeResults gatheredRows(NodeCall& call) {
  const Rows rows =
      rowsOf(call, static_cast<size_t>(std::clamp<int64_t>(call.integer("batch_dims", 0), 0, 64)));
  return {gather(rows.table, rows.places)};
}

NodeResults scatteredRows(NodeCall& call) {
  const Rows rows = rowsOf(call, 0);
  Dims updates = dimsOf(rows.table);
  updates[0] = rows.places.shape().elements();
  const Tensor result =
      scattered(call, rows.table, reshape(rows.places, {-1}), reshape(call.operand(2), updates));
  return {reshape(result, dimsOf(call.operand(0)))};
}

// The first elements along the axis of time from the last to the first, as many as the batch's length says.
NodeResults reversedSequence(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 2);
  const size_t time = call.integer("time_axis", 0) == 0 ? 0 : 1, batch = 1 - time;
  call.only("time_axis", static_cast<int64_t>(time));
  call.only("batch_axis", static_cast<int64_t>(batch));
  const Dims front(a.shape().dims().begin(), a.shape().dims().begin() + 2);
  Dims line{1, 1};
  line[batch] = front[batch];
  const Tensor length = reshape(cast(call.operand(1), ElementType::I64), line);
  const Tensor step = alongAxis(call, front, time);
  const Tensor place = select(compare(step, length, Direction::Lt), length - 1 - step, step);
  const Tensor other = alongAxis(call, front, batch);
  const auto columns = static_cast<double>(front[1]);
  const Tensor row = time == 0 ? place * columns + other : other * columns + place;
  Dims table{front[0] * front[1]};
  table.insert(table.end(), a.shape().dims().begin() + 2, a.shape().dims().end());
  return {gather(reshape(a, table), row)};
}

} // namespace

MappingTable indexMappings() {
  return {{"Gather", gathered},
          {"GatherElements", gatheredElements},
          {"GatherND", gatheredRows},
          {"NonZero", nonZero},
          {"OneHot", hot},
          {"ReverseSequence", reversedSequence},
          {"Scatter", scatteredElements},
          {"ScatterElements", scatteredElements},
          {"ScatterND", scatteredRows}};
}

} // namespace dfc::onnx
