// importFile on models that are wrong, open or more than dfc has: each gets a message with the file, the node
// and the way out. The models are made here, field by field (numbers: onnx.ai, IR specification).
#include "compiler/interpreter/evaluate.h"
#include "ir/author/onnx/import.h"
#include "ir/base/atomic_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace dfc::test {
namespace {

using onnx::WireWriter;

constexpr int64_t f32Element = onnx::element::f32;

/// A tensor's name and type; a dimension below 0 is free and called "batch".
WireWriter port(const std::string& name, const std::vector<int64_t>& dims) {
  WireWriter shape, tensor, type, made;
  for (const int64_t dim : dims) {
    WireWriter one;
    dim < 0 ? one.text(2, "batch") : one.integer(1, dim);
    shape.message(1, one);
  }
  tensor.integer(1, f32Element);
  tensor.message(2, shape);
  type.message(1, tensor);
  made.text(1, name);
  made.message(2, type);
  return made;
}

WireWriter node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                const std::string& name = "") {
  WireWriter made;
  for (const std::string& input : inputs) {
    made.text(1, input);
  }
  made.text(2, output);
  made.text(3, name);
  made.text(4, op);
  return made;
}

/// A model of these nodes from x to y.
std::string model(const std::vector<WireWriter>& nodes, const std::vector<int64_t>& dims = {2, 3},
                  const std::vector<WireWriter>& tensors = {}, int64_t opset = 17) {
  WireWriter graph, set, made;
  for (const WireWriter& one : nodes) {
    graph.message(1, one);
  }
  for (const WireWriter& tensor : tensors) {
    graph.message(5, tensor);
  }
  graph.message(11, port("x", dims));
  graph.message(12, port("y", {}));
  set.integer(2, opset);
  made.message(7, graph);
  made.message(8, set);
  return made.str();
}

Result<Graph> imported(const std::string& bytes, const std::map<std::string, int64_t>& dims = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.onnx");
  writeFileAtomically(path, bytes).orThrow();
  onnx::ImportSettings settings;
  settings.dims = dims;
  settings.weightFile = "m.onnx";
  settings.evaluate = evaluateOp;
  return onnx::importFile(path, settings);
}

/// What is said, without the folder of the file.
std::string said(const std::string& bytes, const std::map<std::string, int64_t>& dims = {}) {
  const auto graph = imported(bytes, dims);
  std::string all;
  for (const Diagnostic& error : graph.errors()) {
    CHECK(error.where.file.ends_with("m.onnx"));
    all += (all.empty() ? "" : "\n") + error.message;
  }
  return all;
}

/// An initialiser of external data.
WireWriter external(const std::string& location) {
  WireWriter entry, tensor;
  entry.text(1, "location");
  entry.text(2, location);
  tensor.integers(1, std::vector<int64_t>{3});
  tensor.integer(2, f32Element);
  tensor.text(8, "w");
  tensor.message(13, entry);
  tensor.integer(14, 1);
  return tensor;
}

} // namespace

TEST_CASE("onnx: a file that is none, or is cut short, says where") {
  const std::string whole = model({node("Relu", {"x"}, "y")});
  CHECK(imported(whole).ok());
  CHECK(said("no model").starts_with("is no ONNX model: byte "));
  CHECK(said("") == "is no ONNX model: there is no graph in it");
  for (size_t bytes = 1; bytes < whole.size(); ++bytes) {
    CHECK(!imported(whole.substr(0, bytes)).ok());
  }
  CHECK(said(model({node("Relu", {"x"}, "y")}, {2, 3}, {}, 6)) == "is of opset 6; dfc reads opsets 7 to 23");
}

TEST_CASE("onnx: free dimensions are listed, and bound by name or place") {
  const std::string free = model({node("Relu", {"x"}, "y")}, {-1, 3});
  CHECK(said(free) == "free dimensions: batch (of x axis 0)");
  CHECK(imported(free, {{"batch", 8}}).orThrow().inputs()[0].type == f32({8, 3}));
  CHECK(imported(free, {{"x.0", 4}}).orThrow().inputs()[0].type == f32({4, 3}));
  CHECK(said(free, {{"batch", 8}, {"bach", 8}}) == "there is no free dimension 'bach'");
}

TEST_CASE("onnx: all missing ops are one message, each with its nodes") {
  CHECK(said(model({node("Frob", {"x"}, "a", "first"), node("Relu", {"a"}, "b"), node("Frob", {"x"}, "c"),
                    node("Knit", {"b", "c"}, "y", "last")})) ==
        "dfc lacks 2 of the ops of this model: Frob ('first', node 3), Knit ('last')");
}

TEST_CASE("onnx: mistakes of nodes name the node") {
  CHECK(said(model({node("Relu", {"z"}, "y", "r")})) == "Relu 'r': nothing before it is called 'z'");
  CHECK(said(model({node("Relu", {"y"}, "y", "r")})) ==
        "Relu 'r': nothing before it is called 'y'"); // a cycle
  CHECK(said(model({node("Add", {"x"}, "y", "a")})) == "Add 'a': dfc cannot express Add without operand 1");
  CHECK(said(model({node("Relu", {"x"}, "a")})) == "output 'y': nothing before it is called 'y'");
  CHECK(said(model({node("Relu", {"x"}, "y"), node("Neg", {"x"}, "y", "n")})) ==
        "Neg 'n': a second value named 'y'");
  CHECK(said(model({node("Relu", {"x"}, "y")}, {int64_t{1} << 40, int64_t{1} << 40})) ==
        "dfc cannot express input 'x' of shape [1099511627776, 1099511627776]");
}

TEST_CASE("onnx: external data stays in the model's folder") {
  for (const std::string place : {"../w.bin", "/etc/passwd", "a/../../w.bin", ""}) {
    CHECK(said(model({node("Add", {"x", "w"}, "y", "a")}, {2, 3}, {external(place)})) ==
          "Add 'a': dfc cannot express external data in '" + place +
              "', which is not a file in the model's folder");
  }
}

} // namespace dfc::test
