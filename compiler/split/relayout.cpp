#include "compiler/split/relayout.h"

#include "compiler/split/split_ranges.h"
#include "compiler/split/sum_form.h"
#include "ir/graph/micro_batch.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace dfc {
namespace {

constexpr int64_t mostBucket = 4 << 20; // bytes

/// The axis along which a sum is scattered: the first with an element for each part, whose slices lie
/// together. Of parts that are split again, the second such axis, if there is one: the other split cuts the
/// first, so each device of a group exchanges its part of the value with one device of every other group.
std::optional<size_t> scatterAxis(const Shape& shape, size_t parts, bool splitAgain) {
  std::optional<size_t> found;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] >= static_cast<int64_t>(parts)) {
      if (found || !splitAgain) {
        return axis;
      }
      found = axis;
    }
  }
  return found;
}

bool sameRow(llvm::ArrayRef<DeviceId> a, llvm::ArrayRef<DeviceId> b) { return a.data() == b.data(); }

SplitRange overlap(SplitRange a, SplitRange b) {
  const int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

} // namespace

ValueId Relayout::bring(ValueId old, const SplitValue& value, const Wanted& wanted, DeviceId device,
                        bool byAll, const InternedProvenance& like) {
  const bool shared = byAll && value.layout.isPartial();
  if (value.layout.isPartial() && !sameRow(value.row, row_)) { // reduce within the row, then send one value
    const auto reader = std::exchange(row_, value.row);
    const ValueId sum = bring(old, value, wanted, device, byAll, like);
    row_ = reader;
    note(old, value, device, sum, device, MovementKind::Slices);
    return sum;
  }
  const Key key{old.index(), pinned(device).index(), shared,          wanted.whole,
                wanted.axis, wanted.range.begin,     wanted.range.end};
  const auto found = made_.find(key);
  if (found != made_.end()) {
    return found->second;
  }
  const auto isIt = [&](const Offered& one) { return one.old == old; };
  if (wanted.whole && byAll && llvm::any_of(offered_, isIt)) {
    sumBucket(old, value.whole, like);
    return made_.at(key);
  }
  const ValueId made = make(old, value, wanted, device, byAll, outsideMicroBatches(value, like));
  made_[key] = made;
  return made;
}

InternedProvenance Relayout::outsideMicroBatches(const SplitValue& value,
                                                 const InternedProvenance& like) const {
  const Graph& graph = builder_.soFar();
  const std::string_view scope = like.scope.valid() ? graph.text(like.scope) : std::string_view();
  const std::string_view own = scopeInMicroBatch(scope);
  InternedProvenance made = like;
  if (own.size() != scope.size() && value.parts.front().valid() &&
      !microBatchOf(graph.scopeOf(graph[value.parts.front()].producer))) {
    made.scope = builder_.intern(std::string(own));
  }
  return made;
}

void Relayout::offer(ValueId old, const SplitValue& value) { offered_.push_back({old, value}); }

