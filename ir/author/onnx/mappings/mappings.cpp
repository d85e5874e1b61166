// The mappings of all families as one table, and a node by its mapping or by the formula op that names it.
#include "ir/author/onnx/node_call.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

// What kind of op it is that dfc has none for.
std::string whyNot(const std::string& op) {
  static const std::map<std::string, std::vector<std::string>> kinds = {
      {"a shape that depends on data", {"Compress", "NonMaxSuppression", "Unique"}},
      {"random numbers of another generator",
       {"Bernoulli", "Multinomial", "RandomNormalLike", "RandomUniformLike"}}};
  for (const auto& [kind, ops] : kinds) {
    if (std::find(ops.begin(), ops.end(), op) != ops.end()) {
      return fmt::format("{} ({})", kind, op);
    }
  }
  return "no op for " + op;
}

const MappingTable& mappings() {
  static const MappingTable table = [] {
    MappingTable all;
    for (MappingTable part :
         {elementwiseMappings(),   reductionMappings(),   shapeMappings(),      indexMappings(),
          productMappings(),       convolutionMappings(), poolMappings(),       normalisationMappings(),
          makerMappings(),         recurrentMappings(),   resizeMappings(),     einsumMapping(),
          lossMappings(),          controlMappings(),     attentionMappings(),  quantisedMappings(),
          trigonometricMappings(), bitMappings(),         activationMappings(), gridSampleMapping(),
          roiAlignMapping(),       spectrumMappings(),    unpoolMappings(),     determinantMapping(),
          trainingMappings()}) {
      all.merge(part);
    }
    return all;
  }();
  return table;
}

NodeResults mapFormula(const FormulaFacts& formula, NodeCall& call) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < formula.operands; ++i) {
    operands.push_back(call.operand(i));
  }
  return {call.builder().op(defaultAttributes(formula.kind), operands, std::source_location::current())};
}

} // namespace

std::string qualifiedName(const OnnxNode& node) {
  return node.domain.empty() ? node.op : fmt::format("{}::{}", node.domain, node.op);
}

bool hasOnnxMapping(const std::string& op) { return mappings().count(op) != 0; }

NodeMapping onnxMapping(const std::string& op) {
  const auto found = mappings().find(op);
  if (found == mappings().end()) {
    throw MissingOp(whyNot(op));
  }
  return found->second;
}

const FormulaFacts* formulaOfOnnx(const std::string& op) {
  for (const FormulaFacts* formula : allFormulas()) {
    if (!formula->onnxName.empty() && formula->onnxName == op) {
      return formula;
    }
  }
  return nullptr;
}

NodeResults mapNode(OnnxScope& scope, const OnnxNode& node, int64_t opset) {
  NodeCall call(scope, node, opset);
  const std::string op = qualifiedName(node);
  const FormulaFacts* formula = formulaOfOnnx(op);
  // With attributes it is another function than the formula: a mapping may know them.
  const bool plain = formula != nullptr && (node.attributes.empty() || !hasOnnxMapping(op));
  NodeResults results = plain ? mapFormula(*formula, call) : onnxMapping(op)(call);
  call.refuseUnread();
  for (size_t i = results.size(); i < node.outputs.size(); ++i) {
    if (call.wants(i)) {
      throw Unsupported(fmt::format("result {} of {}", i, node.op));
    }
  }
  return results;
}

} // namespace dfc::onnx
