// The reverse sweep. Two marks per value bound it: whether it depends on an x (found forwards), and whether a
// gradient arrived (found backwards); an op is differentiated when both meet. All users of a value come after
// its producer in id order, so when the sweep reaches the producer every contribution is there.
#include "ir/author/gradients.h"
#include "ir/author/decompositions.h"
#include "ir/author/gradient_rule.h"

#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

class Sweep {
 public:
  Sweep(Builder& builder, llvm::ArrayRef<Tensor> wrt, std::source_location where);
  /// Reverse sweep from the loss, with a cotangent of 1.
  void runFrom(ValueId loss);
  /// Reverse sweep from several values with the given cotangents; values that depend on no x are skipped.
  void runFrom(llvm::ArrayRef<Tensor> values, llvm::ArrayRef<Tensor> cotangents);
  Tensor gradientOf(ValueId x);
  /// One warning of all parameters that gradientOf found to be on no path to the loss.
  void warnOfUnreached();
  bool reaches(ValueId x) const { return !contributions_[x].empty(); }

 private:
  const Graph& graph() const { return builder_.graph().soFar(); }
  void markDependents();
  void run(OpId last);
  void differentiate(OpId op);
  void collect(OpId op, const GradientRule& rule);
  llvm::SmallVector<bool, 3> wantedOperands(OpId op) const;
  Tensor sumOf(ValueId value);
  Tensor soFar(OpId op, size_t operand);
  Tensor zerosLike(ValueId value);
  void refuse(OpId op, size_t operand);

  Builder& builder_;
  std::string loss_;     ///< the name of what is differentiated
  SourceLocation where_; ///< of the request
  SideTable<ValueId, bool> dependent_;
  SideTable<ValueId, llvm::SmallVector<Tensor, 1>> contributions_; ///< once summed, exactly one
  std::vector<ValueId> unreached_;                                 ///< parameters without a gradient
};

// Scope, pin and place of an op's gradient ops.
struct Surroundings {
  Builder::Guard scopeAndPin;
  Builder::Guard place;
  Surroundings(Builder& builder, OpId op)
      : scopeAndPin(builder.exactly(gradientScope(builder.graph().soFar().scopeOf(op)),
                                    builder.graph().soFar().pinOf(op))),
        place(builder.at(builder.graph().soFar().locationOf(op))) {}
};

Sweep::Sweep(Builder& builder, llvm::ArrayRef<Tensor> wrt, std::source_location where)
    : builder_(builder), where_(builder.locate(where)), dependent_(graph().valueCount(), false),
      contributions_(graph().valueCount()) {
  for (const Tensor& x : wrt) {
    dependent_[x.value()] = true;
  }
  markDependents();
}

void Sweep::markDependents() {
  for (const OpId op : graph().ops()) {
    const OpRow& row = graph()[op];
    const bool any = row.kind() != OpKind::StopGradient &&
                     llvm::any_of(row.operands, [&](ValueId operand) { return dependent_[operand]; });
    for (const ValueId result : row.results()) {
      // Integers and bools carry no gradient: labels, indices and conditions end a path.
      dependent_[result] = dependent_[result] || (any && isFloat(graph().typeOf(result).element));
    }
  }
}

void Sweep::runFrom(ValueId loss) {
  loss_ = graph().nameOf(loss);
  if (!dependent_[loss]) {
    return;
  }
  const OpId last = graph()[loss].producer;
  {
    const Surroundings around(builder_, last);
    contributions_[loss].push_back(builder_.scalar(graph().typeOf(loss).element, 1));
  }
  run(last);
}

void Sweep::runFrom(llvm::ArrayRef<Tensor> values, llvm::ArrayRef<Tensor> cotangents) {
  OpId last;
  for (const auto& [value, cotangent] : llvm::zip(values, cotangents)) {
    const OpId producer = graph()[value.value()].producer;
    if (dependent_[value.value()]) {
      contributions_[value.value()].push_back(cotangent);
      last = !last.valid() || producer.index() > last.index() ? producer : last;
    }
  }
  if (last.valid()) {
    loss_ = graph().nameOf(graph()[last].firstResult);
    run(last);
  }
}

