#include "tests/onnx/node_outcome.h"

#include "compiler/compile.h"
#include "compiler/cost/cost_model.h"
#include "compiler/interpreter/evaluate.h"
#include "runtime/session.h"
#include "tests/onnx/node_call.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc::test {
namespace {

namespace fs = std::filesystem;

fs::path dataFile(const fs::path& set, std::string_view what, size_t index) {
  return set / fmt::format("{}_{}.pb", what, index);
}

void defineResults(OnnxScope& scope, const OnnxNode& node, int64_t opset) {
  const NodeResults results = mapNode(scope, node, opset);
  for (size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
    if (!node.outputs[i].empty()) {
      scope.define(node.outputs[i], results[i]);
    }
  }
}

// The whole model as a graph whose fetches are "0", "1", … and whose inputs hold the data.
void build(OnnxScope& scope, const OnnxModel& model, const OnnxData& data) {
  for (const auto& [name, value] : model.initializers) {
    scope.define(name, scope.builder().constant(value));
  }
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (model.initializers.count(model.inputs[i].name) == 0) {
      scope.input(model.inputs[i].name, data.inputs.at(i));
    }
  }
  for (const OnnxNode& node : model.nodes) {
    defineResults(scope, node, model.opset);
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    scope.builder().fetch(std::to_string(i), scope.tensor(model.outputs[i].name));
  }
}

NamedLiterals computed(const Graph& graph, const NamedLiterals& feeds) {
  const Machine machine = smallMachine(0);
  Result<Executable> plan = compile(graph, machine, RooflineCostModel(), {});
  if (!plan) {
    throw std::runtime_error(render(plan.errors()));
  }
  auto session = Session::open(std::make_shared<const Executable>(*std::move(plan)));
  if (!session) {
    throw std::runtime_error(render(session.errors()));
  }
  auto results = (*session)->run(feeds);
  if (!results) {
    throw std::runtime_error(render(results.errors()));
  }
  return *std::move(results);
}

// Half floats: of one node, a cast, max, min or mod, which do not round twice; a model of several nodes
// rounds after each, where the expected values were rounded after others.
double toleranceOfHalf(bool bfloat, bool several) {
  return bfloat ? (several ? 0x1p-6 : 0x1p-7) // casts whose expected values were truncated; ours are rounded
                : (several ? 0x1p-9 : 0);
}

// ONNX's own runner allows 1e-3; a result that was computed once in f32 is far closer.
double toleranceOf(ElementType type, bool several) {
  switch (type) {
  case ElementType::F32:
  case ElementType::F64: return 2e-5; // the expected values of both were computed in f32 here and there
  case ElementType::BF16: return toleranceOfHalf(true, several);
  case ElementType::F16: return toleranceOfHalf(false, several);
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: return 0;
  }
  return 0;
}

// Why a test's floats are held against its expected values within 1e-3 only; "" for all but a few.
std::string_view looseness(const std::string& test) {
  return test.find("window") != std::string::npos ? "its expected values were computed with pi = 3.1415" : "";
}

// An infinity agrees with itself alone: any difference from it is within any part of it.
bool agree(double got, double wanted, double tolerance) {
  return got == wanted || (std::isnan(got) && std::isnan(wanted)) ||
         (std::isfinite(wanted) && std::fabs(got - wanted) <= tolerance * std::fmax(1e-2, std::fabs(wanted)));
}

/// What the results of a model may differ by.
struct Closeness {
  double least = 0;     ///< the least tolerance of floats
  bool several = false; ///< the model has several nodes
};

// What is wrong with a result; "" when nothing is.
std::string difference(const Literal& got, const Literal& wanted, const Closeness& close) {
  if (!(got.type() == wanted.type())) {
    return fmt::format("{} instead of {}", toString(got.type()), toString(wanted.type()));
  }
  const ElementType element = wanted.type().element;
  const double tolerance = isFloat(element) ? std::fmax(close.least, toleranceOf(element, close.several)) : 0;
  for (int64_t i = 0; i < wanted.type().shape.elements(); ++i) {
    if (!agree(got.at(i), wanted.at(i), tolerance)) {
      return fmt::format("element {} is {} instead of {}", i, got.at(i), wanted.at(i));
    }
  }
  return "";
}