void Relayout::sumBucket(ValueId asked, const TensorType& type, const InternedProvenance& like) {
  std::vector<Offered> members, others;
  int64_t elements = type.shape.elements(),
          bytes = type.bytes(); // room is kept for the one that is asked for
  for (Offered& one : offered_) {
    const TensorType& own = one.value.whole;
    const bool fits =
        own.element == type.element && bytes + own.bytes() <= mostBucket && sameRow(one.value.row, row_);
    if (one.old != asked && fits) {
      elements += own.shape.elements();
      bytes += own.bytes();
    }
    (one.old == asked || fits ? members : others).push_back(std::move(one));
  }
  offered_ = std::move(others);
  SplitValue bucket{
      Layout::partial(SplitKind::Sum), {type.element, Shape({elements})}, {}, mesh_.devices, {}, row_};
  bucket.parts.resize(mesh_.size());
  for (size_t d = 0; d < mesh_.made(); ++d) {
    llvm::SmallVector<ValueId, 16> flat;
    for (const Offered& one : members) {
      flat.push_back(
          reshaped(one.value.parts[d], Shape({one.value.whole.shape.elements()}), mesh_.devices[d], like));
    }
    bucket.parts[d] = flat.size() == 1
                          ? flat.front()
                          : builder_.result(append(ops::Concat{}, flat, like, "bucket", mesh_.devices[d]));
  }
  const ValueId bucketId = newId();
  for (const DeviceId device : llvm::ArrayRef<DeviceId>(mesh_.devices).take_front(mesh_.made())) {
    const ValueId sum = bring(bucketId, bucket, Wanted::all(), device, true, like);
    int64_t begin = 0;
    for (const Offered& one : members) {
      const int64_t end = begin + one.value.whole.shape.elements();
      ops::Slice slice;
      slice.starts = {begin};
      slice.ends = {end};
      const ValueId own =
          begin == 0 && end == elements
              ? sum
              : builder_.result(append(slice, {sum}, like, nameOf(one.value.parts[0], "sum"), device));
      made_[{one.old.index(), pinned(device).index(), true, true, 0, 0, 0}] =
          reshaped(own, one.value.whole.shape, device, like);
      begin = end;
    }
  }
}

ValueId Relayout::reshaped(ValueId value, const Shape& shape, DeviceId device,
                           const InternedProvenance& like) {
  if (builder_.soFar().typeOf(value).shape == shape) {
    return value;
  }
  ops::Reshape reshape;
  reshape.shape.assign(shape.dims().begin(), shape.dims().end());
  return builder_.result(append(reshape, {value}, like, nameOf(value, "flat"), device));
}

ValueId Relayout::make(ValueId old, const SplitValue& value, const Wanted& wanted, DeviceId device,
                       bool byAll, const InternedProvenance& like) {
  if (!wanted.whole && wanted.range.size() == 0) { // of a pad, say, whose part is padding alone
    Dims dims(value.whole.shape.dims().begin(), value.whole.shape.dims().end());
    dims[wanted.axis] = 0;
    const ops::Constant nothing{{}, Literal(TensorType{value.whole.element, Shape(dims)})};
    return builder_.result(append(nothing, {}, like, nameOf(value.parts[0], "nothing"), device));
  }
  switch (value.layout.form) {
  case Layout::Form::OnOne: {
    const ValueId own =
        wanted.whole ? value.parts[0] : sliced(old, value, 0, wanted.axis, wanted.range, like);
    note(old, value, value.where[0], own, device,
         wanted.whole ? MovementKind::Broadcast : MovementKind::Slices);
    return own;
  }
  case Layout::Form::OnAll: {
    const auto found = llvm::find(value.where, device);
    const auto part = found == value.where.end() ? 0 : static_cast<size_t>(found - value.where.begin());
    const ValueId own =
        wanted.whole ? partOf(value, part, like) : sliced(old, value, part, wanted.axis, wanted.range, like);
    note(old, value, value.where[part], own, device, MovementKind::Slices);
    return own;
  }
  case Layout::Form::Cut: {
    const MovementKind kind =
        !wanted.whole ? wanted.axis == value.layout.axis ? MovementKind::Slices : MovementKind::AllToAll
        : byAll       ? MovementKind::AllGather
                      : MovementKind::Gather;
    return fromPieces(old, value, wanted, device, kind, like);
  }
  case Layout::Form::Partial: break;
  }
  if (!wanted.whole || !byAll) {
    const MovementKind kind = wanted.whole  ? MovementKind::ReduceToOne
                              : scattering_ ? MovementKind::SumByScatter
                                            : MovementKind::ReduceScatter;
    return combined(old, value, wanted, device, kind, like);
  }
  const std::optional<size_t> axis = scatterAxis(value.whole.shape, mesh_.size(), splitAgain_);
  switch (cheapestSum(value.whole.bytes(), axis.has_value(), mesh_).form) {
  case SumForm::Exchange: return combined(old, value, wanted, device, MovementKind::SumByExchange, like);
  case SumForm::Doubling: return make(old, doubled(old, value, like), wanted, device, byAll, like);
  case SumForm::Scatter:
    return fromPieces(old, scattered(old, value, *axis, like), wanted, device, MovementKind::SumByScatter,
                      like);
  }
  DFC_UNREACHABLE("a sum of another form");
}

