// The preparation's graph is written anew with the parameters of the placed step, by name, and with assigns
// in place of fetches; pins say where each op runs. From there on it is planned as any graph is. Parameters
// that it reads on another device are transferred: it runs seldom, and a replica would take memory.
#include "compiler/plan_preparation.h"

#include "compiler/lower_options.h"
#include "compiler/place/place.h"
#include "compiler/plan_placement.h"
#include "compiler/run_passes.h"
#include "ir/plan/state/parameter_rows.h"

#include <llvm/ADT/STLExtras.h>

#include <map>

namespace dfc {
namespace {

class PreparationWriter {
 public:
  PreparationWriter(const Graph& preparation, const PlacedGraph& step, const Machine& machine)
      : old_(preparation), step_(step), machine_(machine), builder_(preparation.name()),
        made_(preparation.valueCount()) {
    for (ParameterRow& row : parametersOf(step)) {
      rows_.emplace(row.name, std::move(row));
    }
  }

  Result<Graph> run() {
    addParameters();
    for (const OpId op : old_.ops()) {
      if (old_[op].kind() != OpKind::Parameter) {
        copy(op);
      }
    }
    for (const Fetch& fetch : old_.fetches()) {
      assignAll(rows_.at(std::string(old_.text(fetch.name))), made_[fetch.value]);
    }
    pinAll();
    return std::move(builder_).finish();
  }

 private:
  /// A parameter of the step; those come first, so that they keep their names.
  ValueId addParameter(ValueId ofStep) {
    ops::Parameter parameter;
    parameter.type = step_.graph.typeOf(ofStep);
    parameter.ofPlan = true;
    const ValueId value = append(std::move(parameter), {}, step_.graph.nameOf(ofStep));
    device_[builder_.soFar()[value].producer] = step_.device[step_.graph[ofStep].producer];
    return value;
  }

  void addParameters() {
    std::vector<std::pair<OpId, std::vector<ParameterPart>>> read;
    for (const OpId op : old_.opsOf(OpKind::Parameter)) {
      read.emplace_back(op, addParts(rows_.at(std::string(old_.nameOf(op)))));
    }
    for (const Fetch& fetch : old_.fetches()) {
      for (const ParameterPart& copy : rows_.at(std::string(old_.text(fetch.name))).copies) {
        target_[copy.value] = addParameter(copy.value);
      }
    }
    for (auto& [op, parts] : read) {
      made_[old_[op].firstResult] = joined(std::move(parts), old_.nameOf(op));
    }
  }

  std::vector<ParameterPart> addParts(const ParameterRow& row) {
    std::vector<ParameterPart> parts;
    for (const ParameterPart& part : row.parts) {
      parts.push_back({addParameter(part.value), part.place});
    }
    return parts;
  }

  /// Parts follow one another along one axis (verifyWholeState).
  ValueId joined(std::vector<ParameterPart> parts, std::string_view name) {
    if (parts.size() == 1) {
      return parts.front().value;
    }
    llvm::sort(parts, [](const auto& a, const auto& b) {
      return std::lexicographical_compare(a.place.starts.begin(), a.place.starts.end(),
                                          b.place.starts.begin(), b.place.starts.end());
    });
    ops::Concat concat;
    const Dims& last = parts.back().place.starts;
    concat.axis =
        std::find_if(last.begin(), last.end(), [](int64_t start) { return start > 0; }) - last.begin();
    llvm::SmallVector<ValueId, 8> operands;
    for (const ParameterPart& part : parts) {
      operands.push_back(part.value);
    }
    return append(concat, operands, name);
  }

  void copy(OpId op) {
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : old_[op].operands) {
      operands.push_back(made_[operand]);
    }
    const Provenance provenance{old_.nameOf(op), old_.scopeOf(op), {}, old_.locationOf(op)};
    const OpId copied = builder_.append(old_[op].attributes, operands, provenance);
    device_.resize(builder_.soFar().opCount());
    for (uint32_t i = 0; i < old_[op].resultCount; ++i) {
      made_[ValueId(old_[op].firstResult.index() + i)] = builder_.result(copied, i);
    }
  }

