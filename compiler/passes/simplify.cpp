// simplify: algebra that keeps every bit of every result (the payload of a NaN excepted, which no op keeps).
// The rules are in simplify_arithmetic.cpp, simplify_cast.cpp and simplify_movement.cpp, each with its
// reason.
//
// One walk in id order: when an op is reached its operands are simplified, so a few rounds of rules on it
// suffice, and the whole is linear. Ops that lose their readers are left to drop_dead_ops. Pins are kept: an
// op goes only where its value is made on the device that it asks for anyway, and a rule looks through an op
// only where that has no pin of its own. A matmul that takes over a transpose may be summed in another order
// by a backend's library; it is the one rule whose bits are those of the evaluator only.
#include "compiler/passes/constant_values.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/simplify_rules.h"
#include "ir/graph/rewriter.h"

#include <cmath>

namespace dfc {
namespace {

using namespace simplification;

// Every rewrite makes the call smaller or shorter-sighted; the bound guards against two rules that disagree.
constexpr int mostRounds = 16;

std::optional<Rewrite> simplified(const Context& context, const Call& call) {
  for (const auto rule : {simplifyArithmetic, simplifyCast, simplifyMovement, dropBroadcasts}) {
    if (std::optional<Rewrite> rewrite = rule(context, call)) {
      return rewrite;
    }
  }
  return std::nullopt;
}

class Simplification {
 public:
  explicit Simplification(const Graph& graph) : graph_(graph), rewriter_(graph) {}

  Graph run() && {
    for (const OpId op : graph_.ops()) {
      hasRules(graph_[op]) ? visit(op) : static_cast<void>(rewriter_.copy(op));
    }
    return std::move(rewriter_).finish();
  }

 private:
  // A rule gives one value for one result.
  static bool hasRules(const OpRow& row) {
    const OpClass opClass = classOf(row.kind());
    const bool computes = opClass != OpClass::Source && opClass != OpClass::State &&
                          opClass != OpClass::Transfer && opClass != OpClass::Request;
    return computes && row.resultCount == 1;
  }

  void visit(OpId op) {
    const OpRow& row = graph_[op];
    const Context context(rewriter_.builder().soFar(), graph_.pinOf(op), graph_.typeOf(row.firstResult),
                          splats_);
    Call call{row.attributes, {}};
    for (const ValueId operand : row.operands) {
      call.operands.push_back(rewriter_.mapped(operand));
    }
    for (int round = 0; round < mostRounds; ++round) {
      std::optional<Rewrite> rewrite = simplified(context, call);
      if (!rewrite) {
        break;
      }
      if (const ValueId* value = std::get_if<ValueId>(&*rewrite)) {
        rewriter_.replace(row.firstResult, *value);
        return;
      }
      call = std::get<Call>(std::move(*rewrite));
    }
    const OpId made = rewriter_.append(std::move(call.attributes), call.operands, op);
    rewriter_.replace(row.firstResult, rewriter_.builder().result(made));
  }

  const Graph& graph_;
  Rewriter rewriter_;
  llvm::DenseMap<ValueId, std::optional<double>> splats_;
};

} // namespace

namespace simplification {

std::optional<double> Context::splat(ValueId value) const {
  const auto* constant = made_[made_[value].producer].getIf<ops::Constant>();
  if (constant == nullptr) {
    return std::nullopt;
  }
  const auto [found, isNew] = splats_.try_emplace(value);
  if (isNew) {
    found->second = splatOf(constant->value);
  }
  return found->second;
}

bool Context::isSplat(ValueId value, double number) const {
  const std::optional<double> all = splat(value);
  return all && *all == number && std::signbit(*all) == std::signbit(number);
}

Rewrite Context::stretched(ValueId value) const {
  if (typeOf(value) == type_) {
    return value;
  }
  ops::Broadcast broadcast;
  broadcast.shape.assign(type_.shape.dims().begin(), type_.shape.dims().end());
  return Call{broadcast, {value}};
}

bool Context::mayBecome(ValueId value) const {
  return pin_.empty() || made_.text(made_[made_[value].producer].pin) == pin_;
}

} // namespace simplification

Result<Graph> simplify(const Graph& graph, const PassOptions& /*options*/) {
  return Simplification(graph).run();
}

} // namespace dfc
