#include "ir/graph/whole_state.h"

#include <cstring>

namespace dfc {
namespace {

const std::string& originOf(const Graph& graph, OpId op) {
  const auto* parameter = graph[op].getIf<ops::Parameter>();
  return parameter != nullptr ? parameter->of : graph[op].as<ops::Input>().of;
}

} // namespace

std::string_view authorNameOf(const Graph& graph, OpId op) {
  const std::string& of = originOf(graph, op);
  return of.empty() ? graph.nameOf(op) : std::string_view(of);
}

TensorType authorTypeOf(const Graph& graph, OpId op) {
  const TensorType& own = graph.typeOf(graph[op].firstResult);
  return {own.element, placeOf(graph, op).shapeOf(own.shape)};
}

const TensorPart& placeOf(const Graph& graph, OpId op) {
  static const TensorPart all;
  if (originOf(graph, op).empty()) {
    return all;
  }
  const auto* parameter = graph[op].getIf<ops::Parameter>();
  return parameter != nullptr ? parameter->part : graph[op].as<ops::Input>().part;
}

void putPart(Literal& whole, const TensorPart& place, const Literal& part) {
  DFC_ASSERT(whole.type().element == part.type().element, "a part of a tensor of another element type");
  const Shape& own = part.type().shape;
  const int64_t count = own.elements(), run = place.contiguous(own);
  const auto width = static_cast<int64_t>(byteWidth(part.type().element));
  std::byte* to = whole.mutableBytes().data();
  for (int64_t at = 0; at < count; at += run) {
    std::memcpy(to + place.indexInWhole(own, at) * width, part.bytes().data() + at * width,
                static_cast<size_t>(run * width));
  }
}

} // namespace dfc
