#include "compiler/split/pipeline/micro_batches.h"

#include "compiler/split/op_options.h"
#include "compiler/split/split_ranges.h"
#include "compiler/split/sum_form.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace dfc {
namespace {

/// How an op of the old graph runs: whole, once, or in parts.
struct Choice {
  bool whole = true;
  OpOption option = {};
  std::vector<SplitRange> positions = {}; ///< of the factor, by part
  llvm::SmallVector<bool, 4> joins = {};  ///< by operand: whether the whole of a value in parts is read
  /// The ops of a phase need wholes of earlier phases only, so that a phase can run part by part.
  uint32_t phase = 0;
};

/// Decides, op by op, in the order of the graph.
class BatchChooser {
 public:
  BatchChooser(const Graph& graph, size_t count)
      : graph_(graph), shares_(count, 1.0 / static_cast<double>(count)), batch_(batchOf(graph)),
        choices_(graph.opCount()), layouts_(graph.valueCount(), Layout::onAll()), ranges_(graph.valueCount()),
        joined_(graph.valueCount(), false) {}

  bool run() {
    bool any = false;
    for (const OpId op : graph_.ops()) {
      choose(op);
      any = any || (!choices_[op].whole && graph_[op].kind() != OpKind::Input);
    }
    for (const Fetch& fetch : graph_.fetches()) {
      joined_[fetch.value] = true;
    }
    return any;
  }

  size_t count() const { return shares_.size(); }
  const Choice& of(OpId op) const { return choices_[op]; }
  const Layout& layout(ValueId value) const { return layouts_[value]; }
  /// Whether somebody reads the whole of a value that is in parts.
  bool isJoined(ValueId value) const { return joined_[value]; }

 private:
  // The length of the first axis of the largest input.
  static int64_t batchOf(const Graph& graph) {
    int64_t most = 0, batch = 0;
    for (const OpId op : graph.opsOf(OpKind::Input)) {
      const TensorType& type = graph.typeOf(graph[op].firstResult);
      if (type.shape.rank() > 0 && type.bytes() > most) {
        most = type.bytes();
        batch = type.shape[0];
      }
    }
    return batch;
  }

  void choose(OpId op) {
    const OpRow& row = graph_[op];
    Choice& choice = choices_[op];
    const auto inParts = [&](ValueId value) { return layouts_[value] != Layout::onAll(); };
    if (row.kind() == OpKind::Input
            ? isOfBatch(op)
            : classOf(row.kind()) != OpClass::State && llvm::any_of(row.operands, inParts)) {
      findOption(op, choice);
    }
    if (choice.whole) {
      for (const ValueId operand : row.operands) {
        choice.joins.push_back(inParts(operand));
      }
    }
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const ValueId operand = row.operands[i];
      joined_[operand] = joined_[operand] || choice.joins[i];
      choice.phase =
          std::max(choice.phase, choices_[graph_[operand].producer].phase + (choice.joins[i] ? 1 : 0));
    }
    for (uint32_t i = 0; i < row.resultCount && !choice.whole; ++i) {
      const ValueId result(row.firstResult.index() + i);
      layouts_[result] = choice.option.results[i];
      if (layouts_[result].isCut()) {
        const SplitRule rule = ruleOf(graph_, op);
        for (const SplitRange& range : choice.positions) {
          ranges_[result].push_back(rule.factors[choice.option.factor].results[i].elements(range));
        }
      }
    }
  }

  bool isOfBatch(OpId input) const {
    const Shape& shape = graph_.typeOf(graph_[input].firstResult).shape;
    return shape.rank() > 0 && shape[0] == batch_ && batch_ >= static_cast<int64_t>(count());
  }

  // The option with the fewest joins of pieces, then of sums, if it uses an operand in parts as it is.
  void findOption(OpId op, Choice& choice) const {
    const OptionLimits limits{shares_, false, false, OptionSpace::All};
    const SplitRule rule = ruleOf(graph_, op);
    size_t least = never;
    for (OpOption& option : optionsOf(graph_, op, rule, limits)) {
      Choice tried{false, std::move(option)};
      const size_t joins = fill(op, rule, tried);
      if (joins < least) {
        least = joins;
        choice = std::move(tried);
      }
    }
  }

  static constexpr size_t never = std::numeric_limits<size_t>::max();

