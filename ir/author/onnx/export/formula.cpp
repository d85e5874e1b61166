// A formula op as the ONNX op that it names, or else as a node for each primitive of its body.
#include "ir/graph/formula/formulas.h"

#include "ir/author/onnx/export/export_call.h"

namespace dfc::onnx {
namespace {

using formula::Instruction;
using formula::Primitive;
using formula::Program;

const char* nodeName(Primitive primitive) {
  switch (primitive) {
  case Primitive::Add: return "Add";
  case Primitive::Sub: return "Sub";
  case Primitive::Mul: return "Mul";
  case Primitive::Div: return "Div";
  case Primitive::Neg: return "Neg";
  case Primitive::Abs: return "Abs";
  case Primitive::Max: return "Max";
  case Primitive::Min: return "Min";
  case Primitive::Less: return "Less";
  case Primitive::LessEqual: return "LessOrEqual";
  case Primitive::Select: return "Where";
  case Primitive::Sqrt: return "Sqrt";
  case Primitive::Exp: return "Exp";
  case Primitive::Log: return "Log";
  case Primitive::Sin: return "Sin";
  case Primitive::Cos: return "Cos";
  case Primitive::Tanh: return "Tanh";
  case Primitive::Erf: return "Erf";
  case Primitive::Floor: return "Floor";
  case Primitive::Ceil: return "Ceil";
  case Primitive::Round: return "Round";
  case Primitive::Pow: return "Pow";
  case Primitive::Argument:
  case Primitive::Constant:
  case Primitive::Clip:
  case Primitive::MulAdd:
  case Primitive::Log1p:
  case Primitive::Log1pWithin:
  case Primitive::Expm1:
  case Primitive::Erfc:
  case Primitive::Call: return "";
  }
  return "";
}

class Body {
 public:
  Body(ExportCall& call) : call_(call), element_(call.type(0).element) {}

  std::string resultOf(const Program& program, const Names& arguments) {
    Names values;
    const auto needed = program.neededFor({true});
    for (size_t i = 0; i < program.size(); ++i) {
      Names inputs;
      for (size_t k = 0; k < program[i].operands; ++k) {
        inputs.push_back(values[program[i].inputs[k]]);
      }
      values.push_back(needed[i] ? valueOf(program[i], inputs, arguments) : "");
    }
    return values[program.result()];
  }

 private:
  std::string number(double value) { return call_.scalar(element_, value); }

  std::string valueOf(const Instruction& instruction, const Names& in, const Names& arguments) {
    switch (instruction.primitive) {
    case Primitive::Argument: return arguments[instruction.callee];
    case Primitive::Constant: return number(static_cast<double>(instruction.value));
    case Primitive::Clip: return call_.node("Min", {call_.node("Max", {in[0], in[1]}), in[2]});
    case Primitive::MulAdd: return call_.node("Add", {call_.node("Mul", {in[0], in[1]}), in[2]});
    case Primitive::Log1p:
    case Primitive::Log1pWithin: return call_.node("Log", {call_.node("Add", {number(1), in[0]})});
    case Primitive::Expm1: return call_.node("Sub", {call_.node("Exp", {in[0]}), number(1)});
    case Primitive::Erfc: return call_.node("Sub", {number(1), call_.node("Erf", {in[0]})});
    case Primitive::Call: return resultOf(*formulaOf(instruction.kind())->bodies[instruction.variant], in);
    default: return call_.node(nodeName(instruction.primitive), in);
    }
  }

  ExportCall& call_;
  ElementType element_;
};

} // namespace

Names exportFormula(ExportCall& call) {
  const FormulaFacts& formula = *formulaOf(call.attributes().kind());
  if (!formula.onnxName.empty()) {
    return {call.node(std::string(formula.onnxName), call.all())};
  }
  return {Body(call).resultOf(*formula.bodies[formulaVariantOf(call.attributes())], call.all())};
}

} // namespace dfc::onnx
