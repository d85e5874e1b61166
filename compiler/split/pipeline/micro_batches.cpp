#include "compiler/split/pipeline/micro_batches.h"

#include "compiler/split/pipeline/batch_choices.h"
#include "compiler/split/sum_form.h"
#include "ir/graph/micro_batch.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <utility>

namespace dfc {
namespace {

/// A value in the new graph.
struct Parted {
  ValueId whole;              ///< invalid until an op reads it, or a micro-batch has added to it
  std::vector<ValueId> parts; ///< of the batch, by micro-batch
  ValueId sum;                ///< of the parts so far
};

class BatchMaker {
 public:
  BatchMaker(const Graph& graph, const BatchChoices& choices, size_t made)
      : graph_(graph), choices_(choices), count_(made), builder_(graph), values_(graph.valueCount()) {}

  Graph run() {
    uint32_t last = 0;
    for (const OpId op : graph_.ops()) {
      last = std::max(last, choices_.of(op).phase);
    }
    std::vector<std::vector<OpId>> phases(last + 1);
    for (const OpId op : graph_.ops()) {
      phases[choices_.of(op).phase].push_back(op);
    }
    for (const std::vector<OpId>& phase : phases) {
      for (const OpId op : phase) {
        if (choices_.of(op).whole) {
          addWhole(op);
        }
      }
      for (size_t part = 0; part < count_; ++part) {
        part_ = part;
        for (const OpId op : phase) {
          if (!choices_.of(op).whole) {
            addPart(op, part);
          }
        }
      }
      part_.reset();
    }
    for (const Fetch& fetch : graph_.fetches()) {
      builder_.fetch(graph_.text(fetch.name), wholeOf(fetch.value));
    }
    auto made = std::move(builder_).finish();
    DFC_ASSERT(made.ok(), "micro-batches broke the graph: " + render(made.errors()));
    return *std::move(made);
  }

 private:
  void addWhole(OpId op) {
    llvm::SmallVector<ValueId, 4> operands;
    for (const ValueId operand : graph_[op].operands) {
      operands.push_back(wholeOf(operand));
    }
    const OpId made = append(graph_[op].attributes, operands, op, graph_.nameOf(op));
    for (uint32_t i = 0; i < graph_[op].resultCount; ++i) {
      const ValueId old(graph_[op].firstResult.index() + i);
      values_[old].whole = builder_.result(made, i);
      if (i > 0) {
        builder_.rename(values_[old].whole, graph_[old].name);
      }
    }
  }

  void addPart(OpId op, size_t number) {
    const OpRow& row = graph_[op];
    const OpOption& option = choices_.of(op).option;
    const std::string name = fmt::format("{}.batch{}", graph_.nameOf(op), number);
    llvm::SmallVector<ValueId, 4> operands;
    if (option.form == OpOption::Form::Linear) {
      for (size_t i = 0; i < row.operands.size(); ++i) {
        operands.push_back(option.operands[i].isPartial() ? values_[row.operands[i]].parts[number]
                                                          : wholeOf(row.operands[i]));
      }
      note(op, append(row.attributes, operands, op, name));
      return;
    }
    const SplitRule rule = ruleOf(graph_, op);
    const SplitFactor& factor = rule.factors[option.factor];
    const auto operandTypes = graph_.operandTypesOf(op), resultTypes = graph_.resultTypesOf(op);
    const SplitPart part{factor, choices_.of(op).positions[number], operandTypes, resultTypes};
    for (size_t i = 0; i < row.operands.size(); ++i) {
      operands.push_back(operandOf(op, i, part, number));
    }
    OpAttributes attributes = partOf(row.attributes, part);
    if (auto* input = attributes.getIf<ops::Input>()) {
      input->of = input->of.empty() ? std::string(graph_.nameOf(op)) : input->of;
      input->part.restrictTo(0, part.range, part.results[0].shape);
    }
    note(op, append(std::move(attributes), operands, op, name));
  }

  ValueId operandOf(OpId op, size_t i, const SplitPart& part, size_t number) {
    const ValueId old = graph_[op].operands[i];
    const SplitAxis& at = part.factor.operands[i];
    if (choices_.of(op).accumulator == i) {
      const ValueId soFar = values_[graph_[op].firstResult].whole;
      return soFar.valid() ? soFar : wholeOf(old);
    }
    if (choices_.layout(old) != Layout::onAll() && !choices_.of(op).joins[i]) {
      return values_[old].parts[number];
    }
    return at.cut() ? slice(wholeOf(old), at.axis, at.elements(part.range), graph_[old].producer)
                    : wholeOf(old);
  }