// Ops behind the last one are on no path.
void Sweep::run(OpId last) {
  for (uint32_t index = last.index() + 1; index-- > 0;) {
    differentiate(OpId(index));
  }
}

llvm::SmallVector<bool, 3> Sweep::wantedOperands(OpId op) const {
  llvm::SmallVector<bool, 3> wanted;
  for (const ValueId operand : graph()[op].operands) {
    wanted.push_back(dependent_[operand]);
  }
  return wanted;
}

void Sweep::differentiate(OpId op) {
  const llvm::SmallVector<bool, 3> wanted = wantedOperands(op);
  llvm::SmallVector<bool, 3> reached;
  for (const ValueId result : graph()[op].results()) {
    reached.push_back(!contributions_[result].empty());
  }
  if (!llvm::is_contained(reached, true)) {
    return;
  }
  const Surroundings around(builder_, op);
  llvm::SmallVector<Tensor, 1> cotangents;
  for (const ValueId result : graph()[op].results()) {
    cotangents.push_back(contributions_[result].empty() ? zerosLike(result) : sumOf(result));
  }
  if (llvm::is_contained(wanted, true)) {
    const auto others = [&](size_t operand) { return soFar(op, operand); };
    GradientRule rule(builder_, op, cotangents, wanted, reached, others);
    applyGradient(graph()[op].attributes, rule);
    collect(op, rule);
  }
}

void Sweep::collect(OpId op, const GradientRule& rule) {
  const llvm::ArrayRef<ValueId> operands = graph()[op].operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!rule.wanted(i) || rule.isIndependentOf(i)) {
      continue;
    }
    if (rule.gradients()[i].builder() == nullptr) {
      refuse(op, i);
    } else if (rule.gradients()[i].valid()) {
      if (rule.givesSum(i)) {
        contributions_[operands[i]].clear();
      }
      contributions_[operands[i]].push_back(rule.gradients()[i]);
    }
  }
}

void Sweep::refuse(OpId op, size_t operand) {
  const OpRow& row = graph()[op];
  const bool second = row.kind() == OpKind::SoftmaxCrossEntropyGradient;
  const SourceLocation place = graph().locationOf(op);
  builder_.graph().report(inScope(
      {Severity::Error, where_,
       fmt::format("{} '{}'{} has no {} for '{}'", nameOf(row.kind()), graph().nameOf(op),
                   place.line == 0 ? "" : fmt::format(" ({}:{})", place.file, place.line),
                   second ? "second derivative" : "gradient", graph().nameOf(row.operands[operand])),
       second
           ? "write the loss with logSoftmax, which can be differentiated again and again"
           : "compute the loss without it, read its operand through stopGradient where nothing is to pass, "
             "or ask for other gradients"},
      graph().scopeOf(op)));
}

Tensor Sweep::sumOf(ValueId value) {
  auto& terms = contributions_[value];
  Tensor sum = terms.front();
  for (const Tensor& term : llvm::drop_begin(terms)) {
    sum = sum + term;
  }
  terms.assign(1, sum);
  return sum;
}

Tensor Sweep::soFar(OpId op, size_t operand) {
  const ValueId value = graph()[op].operands[operand];
  const bool samePin = graph().pinOf(op) == graph().pinOf(graph()[value].producer);
  return samePin && !contributions_[value].empty() ? sumOf(value) : Tensor();
}

Tensor Sweep::zerosLike(ValueId value) { return zerosOf(builder_, graph().typeOf(value)); }