  /// Sets the positions and joins of an option, and gives the number of joins, of pieces a hundred times.
  size_t fill(OpId op, const SplitRule& rule, Choice& choice) const {
    const OpRow& row = graph_[op];
    const OpOption& option = choice.option;
    if (option.form == OpOption::Form::Parts) {
      if (row.kind() == OpKind::Input && option.results[0] != Layout::cut(0)) {
        return never;
      }
      choice.positions = positionsOf(op, option, rule.factors[option.factor]);
      if (!partsAreTyped(graph_, op, rule.factors[option.factor], choice.positions)) {
        return never;
      }
    } else if (row.kind() != OpKind::Cast && row.kind() != OpKind::Transpose &&
               classOf(row.kind()) != OpClass::View) {
      // Sums pass through nothing but what changes their type or shape: else an op on tensors of the size of
      // parameters would run once a part.
      return never;
    }
    constexpr size_t ofPieces = 100;
    size_t joins = 0;
    bool usesPart = row.kind() == OpKind::Input;
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const Layout &have = layouts_[row.operands[i]], &want = option.operands[i];
      if (want.isPartial() && have != want) {
        return never;
      }
      const bool asItIs = have == want && (!have.isCut() || hasPieces(row.operands[i], choice, rule, i));
      choice.joins.push_back(!asItIs && have != Layout::onAll());
      usesPart = usesPart || (asItIs && have != Layout::onAll());
      joins += !choice.joins.back() ? 0 : have.isCut() ? ofPieces : 1;
    }
    return usesPart ? joins : never;
  }

  /// The positions of each part: those of the first operand that is cut as the option asks, where its pieces
  /// are positions; else of equal length.
  std::vector<SplitRange> positionsOf(OpId op, const OpOption& option, const SplitFactor& factor) const {
    for (size_t i = 0; i < graph_[op].operands.size(); ++i) {
      const ValueId operand = graph_[op].operands[i];
      const SplitAxis& at = factor.operands[i];
      if (layouts_[operand].isCut() && layouts_[operand] == option.operands[i] &&
          at.form == SplitAxis::Form::Forward) {
        std::vector<SplitRange> positions;
        int64_t begin = 0;
        for (const SplitRange& piece : ranges_[operand]) {
          const int64_t end = (piece.end + at.low) / at.stride;
          positions.push_back({begin, end});
          begin = end;
        }
        if (begin == factor.extent &&
            llvm::all_of(positions, [](const SplitRange& range) { return range.size() > 0; })) {
          return positions;
        }
      }
    }
    return rangesOf(factor.extent, shares_);
  }

  bool hasPieces(ValueId operand, const Choice& choice, const SplitRule& rule, size_t i) const {
    const SplitAxis& at = rule.factors[choice.option.factor].operands[i];
    for (size_t part = 0; part < count(); ++part) {
      if (at.elements(choice.positions[part]) != ranges_[operand][part]) {
        return false;
      }
    }
    return true;
  }

  const Graph& graph_;
  std::vector<double> shares_;
  int64_t batch_;
  SideTable<OpId, Choice> choices_;
  SideTable<ValueId, Layout> layouts_;
  SideTable<ValueId, std::vector<SplitRange>> ranges_; ///< of pieces, by part
  SideTable<ValueId, bool> joined_;
};

/// A value in the new graph.
struct Parted {
  ValueId whole;              ///< invalid until somebody asks for it
  std::vector<ValueId> parts; ///< of the batch
  ValueId sum;                ///< of the parts so far
};

class BatchMaker {
 public:
  BatchMaker(const Graph& graph, const BatchChooser& choices)
      : graph_(graph), choices_(choices), count_(choices.count()), builder_(graph),
        values_(graph.valueCount()) {}

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
      value.whole = builder_.result(append(joined, value.parts, like, graph_.nameOf(old)));
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
    const std::string_view own = graph_.scopeOf(like);
    return builder_.intern(own.empty() ? fmt::format("batch {}", *part_)
                                       : fmt::format("batch {}/{}", *part_, own));
  }

  const Graph& graph_;
  const BatchChooser& choices_;
  size_t count_;
  std::optional<size_t> part_; // that ops are made for
  GraphBuilder builder_;
  SideTable<ValueId, Parted> values_;
};

} // namespace

std::optional<Graph> microBatches(const Graph& graph, size_t count) {
  BatchChooser choices(graph, count);
  if (count < 2 || !choices.run()) {
    return std::nullopt;
  }
  return BatchMaker(graph, choices).run();
}

} // namespace dfc
