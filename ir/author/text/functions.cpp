#include "ir/author/text/functions.h"

#include "ir/author/optimizers.h"
#include "ir/author/schedules.h"
#include "ir/graph/graph.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>

namespace dfc::text {
namespace {

constexpr auto number = AttributeForm::Number;
constexpr auto anyOne = AttributeForm::NumberOrValue;

Tensor writeStep(Builder& g, const FunctionCall& /*call*/) { return g.step(); }
Tensor writeWarmUp(Builder& /*g*/, const FunctionCall& call) {
  return warmUp(call.operands[0], call.wholeNumber("steps"));
}
Tensor writeLinear(Builder& /*g*/, const FunctionCall& call) {
  return linearDecay(call.operands[0], call.wholeNumber("steps"), call.number("end", 0));
}
Tensor writeCosine(Builder& /*g*/, const FunctionCall& call) {
  return cosineDecay(call.operands[0], call.wholeNumber("steps"), call.number("end", 0));
}
Tensor writeStepDecay(Builder& /*g*/, const FunctionCall& call) {
  return stepDecay(call.operands[0], call.wholeNumber("steps"), call.number("factor", 0.1));
}

/// Parameters of floats that the loss depends on, but for paths through stopGradient, and that nothing is
/// assigned to yet, in the order of the file.
std::vector<Tensor> trainedBy(Builder& g, Tensor loss) {
  const Graph& graph = g.graph().soFar();
  std::vector<bool> needed(graph.valueCount());
  needed[loss.value().index()] = true;
  std::vector<Tensor> found;
  for (size_t i = graph.opCount(); i-- > 0;) {
    const OpId op(static_cast<uint32_t>(i));
    const auto results = graph[op].results();
    if (!llvm::any_of(results, [&](ValueId value) { return needed[value.index()]; })) {
      continue;
    }
    for (const ValueId operand : graph[op].operands) {
      needed[operand.index()] = needed[operand.index()] || graph[op].kind() != OpKind::StopGradient;
    }
    if (graph[op].kind() == OpKind::Parameter && isFloat(graph.typeOf(*results.begin()).element)) {
      found.emplace_back(&g, *results.begin());
    }
  }
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == OpKind::Assign) {
      llvm::erase_if(found, [&](Tensor one) { return one.value() == graph[op].operands[0]; });
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

/// What an update works on.
struct Trained {
  std::vector<Tensor> parameters, gradients;
};

Trained trainedOf(Builder& g, const FunctionCall& call) {
  const auto here = std::source_location::current(); // the guard around the call says where it really is
  const Tensor loss = call.operands[0];
  Trained trained{{call.operands.begin() + 1, call.operands.end()}, {}};
  if (trained.parameters.empty()) {
    trained.parameters = trainedBy(g, loss);
  }
  if (trained.parameters.empty()) {
    g.report(here, "the loss depends on no parameter that nothing is assigned to yet",
             "name the parameters behind the loss, or declare some");
    return trained;
  }
  std::vector<Tensor> operands{loss};
  operands.insert(operands.end(), trained.parameters.begin(), trained.parameters.end());
  trained.gradients = g.multiOp(ops::Gradients{}, operands, here);
  if (call.attributes.count("clipNorm") != 0) {
    trained.gradients = clipByGlobalNorm(trained.gradients, call.number("clipNorm", 1));
  }
  return trained;
}

template <class Options>
Options withCommon(const FunctionCall& call, Options options, double rate) {
  options.rate = call.rate(rate);
  options.weightDecay = call.number("weightDecay", 0);
  options.noDecay = call.words("noDecay");
  options.onlyIf = call.value("onlyIf");
  return options;
}

/// Runs the rule, unless there is nothing to run it on, which is said then.
template <class Rule>
Tensor update(Builder& g, const FunctionCall& call, Rule rule) {
  const Trained trained = trainedOf(g, call);
  if (!trained.gradients.empty()) {
    rule(trained.parameters, trained.gradients);
  }
  return {};
}

Tensor writeSgd(Builder& g, const FunctionCall& call) {
  return update(g, call, [&](const auto& w, const auto& d) { sgd(w, d, call.rate(0.1)); });
}
Tensor writeMomentum(Builder& g, const FunctionCall& call) {
  MomentumOptions options = withCommon(call, MomentumOptions{}, 0.1);
  options.momentum = call.number("momentum", options.momentum);
  options.nesterov = call.truth("nesterov");
  return update(g, call, [&](const auto& w, const auto& d) { momentum(w, d, options); });
}
Tensor writeAdam(Builder& g, const FunctionCall& call) {
  AdamOptions options = withCommon(call, AdamOptions{}, 1e-3);
  options.beta1 = call.number("beta1", options.beta1);
  options.beta2 = call.number("beta2", options.beta2);
  options.epsilon = call.number("epsilon", options.epsilon);
  return update(g, call, [&](const auto& w, const auto& d) { adam(w, d, options); });
}
Tensor writeLion(Builder& g, const FunctionCall& call) {
  LionOptions options = withCommon(call, LionOptions{}, 1e-4);
  options.beta1 = call.number("beta1", options.beta1);
  options.beta2 = call.number("beta2", options.beta2);
  return update(g, call, [&](const auto& w, const auto& d) { lion(w, d, options); });
}
Tensor writeAdafactor(Builder& g, const FunctionCall& call) {
  const AdafactorOptions options = withCommon(call, AdafactorOptions{}, 1e-2);
  return update(g, call, [&](const auto& w, const auto& d) { adafactor(w, d, options); });
}

std::vector<FunctionField> updateFields(std::vector<FunctionField> own) {
  own.insert(own.end(), {{"rate", anyOne},
                         {"weightDecay", number},
                         {"noDecay", AttributeForm::Text},
                         {"onlyIf", AttributeForm::Value},
                         {"clipNorm", number}});
  return own;
}

std::vector<FunctionRow> makeRows() {
  const FunctionField steps{"steps", AttributeForm::WholeNumber, true};
  const FunctionField beta1{"beta1", number}, beta2{"beta2", number};
  return {
      {"step", false, 0, {}, writeStep},
      {"warmUp", false, 1, {steps}, writeWarmUp},
      {"linearDecay", false, 1, {steps, {"end", number}}, writeLinear},
      {"cosineDecay", false, 1, {steps, {"end", number}}, writeCosine},
      {"stepDecay", false, 1, {steps, {"factor", number}}, writeStepDecay},
      {"sgd", true, 1, {{"rate", anyOne}, {"clipNorm", number}}, writeSgd},
      {"momentum", true, 1, updateFields({{"momentum", number}, {"nesterov", AttributeForm::Truth}}),
       writeMomentum},
      {"adam", true, 1, updateFields({beta1, beta2, {"epsilon", number}}), writeAdam},
      {"lion", true, 1, updateFields({beta1, beta2}), writeLion},
      {"adafactor", true, 1, updateFields({}), writeAdafactor},
  };
}

template <class T>
const T* attribute(const FunctionCall& call, std::string_view name) {
  const auto found = call.attributes.find(name);
  return found == call.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

} // namespace

double FunctionCall::number(std::string_view name, double otherwise) const {
  const Operand* given = attribute<Operand>(*this, name);
  return given != nullptr && given->number() != nullptr ? *given->number() : otherwise;
}

int64_t FunctionCall::wholeNumber(std::string_view name) const {
  const int64_t* given = attribute<int64_t>(*this, name);
  return given != nullptr ? *given : 0;
}

Operand FunctionCall::rate(double otherwise) const {
  const Operand* given = attribute<Operand>(*this, "rate");
  return given != nullptr ? *given : Operand(otherwise);
}

bool FunctionCall::truth(std::string_view name) const {
  const bool* given = attribute<bool>(*this, name);
  return given != nullptr && *given;
}

Tensor FunctionCall::value(std::string_view name) const {
  const Operand* given = attribute<Operand>(*this, name);
  return given != nullptr && given->tensor() != nullptr ? *given->tensor() : Tensor();
}

std::vector<std::string> FunctionCall::words(std::string_view name) const {
  std::vector<std::string> words;
  if (const std::string* given = attribute<std::string>(*this, name)) {
    llvm::SmallVector<llvm::StringRef, 4> parts;
    llvm::SplitString(*given, parts, ", ");
    for (const llvm::StringRef part : parts) {
      words.push_back(part.str());
    }
  }
  return words;
}

const FunctionField* FunctionRow::field(std::string_view word) const {
  const auto found = llvm::find_if(fields, [&](const FunctionField& one) { return one.name == word; });
  return found == fields.end() ? nullptr : &*found;
}

llvm::ArrayRef<FunctionRow> functionRows() {
  static const std::vector<FunctionRow> rows = makeRows();
  return rows;
}

const FunctionRow* functionNamed(std::string_view word) {
  const auto rows = functionRows();
  const auto* found = llvm::find_if(rows, [&](const FunctionRow& row) { return row.name == word; });
  return found == rows.end() ? nullptr : found;
}

} // namespace dfc::text