Tensor Sweep::gradientOf(ValueId x) {
  if (!contributions_[x].empty()) {
    return contributions_[x].front();
  }
  // Of a parameter only: that it is never trained is seldom meant, where a zero derivative by another tensor
  // may well be.
  if (graph()[graph()[x].producer].kind() == OpKind::Parameter) {
    unreached_.push_back(x);
  }
  const Surroundings around(builder_, graph()[x].producer);
  return zerosLike(x);
}

void Sweep::warnOfUnreached() {
  constexpr size_t mostNamed = 4;
  if (unreached_.empty()) {
    return;
  }
  std::vector<std::string> names;
  for (const ValueId x : llvm::ArrayRef(unreached_).take_front(mostNamed)) {
    names.push_back(fmt::format("'{}'", graph().nameOf(x)));
  }
  const bool one = unreached_.size() == 1;
  const std::string more =
      names.size() < unreached_.size() ? fmt::format(" and {} more", unreached_.size() - names.size()) : "";
  builder_.graph().report(
      {Severity::Warning, where_,
       fmt::format("'{}' does not depend on parameter{} {}{}: {}", loss_, one ? "" : "s",
                   fmt::join(names, ", "), more, one ? "its gradient is zeros" : "their gradients are zeros"),
       fmt::format("use the parameter{} in the loss, or leave {} out of the request", one ? "" : "s",
                   one ? "it" : "them")});
}

// Whether gradients for `x` may be asked for; says why not.
bool checkX(Builder& builder, Tensor x, std::source_location where) {
  if (x.builder() == nullptr || &x.builder()->graph() != &builder.graph()) {
    builder.report(where,
                   x.builder() == nullptr ? "gradients for an empty Tensor"
                                          : "gradients mixes tensors of two graphs",
                   "ask for tensors that the loss was made from");
    return false;
  }
  if (x.valid() && !isFloat(x.type().element)) {
    builder.report(where,
                   fmt::format("gradients for '{}', which is {}: only float tensors have gradients",
                               builder.graph().soFar().nameOf(x.value()), toString(x.type())),
                   "leave it out of the request");
    return false;
  }
  return x.valid();
}

bool checkLoss(Builder& builder, Tensor loss, std::source_location where) {
  if (loss.type().shape.rank() == 0 && isFloat(loss.type().element)) {
    return true;
  }
  builder.report(where,
                 fmt::format("gradients of '{}', which is {}: the loss is no scalar of a float type",
                             builder.graph().soFar().nameOf(loss.value()), toString(loss.type())),
                 "reduce it to one number with reduceMean or reduceSum");
  return false;
}

// Names a gradient after its x, unless it is an older value or another x's gradient too.
void nameAfter(Tensor gradient, ValueId x, uint32_t firstNew, std::vector<ValueId>& named) {
  Builder& builder = *gradient.builder();
  const bool older = builder.graph().soFar()[gradient.value()].producer.index() < firstNew;
  if (!older && !llvm::is_contained(named, gradient.value())) {
    gradient.named(fmt::format("{}.gradient", builder.graph().soFar().nameOf(x)));
    named.push_back(gradient.value());
  }
}

} // namespace

GradientRule::GradientRule(Builder& builder, OpId op, llvm::ArrayRef<Tensor> cotangents,
                           llvm::ArrayRef<bool> wanted, llvm::ArrayRef<bool> reached,
                           llvm::function_ref<Tensor(size_t)> soFar)
    : builder_(builder), op_(op), cotangents_(cotangents.begin(), cotangents.end()),
      wanted_(wanted.begin(), wanted.end()), reached_(reached.begin(), reached.end()), soFar_(soFar) {
  const size_t operands = builder.graph().soFar()[op].operands.size();
  gradients_.resize(operands);
  independent_.resize(operands, false);
  givesSum_.resize(operands, false);
}

Tensor GradientRule::operand(size_t index) const {
  return {&builder_, builder_.graph().soFar()[op_].operands[index]};
}

Tensor GradientRule::result(size_t index) const {
  return {&builder_, builder_.graph().result(op_, static_cast<uint32_t>(index))};
}

