#include "tests/onnx/node_outcome.h"

#include "compiler/interpreter/evaluate.h"
#include "compiler/compile.h"
#include "compiler/cost/cost_model.h"
#include "runtime/session.h"
#include "tests/onnx/node_call.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc::test {
namespace {

namespace fs = std::filesystem;

fs::path dataFile(const fs::path& set, std::string_view what, size_t index) {
  return set / fmt::format("{}_{}.pb", what, index);
}

void mapNode(OnnxScope& scope, const OnnxNode& node, int64_t opset) {
  const NodeMapping mapping = onnxMapping(node.op);
  NodeCall call(scope, node, opset);
  const NodeResults results = mapping(call);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (call.wants(i)) {
      if (i >= results.size()) {
        throw OutOfScope(fmt::format("result {} of {}", i, node.op));
      }
      scope.define(node.outputs[i], results[i]);
    }
  }
}

// The whole model as a graph whose fetches are "0", "1", … and whose inputs hold the data of the set.
void build(OnnxScope& scope, const OnnxModel& model, const fs::path& set) {
  for (const auto& [name, value] : model.initializers) {
    scope.define(name, scope.builder().constant(value));
  }
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const OnnxPort& port = model.inputs[i];
    if (model.initializers.count(port.name) == 0) {
      scope.input(port.name, readOnnxTensor(dataFile(set, "input", i), port));
    }
  }
  for (const OnnxNode& node : model.nodes) {
    mapNode(scope, node, model.opset);
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

// ONNX's own runner allows 1e-3; a result that was computed once in f32 is far closer.
double toleranceOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::F64: return 2e-5;    // the expected values of both were computed in f32 here and there
  case ElementType::BF16: return 0x1p-7; // casts whose expected values were truncated; ours are rounded
  case ElementType::F16:                 // casts, max, min and mod: nothing that rounds twice
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

bool agree(double got, double wanted, double tolerance) {
  return got == wanted || (std::isnan(got) && std::isnan(wanted)) ||
         std::fabs(got - wanted) <= tolerance * std::fmax(1e-2, std::fabs(wanted));
}

// What is wrong with a result; "" when nothing is.
std::string difference(const Literal& got, const Literal& wanted, double least) {
  if (!(got.type() == wanted.type())) {
    return fmt::format("{} instead of {}", toString(got.type()), toString(wanted.type()));
  }
  const double tolerance =
      isFloat(wanted.type().element) ? std::fmax(least, toleranceOf(wanted.type().element)) : 0;
  for (int64_t i = 0; i < wanted.type().shape.elements(); ++i) {
    if (!agree(got.at(i), wanted.at(i), tolerance)) {
      return fmt::format("element {} is {} instead of {}", i, got.at(i), wanted.at(i));
    }
  }
  return "";
}

/// A model with one set of data.
struct Trial {
  const OnnxModel& model;
  fs::path set;
  double tolerance; ///< at least this one
};

std::string differences(const Trial& trial, const NamedLiterals& results, std::string_view whose) {
  for (size_t i = 0; i < trial.model.outputs.size(); ++i) {
    const Literal wanted = readOnnxTensor(dataFile(trial.set, "output", i), trial.model.outputs[i]);
    const std::string wrong = difference(results.at(std::to_string(i)), wanted, trial.tolerance);
    if (!wrong.empty()) {
      return fmt::format("{}, output {}: {}", whose, i, wrong);
    }
  }
  return "";
}

// The compiled plan and the reference evaluator, each against the expected values.
std::string run(const Trial& trial) {
  Builder builder("onnx");
  OnnxScope scope(builder);
  build(scope, trial.model, trial.set);
  const NamedLiterals feeds = scope.feeds();
  const Result<Graph> graph = std::move(builder).finish();
  if (!graph) {
    return render(graph.errors());
  }
  const Result<Evaluation> evaluated = evaluate(*graph, feeds);
  if (!evaluated) {
    return render(evaluated.errors());
  }
  const std::string wrong = differences(trial, evaluated->fetches, "the evaluator");
  return wrong.empty() ? differences(trial, computed(*graph, feeds), "the plan") : wrong;
}

NodeOutcome outcomeOf(const fs::path& folder) {
  const OnnxModel model = readOnnxModel(folder / "model.onnx");
  const std::string_view loose = looseness(folder.filename().string());
  size_t sets = 0;
  for (; fs::exists(folder / fmt::format("test_data_set_{}", sets)); ++sets) {
    const fs::path set = folder / fmt::format("test_data_set_{}", sets);
    std::string wrong = run({model, set, loose.empty() ? 0 : 1e-3});
    if (!wrong.empty()) {
      return {NodeOutcome::Kind::Fails, std::move(wrong)};
    }
  }
  return sets == 0 ? NodeOutcome{NodeOutcome::Kind::Fails, "no test data"}
                   : NodeOutcome{NodeOutcome::Kind::Passes, std::string(loose)};
}

} // namespace

NodeOutcome runNodeTest(const fs::path& folder) {
  try {
    return outcomeOf(folder);
  } catch (const OutOfScope& reason) {
    return {NodeOutcome::Kind::OutOfScope, reason.what()};
  } catch (const std::exception& failure) {
    return {NodeOutcome::Kind::Fails, failure.what()};
  }
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
