#include "compiler/split/expand_split.h"

#include "compiler/split/homes.h"
#include "compiler/split/relayout.h"
#include "compiler/split/split_ranges.h"
#include "compiler/split/sum_form.h"
#include "ir/graph/micro_batch.h"
#include "ir/graph/whole_state.h"

#include <fmt/format.h>
#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace dfc {
namespace {

using Form = OpOption::Form;

class Expander {
 public:
  Expander(const Graph& graph, const SplitPlan& plan, const Machine& machine)
      : graph_(graph), plan_(plan), mesh_(plan.mesh), machine_(machine), builder_(graph),
        relayout_(builder_, plan.mesh, machine, plan.splitAgain), home_(homesOf(graph, plan)),
        values_(graph.valueCount()), wantedByAll_(findWantedByAll()) {}

  Graph run() {
    for (const OpId op : graph_.ops()) {
      const OpOption& option = plan_.option[op];
      enterRowOf(op);
      if (option.form == Form::Parts) {
        addParts(op, option);
      } else {
        addWholes(op, option);
      }
      offerSums(op);
    }
    relayout_.assignMirrors();
    addFetches();
    auto made = std::move(builder_).finish();
    DFC_ASSERT(made.ok(), "splitting broke the graph: " + render(made.errors()));
    return *std::move(made);
  }
  const std::vector<Movement>& movements() const { return relayout_.movements(); }

 private:
  // Devices and ranges of the parts that mirrors hold; the parts are made on demand (`Relayout::partOf`).
  void noteMirrored(OpId op, const OpOption& option, const SplitFactor* factor,
                    llvm::ArrayRef<SplitRange> positions) {
    for (uint32_t i = 0; mesh_.mirrored && i < graph_[op].resultCount; ++i) {
      SplitValue& value = values_[ValueId(graph_[op].firstResult.index() + i)];
      for (size_t d = 1; d < mesh_.size(); ++d) {
        value.parts.emplace_back();
        value.where.push_back(graph_[op].kind() == OpKind::Input ? mesh_.host : mesh_.devices[d]);
        if (factor != nullptr && option.results[i].isCut()) {
          value.ranges.push_back(factor->results[i].elements(positions[d]));
        }
      }
    }
  }

  void enterRowOf(OpId op) {
    if (!plan_.rows.devices.empty()) { // inputs stay on the host
      const bool isInput = graph_[op].kind() == OpKind::Input;
      relayout_.pinTo(isInput ? llvm::ArrayRef<DeviceId>()
                              : llvm::ArrayRef<DeviceId>(plan_.rows.devices[plan_.rows.of[op]]));
    }
  }

  // Small sums that some reader wants whole on every device.
  void offerSums(OpId op) {
    for (const ValueId old : graph_[op].results()) {
      const SplitValue& value = values_[old];
      if (value.layout == Layout::partial(SplitKind::Sum) && isSmall(value.whole) && wantedByAll_[old]) {
        relayout_.offer(old, value);
      }
    }
  }

  SideTable<ValueId, bool> findWantedByAll() const {
    SideTable<ValueId, bool> wanted(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      for (size_t i = 0; i < graph_[op].operands.size(); ++i) {
        const bool all = plan_.option[op].operands[i].form == Layout::Form::OnAll;
        wanted[graph_[op].operands[i]] = wanted[graph_[op].operands[i]] || all;
      }
    }
    return wanted;
  }

  // On one device, on all, or on all of partial sums.
  void addWholes(OpId op, const OpOption& option) {
    const OpRow& row = graph_[op];
    const bool one = option.form == Form::OnOne;
    for (size_t part = 0; part < (one ? 1 : mesh_.made()); ++part) {
      const DeviceId device = one ? homeOf(op) : mesh_.devices[part];
      llvm::SmallVector<ValueId, 4> operands;
      for (size_t i = 0; i < row.operands.size(); ++i) {
        const ValueId operand = row.operands[i];
        operands.push_back(option.operands[i].isPartial()
                               ? relayout_.share(operand, values_[operand], part, like(op))
                               : broughtWhole(op, operand, device, !one));
      }
      OpAttributes attributes = row.attributes;
      if (!one) {
        nameCopy(attributes, op);
      }
      note(op, option, append(std::move(attributes), operands, op, device, one), device, {});
    }
    if (!one) {
      noteMirrored(op, option, nullptr, {});
    }
  }