  // The device that computes a value slices it, so that a transfer to another device carries one shard.
  void assignAll(const ParameterRow& row, ValueId whole) {
    const DeviceId home = deviceOf(row.copies.front());
    setDevice(whole, home);
    std::map<std::pair<Dims, ElementType>, ValueId> cut;
    for (const ParameterPart& copy : row.copies) {
      const TensorType& type = step_.graph.typeOf(copy.value);
      ValueId& part = cut[{copy.place.starts, type.element}];
      if (!part.valid()) {
        part = narrowed(partOf(whole, copy.place, type.shape, home), type.element, home);
      }
      const ValueId assigned = append(ops::Assign{}, {target_[copy.value], part}, "");
      setDevice(assigned, deviceOf(copy));
    }
  }

  ValueId partOf(ValueId whole, const TensorPart& place, const Shape& shape, DeviceId home) {
    if (!place.isPart()) {
      return whole;
    }
    ops::Slice slice;
    slice.starts = place.starts;
    slice.ends = place.starts;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      slice.ends[axis] += shape[axis];
    }
    const ValueId part = append(std::move(slice), {whole}, builder_.soFar().nameOf(whole));
    setDevice(part, home);
    return part;
  }

  ValueId narrowed(ValueId value, ElementType element, DeviceId home) {
    if (builder_.soFar().typeOf(value).element == element) {
      return value;
    }
    ops::Cast cast;
    cast.to = element;
    const ValueId narrow = append(cast, {value}, builder_.soFar().nameOf(value));
    setDevice(narrow, home);
    return narrow;
  }

  DeviceId deviceOf(const ParameterPart& copy) const {
    return step_.device[step_.graph[copy.value].producer];
  }

  void setDevice(ValueId value, DeviceId device) {
    DeviceId& of = device_[builder_.soFar()[value].producer];
    of = of.valid() ? of : device;
  }

  // An op without a device runs where its first reader does.
  void pinAll() {
    const Graph& graph = builder_.soFar();
    for (auto index = static_cast<uint32_t>(graph.opCount()); index-- > 0;) {
      const OpId op(index);
      for (const ValueId operand : graph[op].operands) {
        wish_[graph[operand].producer] = deviceOrWish(op);
      }
    }
    for (const OpId op : graph.ops()) {
      builder_.repin(op, machine_.devices[deviceOrWish(op)].name);
    }
  }

  DeviceId deviceOrWish(OpId op) {
    if (device_[op].valid()) {
      return device_[op];
    }
    const auto found = wish_.find(op);
    return found != wish_.end() ? found->second : machine_.host();
  }

  ValueId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, std::string_view name) {
    const OpId op = builder_.append(std::move(attributes), operands, {name});
    DFC_ASSERT(op.valid(), "an op of the preparation is ill-typed: " + render(builder_.errors()));
    device_.resize(op.index() + 1);
    return builder_.result(op);
  }

  const Graph& old_;
  const PlacedGraph& step_;
  const Machine& machine_;
  GraphBuilder builder_;
  std::map<std::string, ParameterRow, std::less<>> rows_;
  SideTable<ValueId, ValueId> made_;  // of the old graph's values
  std::map<ValueId, ValueId> target_; // of a prepared parameter of the step: its own
  SideTable<OpId, DeviceId> device_;  // of new ops; invalid: open
  std::map<OpId, DeviceId> wish_;
};

} // namespace

Result<Executable> planPreparation(const Graph& preparation, const PlacedGraph& step, const Machine& machine,
                                   const CostModel& cost, const CompileOptions& options) {
  CompileOptions quiet = options;
  quiet.observer = nullptr;
  quiet.pins.clear();
  auto written = PreparationWriter(preparation, step, machine).run();
  auto fused = written ? runPasses(PassPhase::Fuse, *std::move(written), machine, quiet)
                       : Result<Graph>(written.errors());
  auto placement =
      fused ? place(*fused, machine, cost, "pins", lowerOptionsOf(quiet)) : Result<Placement>(fused.errors());
  return placement ? planPlacement(*placement, machine, cost, quiet, Replicas::Transferred)
                   : Result<Executable>(placement.errors());
}

} // namespace dfc