/// The expected values of a model and how close its results have to be.
struct Expectation {
  const std::vector<Literal>& outputs;
  Closeness close;
};

std::string differences(const Expectation& wanted, const NamedLiterals& results, std::string_view whose) {
  for (size_t i = 0; i < wanted.outputs.size(); ++i) {
    const std::string wrong = difference(results.at(std::to_string(i)), wanted.outputs[i], wanted.close);
    if (!wrong.empty()) {
      return fmt::format("{}, output {}: {}", whose, i, wrong);
    }
  }
  return "";
}

// What the author of the graph did wrong explains an exception that follows from it.
Result<Graph> graphOf(Builder& builder, OnnxScope& scope, const OnnxModel& model, const OnnxData& data) {
  try {
    build(scope, model, data);
  } catch (const OutOfScope&) {
    throw;
  } catch (const std::exception&) {
    if (builder.graph().errors().empty()) {
      throw;
    }
  }
  return std::move(builder).finish();
}

// The compiled plan and the reference evaluator, each against the expected values; "" when both agree.
std::string run(const OnnxModel& model, const OnnxData& data, double tolerance) {
  Builder builder("onnx");
  OnnxScope scope(builder);
  const Result<Graph> graph = graphOf(builder, scope, model, data);
  if (!graph) {
    return render(graph.errors());
  }
  const Result<Evaluation> evaluated = evaluate(*graph, scope.feeds());
  if (!evaluated) {
    return render(evaluated.errors());
  }
  const Expectation wanted{data.outputs, {tolerance, model.nodes.size() > 1}};
  const std::string wrong = differences(wanted, evaluated->fetches, "the evaluator");
  return wrong.empty() ? differences(wanted, computed(*graph, scope.feeds()), "the plan") : wrong;
}

OnnxData readOnnxData(const OnnxModel& model, const fs::path& set) {
  OnnxData data;
  for (const OnnxPort& port : model.inputs) {
    const auto known = model.initializers.find(port.name);
    data.inputs.push_back(known != model.initializers.end()
                              ? known->second
                              : readOnnxTensor(dataFile(set, "input", data.inputs.size()), port));
  }
  for (const OnnxPort& port : model.outputs) {
    data.outputs.push_back(readOnnxTensor(dataFile(set, "output", data.outputs.size()), port));
  }
  return data;
}

// Runs what throws as an outcome that says why.
template <class Action>
NodeOutcome caught(Action action) {
  try {
    return action();
  } catch (const OutOfScope& reason) {
    return {NodeOutcome::Kind::OutOfScope, reason.what()};
  } catch (const std::exception& failure) {
    return {NodeOutcome::Kind::Fails, failure.what()};
  }
}

NodeOutcome outcomeOf(const fs::path& folder) {
  const OnnxModel model = readOnnxModel(folder / "model.onnx");
  const std::string_view loose = looseness(folder.filename().string());
  NodeOutcome outcome{NodeOutcome::Kind::Fails, "no test data"};
  for (size_t sets = 0; fs::exists(folder / fmt::format("test_data_set_{}", sets)); ++sets) {
    const fs::path set = folder / fmt::format("test_data_set_{}", sets);
    outcome = runOnnxModel(model, readOnnxData(model, set), loose.empty() ? 0 : 1e-3);
    if (outcome.kind != NodeOutcome::Kind::Passes) {
      return outcome;
    }
    outcome.why = loose;
  }
  return outcome;
}

} // namespace

NodeOutcome runOnnxModel(const OnnxModel& model, const OnnxData& data, double tolerance) {
  return caught([&] {
    std::string wrong = run(model, data, tolerance);
    return NodeOutcome{wrong.empty() ? NodeOutcome::Kind::Passes : NodeOutcome::Kind::Fails,
                       std::move(wrong)};
  });
}

NodeOutcome runNodeTest(const fs::path& folder) {
  return caught([&] { return outcomeOf(folder); });
}

std::string spoken(const NodeOutcome& outcome) {
  switch (outcome.kind) {
  case NodeOutcome::Kind::Passes:
    return outcome.why.empty() ? "passes" : "passes within 1e-3: " + outcome.why;
  case NodeOutcome::Kind::OutOfScope: return "out of scope: " + outcome.why;
  case NodeOutcome::Kind::Fails: break;
  }
  return "FAILS: " + outcome.why;
}

} // namespace dfc::test