ValueId Relayout::fromPieces(ValueId old, const SplitValue& value, const Wanted& wanted, DeviceId device,
                             MovementKind kind, const InternedProvenance& like) {
  const size_t axis = value.layout.axis;
  llvm::SmallVector<ValueId, 8> pieces;
  for (size_t part = 0; part < value.parts.size(); ++part) {
    const SplitRange own = value.ranges[part];
    if (wanted.whole) {
      pieces.push_back(partOf(value, part, like));
    } else if (wanted.axis != axis) {
      pieces.push_back(sliced(old, value, part, wanted.axis, wanted.range, like));
    } else if (const SplitRange common = overlap(own, wanted.range); common.size() > 0) {
      pieces.push_back(common == own ? partOf(value, part, like)
                                     : sliced(old, value, part, axis, common, like));
    } else {
      continue;
    }
    note(old, value, value.where[part], pieces.back(), device, kind);
  }
  DFC_ASSERT(!pieces.empty(), "a part of a value that has no elements");
  if (pieces.size() == 1) {
    return pieces.front();
  }
  ops::Concat joined;
  joined.axis = static_cast<int64_t>(axis);
  return builder_.result(append(joined, pieces, like, nameOf(value.parts[0], "joined"), device));
}

ValueId Relayout::combined(ValueId old, const SplitValue& value, const Wanted& wanted, DeviceId device,
                           MovementKind kind, const InternedProvenance& like) {
  const ElementType element = value.whole.element;
  const bool narrow = isNarrow(element);
  ValueId sum;
  for (size_t part = 0; part < value.parts.size(); ++part) {
    ValueId next =
        wanted.whole ? partOf(value, part, like) : sliced(old, value, part, wanted.axis, wanted.range, like);
    note(old, value, value.where[part], next, device, kind);
    next = narrow ? cast(next, ElementType::F32, device, like) : next; // sent in 16 bits, added up in 32
    sum = sum.valid() ? builder_.result(append(combiner(value.layout.combine), {sum, next}, like,
                                               nameOf(value.parts[0], "sum"), device))
                      : next;
  }
  return narrow ? cast(sum, element, device, like) : sum;
}

ValueId Relayout::cast(ValueId value, ElementType to, DeviceId device, const InternedProvenance& like) {
  ops::Cast cast;
  cast.to = to;
  return builder_.result(append(cast, {value}, like, nameOf(value, name(to)), device));
}

// Each pair adds in the order of the mesh, so that all devices have the same bits.
const SplitValue& Relayout::doubled(ValueId old, const SplitValue& value, const InternedProvenance& like) {
  const auto [found, isNew] = doubled_.try_emplace(old.index(), value);
  SplitValue& sums = found->second;
  if (!isNew) {
    return sums;
  }
  const bool narrow = isNarrow(value.whole.element);
  const auto all = [&](ElementType element) {
    for (size_t d = 0; d < mesh_.made(); ++d) {
      sums.parts[d] = cast(sums.parts[d], element, mesh_.devices[d], like);
    }
  };
  if (narrow) {
    all(ElementType::F32);
  }
  for (size_t distance = 1; distance < mesh_.size(); distance *= 2) {
    std::vector<ValueId> next(mesh_.size());
    for (size_t d = 0; d < mesh_.made(); ++d) {
      const ValueId low = partOf(sums, d & ~distance, like), high = partOf(sums, d | distance, like);
      note(old, value, mesh_.devices[d ^ distance], d < (d ^ distance) ? high : low, mesh_.devices[d],
           MovementKind::SumByDoubling);
      next[d] = builder_.result(append(combiner(value.layout.combine), {low, high}, like,
                                       nameOf(value.parts[0], "sum"), mesh_.devices[d]));
    }
    sums.parts = std::move(next);
  }
  if (narrow) {
    all(value.whole.element);
  }
  sums.layout = Layout::onAll();
  return sums;
}

