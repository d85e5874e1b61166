// Composite ops, by their decomposition: computed in f64, and rounded once to the types of the op's results.
#include "compiler/interpreter/evaluate.h"
#include "compiler/interpreter/evaluate_parts.h"
#include "ir/author/decompositions.h"

#include <fmt/format.h>

namespace dfc::evaluation {
namespace {

Literal as(ElementType element, const Literal& from) {
  if (from.type().element == element) {
    return from;
  }
  Literal to(TensorType{element, from.type().shape});
  for (int64_t i = 0; i < to.type().shape.elements(); ++i) {
    store(to, i, converted(element, load(from, i)));
  }
  return to;
}

} // namespace

Literals composite(const OpAttributes& attributes, Operands operands, OperandTypes types) {
  Builder builder("decomposition");
  std::vector<Tensor> inputs;
  NamedLiterals feeds;
  for (const Literal& operand : operands) {
    const std::string name = fmt::format("operand{}", inputs.size());
    const bool widens = isFloat(operand.type().element);
    feeds[name] = widens ? as(ElementType::F64, operand) : operand;
    inputs.push_back(builder.input(name, feeds[name].type()));
  }
  size_t count = 0;
  for (const Tensor& result : decompose(attributes, inputs)) {
    builder.fetch(fmt::format("result{}", count++), result);
  }
  const Result<Graph> graph = std::move(builder).finish();
  DFC_ASSERT(graph.ok(), render(graph.errors()));
  const Result<Evaluation> evaluated = evaluate(*graph, feeds);
  DFC_ASSERT(evaluated.ok(), render(evaluated.errors()));
  Literals results;
  for (const TensorType& type : types) {
    results.push_back(as(type.element, evaluated->fetches.at(fmt::format("result{}", results.size()))));
  }
  return results;
}

} // namespace dfc::evaluation
