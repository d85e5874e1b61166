// See display_name.h.
#include "ir/draw/display_name.h"

#include <algorithm>

namespace dfc {
namespace {

// The name without the ".2", ".3" that make it unique.
std::string_view withoutSuffixes(std::string_view name) {
  const size_t last = name.find_last_not_of(".0123456789");
  const size_t end = last == std::string_view::npos ? name.size() : name.find('.', last);
  return name.substr(0, end);
}

std::string partsOf(const ops::FusedBody& body) {
  constexpr size_t shown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(shown, body.instructions.size()); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(nameOf(body.instructions[i].kind));
  }
  return text + (body.instructions.size() > shown ? ", …" : "");
}

std::string reductionOf(const ops::Fused& fused) {
  using Reduction = ops::Fused::Reduction;
  switch (fused.reduction) {
  case Reduction::None: return "";
  case Reduction::Sum: return ", sum";
  case Reduction::Mean: return ", mean";
  case Reduction::Max: return ", max";
  }
  DFC_UNREACHABLE("reduction");
}

} // namespace

bool nameIsMadeUp(const Graph& graph, OpId op) {
  const std::string_view stem = withoutSuffixes(graph.nameOf(op));
  return opKindNamed(stem).has_value();
}

std::string displayKind(const Graph& graph, OpId op) {
  if (const auto* fused = graph[op].getIf<ops::Fused>(); fused != nullptr) {
    return partsOf(fused->body) + reductionOf(*fused);
  }
  if (const auto* fused = graph[op].getIf<ops::FusedMatmul>(); fused != nullptr) {
    return "matmul, " + partsOf(fused->body);
  }
  if (const auto* fused = graph[op].getIf<ops::FusedConv2d>(); fused != nullptr) {
    return "conv2d, " + partsOf(fused->body);
  }
  if (const auto* custom = graph[op].getIf<ops::Custom>(); custom != nullptr) {
    return "custom " + custom->function;
  }
  return std::string(nameOf(graph[op].kind()));
}

std::string displayName(const Graph& graph, OpId op) {
  constexpr std::string_view gradient = ".gradient";
  if (graph[op].kind() == OpKind::Assign) {
    return "new " + std::string(graph.nameOf(graph[op].operands.front()));
  }
  if (nameIsMadeUp(graph, op)) {
    return displayKind(graph, op);
  }
  const std::string_view stem = withoutSuffixes(graph.nameOf(op));
  if (stem.size() > gradient.size() && stem.ends_with(gradient)) {
    return "gradient of " + std::string(stem.substr(0, stem.size() - gradient.size()));
  }
  return std::string(graph.nameOf(op));
}

} // namespace dfc