const SplitValue& Relayout::scattered(ValueId old, const SplitValue& value, size_t axis,
                                      const InternedProvenance& like) {
  const auto [found, isNew] = scattered_.try_emplace(old.index());
  if (isNew) {
    SplitValue pieces{Layout::cut(axis),
                      value.whole,
                      {},
                      mesh_.devices,
                      rangesOf(value.whole.shape[axis], mesh_.shares),
                      row_};
    scattering_ = true;
    pieces.parts.resize(mesh_.size());
    for (size_t part = 0; part < mesh_.made(); ++part) {
      pieces.parts[part] =
          bring(old, value, Wanted::along(axis, pieces.ranges[part]), mesh_.devices[part], false, like);
    }
    scattering_ = false;
    scattered_[old.index()] = std::move(pieces);
  }
  return scattered_[old.index()];
}

ValueId Relayout::sliced(ValueId old, const SplitValue& value, size_t part, size_t axis, SplitRange range,
                         const InternedProvenance& like) {
  const ValueId from = partOf(value, part, like);
  const Shape& shape = builder_.soFar().typeOf(from).shape;
  const bool along = value.layout.isCut() && value.layout.axis == axis;
  const int64_t first = along ? value.ranges[part].begin : 0;
  ValueId& made = slices_[{old.index(), part, axis, range.begin, range.end}];
  if (!made.valid()) {
    const auto reader = std::exchange(row_, value.row);
    ops::Slice slice;
    slice.starts.assign(shape.rank(), 0);
    slice.ends.assign(shape.dims().begin(), shape.dims().end());
    slice.starts[axis] = range.begin - first;
    slice.ends[axis] = range.end - first;
    const bool all = slice.starts[axis] == 0 && slice.ends[axis] == shape[axis];
    made = all ? from : builder_.result(append(slice, {from}, like, nameOf(from, "part"), value.where[part]));
    row_ = reader;
  }
  return made;
}

ValueId Relayout::partOf(const SplitValue& value, size_t part, const InternedProvenance& like) {
  if (value.parts[part].valid()) {
    return value.parts[part];
  }
  const ValueId first = value.parts.front();
  ValueId& made = mirrors_[{first.index(), part}];
  if (made.valid()) {
    return made;
  }
  const Graph& graph = builder_.soFar();
  const OpRow& row = graph[graph[first].producer];
  const auto reader = std::exchange(row_, value.row);
  if (row.kind() != OpKind::Parameter) {
    made = mirrorOf(first, value, part, like);
  } else { // replicas of it are updated at the end of a step (compiler/transfer), and not sent at its begin
    ops::Parameter parameter = row.attributes.as<ops::Parameter>();
    if (value.layout.isCut()) {
      Dims dims(parameter.type.shape.dims().begin(), parameter.type.shape.dims().end());
      dims[value.layout.axis] = value.ranges[part].size();
      parameter.type.shape = Shape(dims);
    }
    made =
        builder_.result(append(std::move(parameter), {}, like, nameOf(first, "mirror"), value.where[part]));
    mirroredParameters_.push_back({first, made, value, part, like});
  }
  row_ = reader;
  return made;
}

// A copy of the first part, resized to the part's type. Its values are never used: a quotient is only
// simulated.
ValueId Relayout::mirrorOf(ValueId first, const SplitValue& value, size_t part,
                           const InternedProvenance& like) {
  const Shape shape = builder_.soFar().typeOf(first).shape;
  ops::Broadcast copy;
  copy.shape.assign(shape.dims().begin(), shape.dims().end());
  const ValueId made =
      builder_.result(append(copy, {first}, like, nameOf(first, "mirror"), value.where[part]));
  return value.layout.isCut()
             ? resized(made, value.layout.axis, value.ranges[part].size(), value.where[part], like)
             : made;
}

