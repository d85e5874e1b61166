// ONNX's Einsum is the DSL's.
#include "ir/author/formulas/einsum.h"
#include "ir/author/onnx/node_call.h"

namespace dfc::onnx {
namespace {

NodeResults summed(NodeCall& call) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < call.operands(); ++i) {
    operands.push_back(call.operand(i));
  }
  std::string fault;
  const Tensor result = einsumOrFault(call.builder(), call.text("equation"), operands, fault);
  if (!fault.empty()) {
    call.refuse(fault);
  }
  return {result};
}

} // namespace

MappingTable einsumMapping() { return {{"Einsum", summed}}; }

} // namespace dfc::onnx