void GradientRule::give(size_t index, Tensor gradient) {
  if (!wanted(index)) {
    return;
  }
  const TensorType type = operand(index).type();
  const Tensor summed = summedTo(gradient, type.shape);
  DFC_ASSERT(!summed.valid() || summed.type() == type,
             fmt::format("the gradient rule of {} gives {} for an operand of {}",
                         nameOf(builder_.graph().soFar()[op_].kind()), toString(summed.type()),
                         toString(type)));
  gradients_[index] = gradients_[index].builder() == nullptr ? summed : gradients_[index] + summed;
}

void GradientRule::giveSum(size_t index, Tensor sum) {
  DFC_ASSERT(gradients_[index].builder() == nullptr, "a sum is all that the operand gets from its op");
  give(index, sum);
  givesSum_[index] = true;
}

// The formula reads copies of the operands (views, which `simplify` takes away), so that the sweep ends
// there.
void decomposedGradient(const OpAttributes& attributes, GradientRule& rule) {
  Builder& builder = rule.builder();
  std::vector<Tensor> copies, wanted, cotangents;
  for (size_t i = 0; i < rule.operandCount(); ++i) {
    const Tensor operand = rule.operand(i);
    copies.push_back(reshape(operand, Dims(operand.shape().dims().begin(), operand.shape().dims().end())));
    if (rule.wanted(i)) {
      wanted.push_back(copies.back());
    }
  }
  const std::vector<Tensor> results = decompose(attributes, copies);
  for (size_t i = 0; i < results.size(); ++i) {
    cotangents.push_back(rule.cotangent(i));
  }
  Sweep sweep(builder, wanted, std::source_location::current());
  sweep.runFrom(results, cotangents);
  for (size_t i = 0; i < copies.size(); ++i) {
    if (rule.wanted(i) && sweep.reaches(copies[i].value())) {
      rule.give(i, sweep.gradientOf(copies[i].value()));
    } else {
      rule.independentOf(i);
    }
  }
}

std::string gradientScope(std::string_view scope) {
  constexpr std::string_view forward = " forward";
  if (scope.empty()) {
    return "";
  }
  std::string text(scope);
  if (const size_t at = text.rfind(forward); at != std::string::npos) {
    return text.replace(at, forward.size(), " backward");
  }
  return text + " gradient";
}

std::vector<Tensor> gradients(Tensor loss, const std::vector<Tensor>& wrt, std::source_location where) {
  std::vector<Tensor> results;
  if (loss.builder() == nullptr) {
    return std::vector<Tensor>(wrt.size());
  }
  Builder& builder = *loss.builder();
  const bool lossGood = loss.valid() && checkLoss(builder, loss, where);
  std::vector<Tensor> good;
  for (const Tensor& x : wrt) {
    results.emplace_back(&builder, ValueId());
    if (checkX(builder, x, where)) {
      good.push_back(x);
    }
  }
  if (!lossGood || good.size() != wrt.size()) {
    return results;
  }
  const auto firstNew = static_cast<uint32_t>(builder.graph().soFar().opCount());
  Sweep sweep(builder, good, where);
  sweep.runFrom(loss.value());
  std::vector<ValueId> named;
  for (size_t i = 0; i < wrt.size(); ++i) {
    results[i] = sweep.gradientOf(wrt[i].value());
    nameAfter(results[i], wrt[i].value(), firstNew, named);
  }
  sweep.warnOfUnreached();
  const auto valuesOf = [](llvm::ArrayRef<Tensor> tensors) {
    std::vector<ValueId> values;
    llvm::transform(tensors, std::back_inserter(values), [](Tensor tensor) { return tensor.value(); });
    return values;
  };
  builder.graph().record({loss.value(), valuesOf(wrt), valuesOf(results), OpId(firstNew),
                          OpId(static_cast<uint32_t>(builder.graph().soFar().opCount()))});
  return results;
}

} // namespace dfc