void Relayout::assignMirrors() {
  llvm::DenseMap<ValueId, ValueId> next; // by parameter
  for (const OpId assign : builder_.soFar().opsOf(OpKind::Assign)) {
    const auto& operands = builder_.soFar()[assign].operands;
    next[operands[0]] = operands[1];
  }
  for (const MirroredParameter& one : mirroredParameters_) {
    if (const auto found = next.find(one.first); found != next.end()) {
      row_ = one.value.row;
      const ValueId copy = mirrorOf(found->second, one.value, one.part, one.like);
      append(ops::Assign{}, {one.mirror, copy}, one.like, nameOf(one.mirror, "next"),
             one.value.where[one.part]);
    }
  }
}

ValueId Relayout::resized(ValueId value, size_t axis, int64_t length, DeviceId device,
                          const InternedProvenance& like) {
  const Shape shape = builder_.soFar().typeOf(value).shape;
  if (length == shape[axis]) {
    return value;
  }
  if (length < shape[axis]) {
    ops::Slice slice;
    slice.starts.assign(shape.rank(), 0);
    slice.ends.assign(shape.dims().begin(), shape.dims().end());
    slice.ends[axis] = length;
    return builder_.result(append(slice, {value}, like, nameOf(value, "part"), device));
  }
  ops::Pad pad;
  pad.low.assign(shape.rank(), 0);
  pad.high.assign(shape.rank(), 0);
  pad.interior.assign(shape.rank(), 0);
  pad.high[axis] = length - shape[axis];
  return builder_.result(append(pad, {value}, like, nameOf(value, "part"), device));
}

ValueId Relayout::share(ValueId old, const SplitValue& value, size_t part, const InternedProvenance& like) {
  if (value.layout == Layout::partial(SplitKind::Sum)) {
    return partOf(value, part, like);
  }
  if (part == 0) {
    return bring(old, value, Wanted::all(), mesh_.devices[0], false, like);
  }
  Literal zero(TensorType{value.whole.element, Shape({})});
  const ValueId scalar = builder_.result(
      append(ops::Constant{{}, zero}, {}, like, nameOf(value.parts[0], "zero"), mesh_.devices[part]));
  ops::Broadcast zeros;
  zeros.shape.assign(value.whole.shape.dims().begin(), value.whole.shape.dims().end());
  return builder_.result(append(zeros, {scalar}, like, nameOf(value.parts[0], "zeros"), mesh_.devices[part]));
}

OpId Relayout::append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands,
                      const InternedProvenance& like, std::string_view name, DeviceId device) {
  InternedProvenance provenance = like;
  provenance.name = builder_.intern(name);
  provenance.pin = builder_.intern(machine_.devices[pinned(device)].name);
  const OpId op = builder_.appendInterned(std::move(attributes), operands, provenance);
  DFC_ASSERT(op.valid(), "splitting made an ill-typed op: " + render(builder_.errors()));
  return op;
}

void Relayout::note(ValueId old, const SplitValue& value, DeviceId from, ValueId sent, DeviceId to,
                    MovementKind kind) {
  if (pinned(from, value.row) != pinned(to)) {
    movements_.push_back({sent, pinned(to), kind, old.index()});
  }
}

DeviceId Relayout::pinned(DeviceId device, llvm::ArrayRef<DeviceId> row) const {
  const auto found = llvm::find(mesh_.devices, device);
  return row.empty() || found == mesh_.devices.end()
             ? device
             : row[static_cast<size_t>(found - mesh_.devices.begin())];
}

std::string Relayout::nameOf(ValueId part, std::string_view suffix) const {
  return fmt::format("{}.{}", builder_.soFar().nameOf(part), suffix);
}

} // namespace dfc
