// scale_losses: dynamic loss scaling (ir/author/loss_scaling.h) for a step that trains in a plan of f16 and
// does not scale its loss itself. Gradients that parameters are updated by are taken of the loss times the
// scale and divided by it in f32, so that whatever reads them sees those of the loss. A step in which one of
// them is not finite changes the scale alone: each assign of the update keeps the old value.
// (Micikevicius et al. 2018, Mixed Precision Training; what a step leaves out is that of PyTorch's
// GradScaler.)
//
// The update: assigns whose values depend on these gradients, and state that the update alone reads, such as
// the powers in Adam's bias correction or the step of a learning rate's schedule. As GradScaler does, it
// leaves the rest as it is: running statistics of batch norms and counts that the forward pass reads go on.
//
// All gradients of a step share one scale and one decision, for which the update moves behind them. Where a
// gradient depends on values that the same step has assigned, that update has been decided before, as
// GradScaler decides for each optimiser. The new ops are in the scope "lossScale", pinned as the gradient or
// the assign. Its parameters are marked as the plan's own, so that plans of other precisions share
// checkpoints. Left alone: a graph with an input or a parameter "lossScale", and calls of `gradients` that no
// parameter depends on. Left alone with a warning: a step of which a part could not be scaled, as something
// uses a value inside a call of `gradients`; and gradients that a graph file spells out.
#include "compiler/passes/differentiations.h"
#include "compiler/passes/expand_ops.h"
#include "compiler/passes/gradient_updates.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/unscaled_gradients.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"

#include <optional>

namespace dfc {
namespace {

constexpr std::string_view scalingScope = ops::lossScaleName;

// While it lives, ops are written in the scope, with a pin. In the end they give up their default names, by
// which a rule may pin other ops.
class InScope {
 public:
  InScope(Builder& builder, std::string_view pin)
      : builder_(builder), around_(builder.exactly(scalingScope, pin)),
        firstNew_(static_cast<uint32_t>(soFar().valueCount())) {}
  InScope(const InScope&) = delete;
  InScope& operator=(const InScope&) = delete;
  ~InScope() {
    for (uint32_t index = firstNew_; index < soFar().valueCount(); ++index) {
      const ValueId value(index);
      const std::string_view kind = nameOf(soFar()[soFar()[value].producer].kind());
      if (isDefault(soFar().nameOf(value), kind)) {
        builder_.graph().rename(value, std::string(scalingScope) + "." + std::string(kind));
      }
    }
  }

 private:
  const Graph& soFar() const { return builder_.graph().soFar(); }
  static bool isDefault(std::string_view name, std::string_view kind) {
    return name.starts_with(kind) &&
           name.find_first_not_of(".0123456789", kind.size()) == std::string_view::npos;
  }

  Builder& builder_;
  Builder::Guard around_;
  uint32_t firstNew_;
};

class ScalingWriter {
 public:
  ScalingWriter(const Graph& graph, const Differentiations& written, const GradientUpdates& updates,
                OpExpansion& expansion)
      : graph_(graph), written_(written), updates_(updates), expansion_(expansion),
        builder_(expansion.builder()) {}

  bool changes(OpId op) const {
    return written_.isWrittenAnew(op) || updates_.isUpdate(op) || updates_.isTrainedBy(op);
  }

  std::vector<Tensor> write(OpId op, llvm::ArrayRef<Tensor> operands) {
    if (updates_.isUpdate(op)) {
      return {assigned(op, operands[0], operands[1])};
    }
    if (!written_.isWrittenAnew(op)) {
      return requested(op, operands);
    }
    if (const GradientRecord* record = written_.beginningAt(op)) {
      updates_.isTrainedBy(op) ? differentiateScaled(*record) : differentiateAnew(*record, expansion_);
    }
    return {};
  }

 private:
  std::string_view pinOf(Tensor tensor) const {
    const Graph& soFar = builder_.graph().soFar();
    return soFar.pinOf(soFar[tensor.value()].producer);
  }
  std::string nameOf(Tensor tensor) const {
    return std::string(builder_.graph().soFar().nameOf(tensor.value()));
  }

  LossScaling& scaling() {
    if (!scaling_) {
      const InScope around(builder_, "");
      scaling_.emplace(builder_);
    }
    return *scaling_;
  }

  Tensor scaledLoss(Tensor loss) {
    LossScaling& scaling = this->scaling();
    const InScope around(builder_, pinOf(loss));
    return scaling.scaled(loss).named(nameOf(loss) + ".scaled");
  }

  /// The gradient of the loss from that of the scaled loss, whose name it takes over. An assign depends on it
  /// or not: only then it has a say in whether the step counts.
  Tensor unscaled(Tensor scaled, std::string_view pin, bool isNeeded) {
    const InScope around(builder_, pin);
    const std::string name = nameOf(scaled);
    const ElementType element = scaled.type().element;
    scaled.named(name + ".scaled");
    const Tensor wide = scaling().unscaledOne(scaled);
    const Tensor result = wide.type().element == element ? wide : cast(wide, element);
    if (isNeeded) {
      scaling().watch(scaled, element);
    }
    return result.named(name);
  }

