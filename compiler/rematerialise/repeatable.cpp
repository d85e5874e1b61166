#include "compiler/rematerialise/repeatable.h"

namespace dfc {

bool isRepeatable(const Graph& graph, OpId op) {
  switch (classOf(graph[op].kind())) {
  case OpClass::Elementwise:
  case OpClass::Contraction:
  case OpClass::Movement:
  case OpClass::Reduction:
  case OpClass::Structured: return true;
  case OpClass::Custom: return graph[op].as<ops::Custom>().pure;
  case OpClass::Source:
  case OpClass::State:
  case OpClass::View:
  case OpClass::Transfer:
  case OpClass::Request: return false;
  }
  DFC_UNREACHABLE("an op of another class");
}

} // namespace dfc