  void addParts(OpId op, const OpOption& option) {
    const OpRow& row = graph_[op];
    const SplitRule rule = ruleOf(graph_, op);
    const SplitFactor& factor = rule.factors[option.factor];
    const auto operandTypes = graph_.operandTypesOf(op), resultTypes = graph_.resultTypesOf(op);
    const std::vector<SplitRange> ranges = positionsOf(op, factor);
    for (size_t d = 0; d < mesh_.made(); ++d) {
      const DeviceId device = row.kind() == OpKind::Input ? mesh_.host : mesh_.devices[d];
      const SplitPart part{factor, ranges[d], operandTypes, resultTypes};
      llvm::SmallVector<ValueId, 4> operands;
      for (size_t i = 0; i < row.operands.size(); ++i) {
        operands.push_back(operandOf(op, i, part, d));
      }
      OpAttributes attributes = partOf(row.attributes, part);
      namePart(attributes, op, part);
      note(op, option, append(std::move(attributes), operands, op, device, false), device, part);
    }
    noteMirrored(op, option, &factor, ranges);
  }

  ValueId operandOf(OpId op, size_t i, const SplitPart& part, size_t d) {
    const ValueId old = graph_[op].operands[i];
    const SplitAxis& at = part.factor.operands[i];
    if (at.form == SplitAxis::Form::Partial) {
      return relayout_.share(old, values_[old], d, like(op));
    }
    return at.cut() ? relayout_.bring(old, values_[old], Wanted::along(at.axis, at.elements(part.range)),
                                      mesh_.devices[d], false, like(op))
                    : broughtWhole(op, old, mesh_.devices[d], true);
  }

  ValueId broughtWhole(OpId reader, ValueId old, DeviceId device, bool byAll) {
    const SplitValue& value = values_[old];
    const OpId producer = graph_[old].producer;
    if (!plan_.gathers || !value.layout.isCut() || graph_[producer].kind() != OpKind::Parameter) {
      return relayout_.bring(old, value, Wanted::all(), device, byAll, like(reader));
    }
    const auto& [id, sent] = sentTo(reader, old);
    return relayout_.bring(id, sent, Wanted::all(), device, byAll, like(reader));
  }

  // A gathered parameter for one reader. Devices keep replicas of parameters that they read
  // (compiler/transfer), so the parts are copied to ordinary values first, and gathered once per reader,
  // after which the whole is freed.
  const std::pair<ValueId, SplitValue>& sentTo(OpId reader, ValueId old) {
    const auto [found, isNew] = sent_.try_emplace({old.index(), reader.index()}, ValueId(), values_[old]);
    auto& [id, sent] = found->second;
    if (!isNew) {
      return found->second;
    }
    id = relayout_.newId();
    InternedProvenance like = this->like(graph_[old].producer);
    if (microBatchOf(graph_.scopeOf(reader))) { // each gathers it anew
      like.scope = graph_[reader].scope;
    }
    for (size_t part = 0; part < mesh_.made(); ++part) {
      const Shape& shape = builder_.soFar().typeOf(sent.parts[part]).shape;
      ops::Broadcast copy;
      copy.shape.assign(shape.dims().begin(), shape.dims().end());
      const std::string name = fmt::format("{}.sent", builder_.soFar().nameOf(sent.parts[part]));
      sent.parts[part] = builder_.result(
          relayout_.append(std::move(copy), {sent.parts[part]}, like, name, sent.where[part]));
    }
    return found->second;
  }

  /// The positions of each part: those of the largest operand that is cut already, where they are positions
  /// of this factor; else by the shares.
  std::vector<SplitRange> positionsOf(OpId op, const SplitFactor& factor) const {
    const OpRow& row = graph_[op];
    std::optional<std::vector<SplitRange>> best;
    int64_t most = -1;
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const SplitValue& value = values_[row.operands[i]];
      const SplitAxis& at = factor.operands[i];
      if (value.layout.isCut() && at.form == SplitAxis::Form::Forward && at.axis == value.layout.axis &&
          value.whole.bytes() > most) {
        auto positions = positionsAt(value, at, factor.extent);
        if (positions && partsAreTyped(graph_, op, factor, *positions)) {
          best = std::move(positions);
          most = value.whole.bytes();
        }
      }
    }
    if (best) {
      return *std::move(best);
    }
    auto aligned = rangesOf(factor.extent, mesh_.shares, granuleOf(op, factor));
    return partsAreTyped(graph_, op, factor, aligned) ? aligned : rangesOf(factor.extent, mesh_.shares);
  }