  void differentiateScaled(const GradientRecord& record) {
    differentiateAnew(record, expansion_, [&](Tensor loss, const std::vector<Tensor>& wrt) {
      std::vector<Tensor> results = gradients(scaledLoss(loss), wrt);
      llvm::DenseMap<ValueId, Tensor> made; // one value may be the gradient of several tensors
      for (size_t i = 0; i < results.size(); ++i) {
        const auto [entry, isNew] = made.try_emplace(results[i].value());
        if (isNew) {
          entry->second =
              unscaled(pinned(results[i], record.results[i]), updates_.isNeeded(record.results[i]));
        }
        results[i] = entry->second;
      }
      return results;
    });
  }

  // As the author may have pinned the gradient that the call gave.
  Tensor pinned(Tensor gradient, ValueId old) const {
    const std::string_view pin = graph_.pinOf(graph_[old].producer);
    return pin.empty() ? gradient : gradient.on(pin);
  }
  Tensor unscaled(Tensor scaled, bool isNeeded) {
    return unscaled(scaled, std::string(pinOf(scaled)), isNeeded);
  }

  /// A request of the scaled loss. Default names would say less than "<x>.gradient". Where the gradient will
  /// be made is not known yet: it is divided where the request is pinned, or x.
  std::vector<Tensor> requested(OpId op, llvm::ArrayRef<Tensor> operands) {
    std::vector<Tensor> arguments = operands.vec();
    arguments.front() = scaledLoss(operands.front());
    std::vector<Tensor> results;
    {
      const Builder::Guard around = builder_.exactly(graph_.scopeOf(op), graph_.pinOf(op));
      results = builder_.multiOp(ops::Gradients{}, arguments, std::source_location::current());
    }
    size_t i = 0;
    for (const ValueId old : graph_[op].results()) {
      const Tensor x = operands[i + 1];
      const std::string_view name = graph_.nameOf(old);
      const bool isDefault = name.starts_with(dfc::nameOf(OpKind::Gradients));
      results[i].named(isDefault ? nameOf(x) + ".gradient" : std::string(name));
      const std::string pin(graph_.pinOf(op).empty() ? pinOf(x) : graph_.pinOf(op));
      results[i] = unscaled(results[i], pin, updates_.isNeeded(old));
      ++i;
    }
    return results;
  }

  Tensor finite() {
    const InScope around(builder_, "");
    return scaling().finite();
  }

  Tensor assigned(OpId op, Tensor parameter, Tensor next) {
    const Tensor finite = this->finite();
    if (finite.valid()) {
      const InScope around(builder_, graph_.pinOf(op));
      next = select(finite, next, parameter);
    }
    const Builder::Guard around = builder_.exactly(graph_.scopeOf(op), graph_.pinOf(op));
    const Tensor result = builder_.assign(parameter, next);
    if (op == updates_.lastUpdate()) {
      const InScope apart(builder_, "");
      scaling().assignNext();
    }
    return result;
  }

  const Graph& graph_;
  const Differentiations& written_;
  const GradientUpdates& updates_;
  OpExpansion& expansion_;
  Builder& builder_;
  std::optional<LossScaling> scaling_;
};

bool isScaledByAuthor(const Graph& graph) {
  const ValueId scale = graph.findValue(scalingScope);
  const OpKind kind = scale.valid() ? graph[graph[scale].producer].kind() : OpKind::Constant;
  return kind == OpKind::Parameter || kind == OpKind::Input;
}

} // namespace

Result<Graph> scaleLosses(const Graph& graph, const PassOptions& options) {
  if (options.precision != Precision::F16 || graph.opsOf(OpKind::Assign).empty() || isScaledByAuthor(graph)) {
    return graph;
  }
  const Differentiations written(graph);
  const GradientUpdates updates(graph, written);
  const UnscaledGradients unscaled(graph, written, updates);
  if (unscaled.hasKeptCall()) {
    return Result<Graph>(graph).withWarnings(unscaled.warnOfKeptCall());
  }
  if (!updates.lastUpdate().valid()) {
    return Result<Graph>(graph).withWarnings(unscaled.warnOfSpelledOut());
  }
  OpExpansion expansion(graph);
  ScalingWriter writer(graph, written, updates, expansion);
  auto result = std::move(expansion).run(
      updates.order(), [&](OpId op) { return writer.changes(op); },
      [&](OpId op, llvm::ArrayRef<Tensor> operands) { return writer.write(op, operands); });
  return result ? Result<Graph>(*std::move(result)) : result; // warnings of gradients came with the graph
}

} // namespace dfc
