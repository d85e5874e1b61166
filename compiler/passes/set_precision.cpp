// set_precision: how products of f32 operands are taken where the author left it to the plan.
//
// Afterwards no op says more than it must: tf32, or nothing, which means ieee, so that share_common_ops takes
// equal products for equal. For bf16 and f16 the op computes in that type, its f32 operands cast to it and
// its results cast back (mixed precision, Micikevicius et al. 2018): parameters stay in f32, in which
// updates, norms and losses are computed. Where one product reads another's result, `simplify` takes the
// casts between them away. Products of other types have one precision only. A fused product, which only a
// file holds so early, is never narrowed.
//
// Where the whole plan is in bf16 or f16, tensors between products are stored in that type, too: those of
// batch normalisations and pools whose operand comes from a product, with the numbers of channels in f32;
// logits that come from a product and their gradient, with the loss in f32; and values of elementwise ops
// made of such tensors alone that several ops read or that are logits. A product's result may be reshaped. A
// chain of elementwise ops from such tensors to a value that several ops read, a product or a sum among them,
// is computed in f32 and rounded at its end. A value that fusion keeps inside a loop is not stored, and so
// not rounded. In f16 a scalar that is known at run time alone, such as the scale of a loss by which
// gradients are divided, may take values out of the type's range: what it is applied to stays in f32.
// layerNorm and rmsNorm of f32 write results that only products read in the narrow type, and their gradients
// read a narrow cotangent as it is.
#include "compiler/passes/casts.h"
#include "compiler/passes/fusion_groups.h"
#include "compiler/passes/passes.h"

#include "ir/graph/rewriter.h"
#include "ir/graph/rules/precision.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

bool isView(const OpRow& row) { return classOf(row.kind()) == OpClass::View; }

// The operands that may be narrow, bit i for operand i; the others are f32 sums, masks or the numbers of
// channels. 0 for ops without a narrow form.
using OperandSet = uint32_t;
OperandSet factorsOf(OpKind kind) {
  switch (kind) {
  case OpKind::Matmul:
  case OpKind::FusedMatmul:
  case OpKind::Conv2d:
  case OpKind::FusedConv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient: return 0b11;
  case OpKind::Attention: return 0b111;
  case OpKind::AttentionGradient: return 0b1111;
  default: return 0;
  }
}
// The same of ops between products.
OperandSet tensorsOf(OpKind kind) {
  switch (kind) {
  case OpKind::BatchNorm: return 0b1;
  case OpKind::BatchNormTraining: return 0b1001;
  case OpKind::BatchNormGradient: return 0b110001;
  case OpKind::MaxPool:
  case OpKind::AveragePool:
  case OpKind::AveragePoolGradient: return 0b1;
  case OpKind::MaxPoolGradient: return 0b11;
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient: return 0b1;
  default: return 0;
  }
}
// The form of such an op whose other operands and results stay in f32.
OpAttributes narrowForm(OpAttributes attributes) {
  if (auto* loss = attributes.getIf<ops::SoftmaxCrossEntropy>()) {
    loss->loss = LossType::F32;
  }
  return attributes;
}

bool isNorm(OpKind kind) { return kind == OpKind::LayerNorm || kind == OpKind::RmsNorm; }
bool isNormGradient(OpKind kind) {
  return kind == OpKind::LayerNormGradient || kind == OpKind::RmsNormGradient;
}
// The norm with its result rounded to `narrow`.
OpAttributes roundedNorm(OpAttributes norm, ElementType narrow) {
  const NormResult result = narrow == ElementType::F16 ? NormResult::F16 : NormResult::Bf16;
  if (auto* layer = norm.getIf<ops::LayerNorm>()) {
    layer->result = result;
  } else {
    norm.as<ops::RmsNorm>().result = result;
  }
  return norm;
}

std::optional<ElementType> narrowTypeOf(Precision precision) {
  return precision == Precision::Bf16  ? std::optional(ElementType::BF16)
         : precision == Precision::F16 ? std::optional(ElementType::F16)
                                       : std::nullopt;
}

// What becomes of one product.
struct Settled {
  OpAttributes attributes;
  std::optional<ElementType> narrow; ///< the type that it is computed in instead of f32
};

// None where the op stays as it is.
std::optional<Settled> settled(const Graph& graph, OpId op, Precision byDefault) {
  const OpRow& row = graph[op];
  if (factorsOf(row.kind()) == 0) {
    return std::nullopt;
  }
  Settled next{row.attributes, std::nullopt};
  Precision* const stated = precisionIn(next.attributes);
  const Precision before = stated != nullptr ? *stated : Precision::Unstated;
  const Precision wanted = before == Precision::Unstated ? byDefault : before;
  const bool isF32 = graph.typeOf(row.operands[0]).element == ElementType::F32;
  const Precision after = isF32 && wanted == Precision::Tf32 ? Precision::Tf32 : Precision::Unstated;
  if (stated != nullptr) {
    *stated = after;
  }
  if (isF32 && row.kind() != OpKind::FusedMatmul && row.kind() != OpKind::FusedConv2d) {
    next.narrow = narrowTypeOf(wanted);
  }
  const bool changes = next.narrow || (stated != nullptr && before != after);
  return changes ? std::optional(std::move(next)) : std::nullopt;
}

