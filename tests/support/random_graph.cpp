// Ops are drawn one after the other, and what an op's own type rule refuses is left out; then a request for
// gradients, assigns and fetches close the graph.
#include "tests/support/random_graph.h"

#include "tests/support/op_samples.h"
#include "tests/support/random_calls.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::test {
namespace {

class Author : public RandomCalls {
 public:
  Author(uint64_t seed, const RandomGraphOptions& options)
      : RandomCalls(seed, options), kinds_(options.kinds.empty() ? computingKinds() : options.kinds) {}

  Graph write() {
    supply({dice_.oneOf(options_.elements), anyShape()});
    for (size_t tries = 0; graph().opCount() < options_.ops && tries < options_.ops * 20; ++tries) {
      dice_.chance(10) && !calls_.empty() ? repeat() : add(callOf(dice_.oneOf(kinds_)));
    }
    if (options_.request) {
      requestGradients();
    }
    assignParameters();
    fetchSome();
    Result<Graph> graph = std::move(builder_).finish();
    DFC_ASSERT(graph.ok(), "a random graph is ill-formed: " + render(graph.errors()));
    return *std::move(graph);
  }

 private:
  void add(Call call) {
    llvm::SmallVector<TensorType, 4> types;
    for (const ValueId operand : call.operands) {
      types.push_back(typeOf(operand));
    }
    const TypeResult result = resultTypes(call.attributes, types);
    const auto isSmall = [&](const TensorType& type) {
      return type.shape.elements() <= options_.mostElements && type.shape.rank() <= 5;
    };
    if (result.ok() && llvm::all_of(result.types, isSmall)) {
      appended(call.attributes, call.operands);
      calls_.push_back(std::move(call));
    }
  }
  void repeat() { add(Call(dice_.oneOf(calls_))); }

  bool isDifferentiable(ValueId value) const {
    return !hasNoGradient(graph()[graph()[value].producer].kind());
  }
  void requestGradients() {
    // Values without an op before them that has no gradient rule.
    SideTable<ValueId, bool> good(graph().valueCount(), true);
    for (const OpId op : graph().ops()) {
      bool all = isDifferentiable(graph()[op].firstResult);
      for (const ValueId operand : graph()[op].operands) {
        all = all && good[operand];
      }
      for (const ValueId result : graph()[op].results()) {
        good[result] = all;
      }
    }
    std::vector<ValueId> losses, sources;
    for (const ValueId value : graph().values()) {
      const bool real = isFloat(typeOf(value).element) && good[value];
      if (real && classOf(graph()[graph()[value].producer].kind()) != OpClass::Source) {
        losses.push_back(value);
      } else if (real && graph()[graph()[value].producer].kind() != OpKind::Constant) {
        sources.push_back(value);
      }
    }
    if (losses.empty() || sources.empty()) {
      return;
    }
    llvm::SmallVector<ValueId, 3> operands{appended(ops::ReduceSum{}, {dice_.oneOf(losses)}, "loss")};
    for (int64_t count = 1 + dice_.below(4); count > 0; --count) {
      operands.push_back(dice_.oneOf(sources));
    }
    appended(ops::Gradients{}, operands, "derivative");
  }

  void assignParameters() {
    for (const OpId op : graph().ops()) {
      if (graph()[op].kind() != OpKind::Parameter || dice_.chance(40)) {
        continue;
      }
      const ValueId parameter = graph()[op].firstResult;
      const ValueId next = exactly(typeOf(parameter));
      appended(ops::Assign{}, {parameter, next});
    }
  }
  void fetchSome() {
    SideTable<ValueId, bool> read(graph().valueCount());
    for (const OpId op : graph().ops()) {
      for (const ValueId operand : graph()[op].operands) {
        read[operand] = true;
      }
    }
    for (const ValueId value : graph().values()) {
      if (!read[value] || dice_.chance(15)) {
        builder_.fetch("out" + std::to_string(value.index()), value);
      }
    }
  }

  std::vector<OpKind> kinds_;
  std::vector<Call> calls_;
};

} // namespace

Graph randomGraph(uint64_t seed, const RandomGraphOptions& options) { return Author(seed, options).write(); }

std::vector<OpKind> computingKinds() {
  std::vector<OpKind> kinds;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    const OpClass opClass = classOf(kind);
    const bool made = opClass == OpClass::Source || opClass == OpClass::State ||
                      opClass == OpClass::Transfer || opClass == OpClass::Request ||
                      opClass == OpClass::Custom || kind == OpKind::Fused || kind == OpKind::FusedMatmul ||
                      kind == OpKind::FusedConv2d || kind == OpKind::Cut || kind == OpKind::StopGradient ||
                      kind == OpKind::Subview;
    if (!made) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

} // namespace dfc::test