  ValueId slice(ValueId whole, size_t axis, SplitRange range, OpId like) {
    const Shape& shape = builder_.soFar().typeOf(whole).shape;
    ops::Slice slice;
    slice.starts.assign(shape.rank(), 0);
    slice.ends.assign(shape.dims().begin(), shape.dims().end());
    slice.starts[axis] = range.begin;
    slice.ends[axis] = range.end;
    return builder_.result(append(slice, {whole}, like, nameOf(whole, "part")));
  }

  void note(OpId op, OpId made) {
    for (uint32_t i = 0; i < graph_[op].resultCount; ++i) {
      const ValueId old(graph_[op].firstResult.index() + i);
      Parted& value = values_[old];
      if (choices_.of(op).accumulator) {
        value.whole = builder_.result(made, i);
        continue;
      }
      value.parts.push_back(builder_.result(made, i));
      if (choices_.layout(old).isPartial() && choices_.isJoined(old)) {
        addTo(value, old);
      }
    }
  }

  // As soon as it is made: no two parts of a gradient are alive.
  void addTo(Parted& value, ValueId old) {
    const OpId like = graph_[old].producer;
    ValueId next = value.parts.back();
    if (isNarrow(graph_.typeOf(old).element)) {
      next = cast(next, ElementType::F32, like);
    }
    value.sum = value.sum.valid()
                    ? builder_.result(append(combiner(choices_.layout(old).combine), {value.sum, next}, like,
                                             fmt::format("{}.sum", graph_.nameOf(old))))
                    : next;
  }

  ValueId wholeOf(ValueId old) {
    Parted& value = values_[old];
    const OpId like = graph_[old].producer;
    if (value.whole.valid()) {
      return value.whole;
    }
    const auto part = std::exchange(part_, std::nullopt); // it belongs to none
    if (choices_.layout(old).isCut()) {
      ops::Concat joined;
      joined.axis = choices_.layout(old).axis;
      std::vector<ValueId> parts = value.parts;
      parts.resize(choices_.count(), parts.back()); // stand for micro-batches that are not made
      value.whole = builder_.result(append(joined, parts, like, graph_.nameOf(old)));
    } else {
      const ElementType element = graph_.typeOf(old).element;
      value.whole = isNarrow(element) ? cast(value.sum, element, like) : value.sum;
    }
    part_ = part;
    return value.whole;
  }

  ValueId cast(ValueId value, ElementType to, OpId like) {
    ops::Cast cast;
    cast.to = to;
    return builder_.result(append(cast, {value}, like, nameOf(value, name(to))));
  }

  std::string nameOf(ValueId value, std::string_view suffix) const {
    return fmt::format("{}.{}", builder_.soFar().nameOf(value), suffix);
  }

  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, OpId like, std::string_view name) {
    InternedProvenance provenance = graph_.provenanceOf(like);
    provenance.name = builder_.intern(name);
    provenance.scope = scopeOf(like);
    const OpId op = builder_.appendInterned(std::move(attributes), operands, provenance);
    DFC_ASSERT(op.valid(), "micro-batches made an ill-typed op: " + render(builder_.errors()));
    return op;
  }

  // A scope for each part: fusion stays within scopes, and a sum that is fused with the next would keep the
  // gradients of both parts.
  StringId scopeOf(OpId like) {
    if (!part_) {
      return graph_[like].scope;
    }
    return builder_.intern(microBatchScope(*part_, graph_.scopeOf(like)));
  }

  const Graph& graph_;
  const BatchChoices& choices_;
  size_t count_;
  std::optional<size_t> part_; // that ops are made for
  GraphBuilder builder_;
  SideTable<ValueId, Parted> values_;
};

} // namespace

std::optional<Graph> microBatches(const Graph& graph, size_t count, std::optional<size_t> made) {
  if (count < 2) {
    return std::nullopt;
  }
  BatchChoices choices(graph, count);
  choices.choose();
  return microBatches(graph, choices, made.value_or(count));
}

std::optional<Graph> microBatches(const Graph& graph, const BatchChoices& choices, size_t made) {
  const size_t most = std::clamp<size_t>(made, 1, choices.count());
  if (!choices.any() || (most < choices.count() && !choices.isEven())) {
    return std::nullopt;
  }
  return BatchMaker(graph, choices, most).run();
}

} // namespace dfc
