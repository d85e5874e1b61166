// ONNX models as graphs: what PyTorch, TensorFlow and others export, compiled and trained like any graph; and
// graphs as ONNX models.
//
//     Graph graph = importOnnx("model.onnx", {.dims = {{"batch", 8}}}).orThrow();
//     auto session = open(graph, estimatedHost()).orThrow();
//     auto y = session->run({{"x", picture}}).orThrow().at("y");
//     exportOnnx(graph, "trained.onnx", {.state = session->state()}).orThrow();
//
// Opsets 7 to 23. Weights become parameters that start from the model's file (and the files of external data
// beside it), which a session reads when it opens; constants decide shapes, which are folded. Inputs and
// fetches have the model's names. Integers that dfc has no type for are held in wider ones: int8, int16 and
// uint16 in i32, uint32 and uint64 in i64.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/graph_class.h"
#include "ir/graph/literal.h"

#include <cstdint>
#include <map>
#include <string>

namespace DFC_PUBLIC dfc {

/// What a model leaves open.
struct OnnxOptions {
  /// The lengths of free dimensions, by the names that the model gives them ("batch"), or by input and axis
  /// ("x.0").
  std::map<std::string, int64_t> dims = {};
  /// Inputs that are to be constants of the graph, such as those that decide a shape.
  NamedLiterals values = {};
  /// How parameters name the model's file: relative to SessionOptions::dataFolder, or absolute. Empty: the
  /// path as it was given.
  std::string weightFile = {};
};

/// The graph of a model. Errors, all at once: a file that is none, free dimensions without a length, the ops
/// that dfc lacks in one message with their nodes, what else a node asks for that dfc cannot express, and
/// mistakes of the model. Names of nodes in places and scopes are the model's; line N of the file stands for
/// its N-th node.
Result<Graph> importOnnx(const std::string& path, const OnnxOptions& options = {});

/// What a model is written from, beside the graph.
struct OnnxExportOptions {
  /// Values of parameters by name; others start as the graph says.
  NamedLiterals state = {};
  /// Folder that relative file initialisers are read from.
  std::string dataFolder = ".";
  /// Bytes of weights that the model itself may hold. Of more than that, tensors of 1 KiB and above go to a
  /// second file beside it, "model.onnx.data", as a message of protobuf holds at most 2 GiB.
  uint64_t mostInline = uint64_t{64} << 20;
};

/// Writes a model of opset 20. Inputs and fetches keep their names, shapes are fixed. A parameter that the
/// graph assigns is an input, with its value as default, and its next value an output NAME.next, as ONNX has
/// no state. Both files are written under a temporary name, then renamed. Errors: ops that ONNX cannot say,
/// all in one message with their places; values that fit no parameter; files that cannot be read or written.
Status exportOnnx(const Graph& graph, const std::string& path, const OnnxExportOptions& options = {});

} // namespace dfc