  static std::optional<std::vector<SplitRange>> positionsAt(const SplitValue& value, const SplitAxis& at,
                                                            int64_t extent) {
    std::vector<SplitRange> positions;
    int64_t begin = 0;
    for (size_t part = 0; part < value.ranges.size(); ++part) {
      const int64_t end =
          part + 1 == value.ranges.size() ? extent * at.stride - at.low : value.ranges[part].end;
      if ((end + at.low) % at.stride != 0) {
        return std::nullopt;
      }
      const int64_t next = (end + at.low) / at.stride;
      if (next <= begin || next > extent) {
        return std::nullopt;
      }
      positions.push_back({begin, next});
      begin = next;
    }
    return begin == extent ? std::optional(std::move(positions)) : std::nullopt;
  }

  // Ends of parts at multiples of 16 bytes of the innermost axis, which library kernels need for full speed.
  int64_t granuleOf(OpId op, const SplitFactor& factor) const {
    const SplitAxis& at = factor.results[0];
    const TensorType& type = graph_.typeOf(graph_[op].firstResult);
    return at.cut() && at.axis + 1 == type.shape.rank() ? 8 : 1;
  }

  // Parameters and inputs keep the author's name: state and feeds are given as of the unsplit graph.
  void nameCopy(OpAttributes& attributes, OpId op) const {
    if (auto* parameter = attributes.getIf<ops::Parameter>()) {
      parameter->of = authorNameOf(graph_, op);
    }
  }

  void namePart(OpAttributes& attributes, OpId op, const SplitPart& part) const {
    if (!attributes.is<ops::Parameter>() && !attributes.is<ops::Input>()) {
      return;
    }
    TensorPart place = placeOf(graph_, op); // it may be a part already
    const SplitAxis& at = part.factor.results[0];
    place.restrictTo(at.axis, at.elements(part.range), part.results[0].shape);
    if (auto* parameter = attributes.getIf<ops::Parameter>()) {
      parameter->of = authorNameOf(graph_, op);
      parameter->part = place;
    } else {
      auto& input = attributes.as<ops::Input>();
      input.of = authorNameOf(graph_, op);
      input.part = place;
    }
  }

  DeviceId homeOf(OpId op) const {
    return graph_[op].kind() == OpKind::Input ? mesh_.host : mesh_.devices[home_[op]];
  }

  InternedProvenance like(OpId op) const { return graph_.provenanceOf(op); }

  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, OpId op, DeviceId device, bool one) {
    const std::string name =
        one ? std::string(graph_.nameOf(op)) : fmt::format("{}.{}", graph_.nameOf(op), suffixOf(op, device));
    return relayout_.append(std::move(attributes), operands, like(op), name, device);
  }

  std::string suffixOf(OpId op, DeviceId device) const {
    return graph_[op].kind() == OpKind::Input
               ? fmt::format("part{}", values_[graph_[op].firstResult].parts.size())
               : machine_.devices[relayout_.pinned(device)].name;
  }

  // The results of one part of an op. Without a part: of the op as a whole.
  void note(OpId op, const OpOption& option, OpId made, DeviceId device, std::optional<SplitPart> part) {
    for (uint32_t i = 0; i < graph_[op].resultCount; ++i) {
      const ValueId old(graph_[op].firstResult.index() + i);
      SplitValue& value = values_[old];
      value.layout = option.results[i];
      value.whole = graph_.typeOf(old);
      value.row = relayout_.row();
      value.parts.push_back(builder_.result(made, i));
      value.where.push_back(device);
      if (part && value.layout.isCut()) {
        value.ranges.push_back(part->factor.results[i].elements(part->range));
      }
    }
  }

  void addFetches() {
    for (const Fetch& fetch : graph_.fetches()) {
      const OpId op = graph_[fetch.value].producer;
      enterRowOf(op);
      const SplitValue& value = values_[fetch.value];
      const DeviceId device = value.layout.isCut() ? mesh_.host : mesh_.devices[0];
      builder_.fetch(graph_.text(fetch.name),
                     relayout_.bring(fetch.value, value, Wanted::all(), device, false, like(op)));
    }
  }

  const Graph& graph_;
  const SplitPlan& plan_;
  const Mesh& mesh_;
  const Machine& machine_;
  GraphBuilder builder_;
  Relayout relayout_;
  SideTable<OpId, size_t> home_;
  SideTable<ValueId, SplitValue> values_;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<ValueId, SplitValue>>
      sent_; // gathered parameters, by parameter and reader
  SideTable<ValueId, bool> wantedByAll_;
};

} // namespace

Graph expandSplit(const Graph& graph, const SplitPlan& plan, const Machine& machine,
                  std::vector<Movement>* movements) {
  Expander expander(graph, plan, machine);
  Graph split = expander.run();
  if (movements != nullptr) {
    *movements = expander.movements();
  }
  return split;
}

} // namespace dfc
