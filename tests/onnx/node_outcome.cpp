#include "tests/onnx/node_outcome.h"

#include "compiler/compile.h"
#include "compiler/cost/cost_model.h"
#include "compiler/interpreter/evaluate.h"
#include "ir/author/onnx/import.h"
#include "runtime/session.h"
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

bool isInitializer(const OnnxModel& model, const std::string& name) {
  const auto& all = model.graph.initializers;
  return std::any_of(all.begin(), all.end(), [&](const onnx::OnnxTensor& one) { return one.name == name; });
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
  if (test.find("window") != std::string::npos && test.find("stft") == std::string::npos) {
    return "its expected values were computed with pi = 3.1415";
  }
  return test.find("roialign") != std::string::npos || test == "test_gridsample_bicubic"
             ? "its expected values have four digits behind the point"
             : "";
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
  const OnnxModel& model;
  const std::vector<Literal>& outputs;
  Closeness close;
};

std::string differences(const Expectation& wanted, const NamedLiterals& results, std::string_view whose) {
  for (size_t i = 0; i < wanted.outputs.size(); ++i) {
    const std::string wrong =
        difference(results.at(wanted.model.graph.outputs.at(i).name), wanted.outputs[i], wanted.close);
    if (!wrong.empty()) {
      return fmt::format("{}, output {}: {}", whose, i, wrong);
    }
  }
  return "";
}

// Thrown for the first problem of a model that dfc cannot express.
struct OutOfScope : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The inputs stay inputs of the graph; only shapes that depend on them are taken from the data.
Graph graphOf(const OnnxModel& model, const NamedLiterals& feeds) {
  onnx::ImportSettings settings;
  settings.samples = feeds;
  settings.evaluate = evaluateOp;
  onnx::Imported imported = onnx::importModel(model, settings);
  for (const onnx::Problem& problem : imported.problems) {
    if (problem.kind == onnx::Problem::Kind::Mistake) {
      throw std::runtime_error(problem.what);
    }
    throw OutOfScope(problem.what);
  }
  return *std::move(imported.graph);
}

// The compiled plan and the reference evaluator, each against the expected values; "" when both agree.
std::string run(const OnnxModel& model, const OnnxData& data, double tolerance) {
  NamedLiterals feeds;
  for (size_t i = 0; i < model.graph.inputs.size(); ++i) {
    if (!isInitializer(model, model.graph.inputs[i].name)) {
      feeds.emplace(model.graph.inputs[i].name, data.inputs.at(i));
    }
  }
  const Graph graph = graphOf(model, feeds);
  const Result<Evaluation> evaluated = evaluate(graph, feeds);
  if (!evaluated) {
    return render(evaluated.errors());
  }
  const Expectation wanted{model, data.outputs, {tolerance, model.graph.nodes.size() > 1}};
  const std::string wrong = differences(wanted, evaluated->fetches, "the evaluator");
  return wrong.empty() ? differences(wanted, computed(graph, feeds), "the plan") : wrong;
}

// Test data whose type is that of an input or output; bf16 is stored as u16.
Literal readTensor(const fs::path& file, const onnx::OnnxPort& port) {
  const auto mapped = onnx::MappedFile::open(file.string()).orThrow();
  onnx::OnnxTensor tensor = onnx::parseTensor(mapped->bytes());
  if (tensor.element == onnx::element::u16 && port.element == onnx::element::bf16) {
    tensor.element = onnx::element::bf16;
  }
  onnx::ExternalFiles none("");
  return onnx::literalOf(tensor, none);
}

OnnxData readOnnxData(const OnnxModel& model, const fs::path& set) {
  OnnxData data;
  for (const onnx::OnnxPort& port : model.graph.inputs) {
    if (isInitializer(model, port.name)) {
      data.inputs.emplace_back();
    } else if (!port.other.empty()) {
      throw OutOfScope("an input that is a sequence or optional");
    } else {
      data.inputs.push_back(readTensor(dataFile(set, "input", data.inputs.size()), port));
    }
  }
  for (const onnx::OnnxPort& port : model.graph.outputs) {
    if (!port.other.empty()) {
      throw OutOfScope("an output that is a sequence or optional");
    }
    data.outputs.push_back(readTensor(dataFile(set, "output", data.outputs.size()), port));
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
  } catch (const onnx::Unsupported& reason) {
    return {NodeOutcome::Kind::OutOfScope, reason.what()};
  } catch (const std::exception& failure) {
    return {NodeOutcome::Kind::Fails, failure.what()};
  }
}

// Why a test's expected values are of another node; "" for all but one.
std::string_view wrongness(const std::string& test) {
  return test == "test_adam_multiple"
             ? "its expected values were computed with epsilon = 0.01, which its node does not say"
             : "";
}

NodeOutcome outcomeOf(const fs::path& folder) {
  if (const std::string_view wrong = wrongness(folder.filename().string()); !wrong.empty()) {
    throw OutOfScope(std::string(wrong));
  }
  const std::string path = (folder / "model.onnx").string();
  const OnnxModel model = onnx::parseModel(onnx::MappedFile::open(path).orThrow(), path);
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