class Settling {
 public:
  Settling(const Graph& graph, Precision byDefault)
      : graph_(graph), byDefault_(byDefault), plan_(narrowTypeOf(byDefault)), rewriter_(graph),
        uses_(graph.valueCount(), 0), isLogits_(graph.valueCount(), false),
        readByOthers_(graph.valueCount(), false), comesFromNarrow_(graph.valueCount(), false),
        readByProductsAlone_(graph.valueCount(), true), loops_(graph) {
    for (const OpId op : graph.ops()) {
      for (const ValueId operand : graph[op].operands) {
        ++uses_[operand];
        readByOthers_[operand] = readByOthers_[operand] || classOf(graph[op].kind()) != OpClass::Elementwise;
      }
      markLogits(graph[op]);
    }
    for (const Fetch& fetch : graph.fetches()) {
      uses_[fetch.value] = fetched;
      readByProductsAlone_[fetch.value] = false;
    }
    for (auto index = static_cast<uint32_t>(graph.opCount()); plan_ && index-- > 0;) {
      markOtherReaders(OpId(index));
    }
  }

  Graph run() && {
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      if (auto next = settled(graph_, op, byDefault_)) {
        replace(op, *std::move(next), factorsOf(row.kind()));
      } else if (plan_ && tensorsOf(row.kind()) != 0 && isNarrow(row.operands[0])) {
        replace(op, {narrowForm(row.attributes), plan_}, tensorsOf(row.kind()));
      } else if (plan_ && isNorm(row.kind()) && readByProductsAlone_[row.firstResult] &&
                 graph_.typeOf(row.firstResult).element == ElementType::F32) {
        replace(op, {roundedNorm(row.attributes, *plan_), plan_}, 0);
      } else if (plan_ && isNormGradient(row.kind()) && isNarrow(row.operands[2])) {
        replace(op, {row.attributes, plan_}, 0b100);
      } else {
        rewriter_.copy(op);
        noteElementwise(row);
        if (plan_ && isStoredNarrow(row)) {
          storeNarrow(op);
        }
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  static constexpr uint32_t fetched = 1U << 31;

  // Readers come before what they read. A view is read where its readers read it.
  void markOtherReaders(OpId op) {
    const OpRow& row = graph_[op];
    const auto product = settled(graph_, op, byDefault_);
    const OperandSet factors = product && product->narrow == plan_ ? factorsOf(row.kind()) : 0;
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const bool ofProducts =
          isView(row) ? readByProductsAlone_[row.firstResult] : i < 32 && (factors >> i & 1) != 0;
      readByProductsAlone_[row.operands[i]] = readByProductsAlone_[row.operands[i]] && ofProducts;
    }
  }

  // The logits of a cross entropy, and the values of which they are views.
  void markLogits(const OpRow& row) {
    if (row.kind() != OpKind::SoftmaxCrossEntropy && row.kind() != OpKind::SoftmaxCrossEntropyGradient) {
      return;
    }
    ValueId value = row.operands[0];
    isLogits_[value] = true;
    for (OpId maker = graph_[value].producer; isView(graph_[maker]); maker = graph_[value].producer) {
      value = graph_[maker].operands[0];
      isLogits_[value] = true;
    }
  }

  /// Whether an f32 value is cast from a narrow one, or a view of such a value.
  bool isNarrow(ValueId old) const {
    return graph_.typeOf(old).element == ElementType::F32 && isNarrowView(rewriter_.mapped(old));
  }
  bool isNarrowView(ValueId now) const {
    const Graph& made = rewriter_.soFar();
    const OpRow* maker = &made[made[now].producer];
    while (isView(*maker)) {
      maker = &made[made[maker->operands[0]].producer];
    }
    return plan_ && maker->kind() == OpKind::Cast && made.typeOf(maker->operands[0]).element == *plan_;
  }

  bool isStoredNarrow(const OpRow& row) const {
    const TensorType& type = graph_.typeOf(row.firstResult);
    const uint32_t uses = uses_[row.firstResult];
    if (classOf(row.kind()) != OpClass::Elementwise || row.kind() == OpKind::Cast ||
        type.element != ElementType::F32 || (uses < 2 && !isLogits_[row.firstResult]) || uses >= fetched ||
        staysInLoop(graph_[row.firstResult].producer)) {
      return false;
    }
    return allTensors(row, [&](ValueId operand) { return isNarrow(operand); }) ||
           (readByOthers_[row.firstResult] && comesFromNarrow_[row.firstResult]);
  }

  /// Whether all readers of the op's value become part of one loop with it.
  bool staysInLoop(OpId op) const {
    const FusionGroup* loop = loops_.groupOf(op);
    return loop != nullptr && loop->root != op;
  }

  /// Whether the op has operands of its result's type, and all of them satisfy `condition`.
  template <class Condition>
  bool allTensors(const OpRow& row, const Condition& condition) const {
    const TensorType& type = graph_.typeOf(row.firstResult);
    const auto isTensor = [&](ValueId operand) { return graph_.typeOf(operand) == type; };
    return !changesRange(row) && llvm::any_of(row.operands, isTensor) &&
           llvm::all_of(row.operands,
                        [&](ValueId operand) { return !isTensor(operand) || condition(operand); });
  }

  bool changesRange(const OpRow& row) const {
    return byDefault_ == Precision::F16 && llvm::any_of(row.operands, [&](ValueId operand) {
             const TensorType& type = graph_.typeOf(operand);
             return type.shape.rank() == 0 && isFloat(type.element) &&
                    graph_[graph_[operand].producer].kind() != OpKind::Constant;
           });
  }

  // Results of elementwise ops whose tensors are narrow, or come from narrow ones by such ops.
  void noteElementwise(const OpRow& row) {
    if (classOf(row.kind()) == OpClass::Elementwise && row.kind() != OpKind::Cast &&
        graph_.typeOf(row.firstResult).element == ElementType::F32) {
      comesFromNarrow_[row.firstResult] =
          allTensors(row, [&](ValueId operand) { return isNarrow(operand) || comesFromNarrow_[operand]; });
    }
  }

  void storeNarrow(OpId op) {
    const ValueId old = graph_[op].firstResult;
    const std::string_view name = graph_.nameOf(old);
    const ValueId wide = rewriter_.mapped(old);
    rewriter_.builder().rename(wide, std::string(name) + ".f32");
    const ValueId narrow = appendCast(rewriter_, *plan_, wide, op, narrowName(name, *plan_));
    const ValueId now = appendCast(rewriter_, ElementType::F32, narrow, op, "");
    rewriter_.builder().rename(now, name);
    rewriter_.replace(old, now);
  }

  // A value between products cast to `element`. A view of a narrow value becomes a view in `element`, so that
  // no cast of the view remains where it has other uses in f32.
  ValueId narrowed(ValueId now, ElementType element, OpId like, const std::string& name) {
    const Graph& made = rewriter_.soFar();
    const OpRow& maker = made[made[now].producer];
    if (!isView(maker) || !isNarrowView(now)) {
      return appendCast(rewriter_, element, now, like, name);
    }
    const OpAttributes view = maker.attributes;
    const ValueId viewed = narrowed(maker.operands[0], element, like, name);
    return rewriter_.builder().result(rewriter_.append(view, {viewed}, like, name));
  }

  void replace(OpId op, Settled next, OperandSet factors) {
    const OpRow& row = graph_[op];
    const bool isProduct = factorsOf(row.kind()) != 0;
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : row.operands) {
      ValueId now = rewriter_.mapped(operand);
      if (next.narrow && (factors >> operands.size() & 1) != 0) {
        const std::string name = narrowName(graph_.nameOf(operand), *next.narrow);
        now = isProduct ? appendCast(rewriter_, *next.narrow, now, op, name)
                        : narrowed(now, *next.narrow, op, name);
      }
      operands.push_back(now);
    }
    // A narrow product leaves its name to the result that is cast back.
    const std::string name = next.narrow ? narrowName(graph_.nameOf(op), *next.narrow) : "";
    const OpId made = rewriter_.append(std::move(next.attributes), operands, op, name);
    for (const ValueId result : row.results()) {
      ValueId now = rewriter_.builder().result(made, result.index() - row.firstResult.index());
      const ElementType element = graph_.typeOf(result).element;
      now = rewriter_.builder().soFar().typeOf(now).element == element
                ? now
                : appendCast(rewriter_, element, now, op, "");
      rewriter_.builder().rename(now, graph_.nameOf(result));
      rewriter_.replace(result, now);
    }
  }

  const Graph& graph_;
  Precision byDefault_;
  std::optional<ElementType> plan_; ///< the narrow type of the whole plan
  Rewriter rewriter_;
  SideTable<ValueId, uint32_t> uses_;
  SideTable<ValueId, bool> isLogits_;
  SideTable<ValueId, bool> readByOthers_; // by an op that is not elementwise, so that the value is stored
  SideTable<ValueId, bool> comesFromNarrow_;
  SideTable<ValueId, bool> readByProductsAlone_; // as factors that will be narrow
  FusionGroups loops_; // of the graph as it is; fuse_elementwise makes them when other passes have run
};

} // namespace

Result<Graph> setPrecision(const Graph& graph, const PassOptions& options) {
  const auto changes = [&](OpId op) { return settled(graph, op, options.precision).has_value(); };
  if (llvm::none_of(graph.ops(), changes)) {
    return graph;
  }
  return Settling(graph, options.precision).run();
}

} // namespace dfc
