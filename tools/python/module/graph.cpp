// Graph: what is in it as plain objects, its text, its picture.
#include "ir/graph/graph.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/base/atomic_file.h"
#include "ir/draw/dot.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/plain.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <span>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

nb::list opsOf(const Graph& graph) {
  nb::list ops;
  for (const OpId op : graph.ops()) {
    const SourceLocation place = graph.locationOf(op);
    nb::list operands, results;
    for (const ValueId operand : graph[op].operands) {
      operands.append(std::string(graph.nameOf(operand)));
    }
    for (const ValueId result : graph[op].results()) {
      results.append(specOf(graph.typeOf(result)));
    }
    ops.append(plain("Op")(std::string(graph.nameOf(op)), std::string(nameOf(graph[op].kind())), operands,
                           results, std::string(graph.scopeOf(op)), std::string(graph.pinOf(op)), place.file,
                           place.line, place.column));
  }
  return ops;
}

void save(const Graph& graph, const PathLike& path) {
  const std::string text = printGraph(graph);
  orRaise(writeFileAtomically(pathOf(path), std::as_bytes(std::span(text))));
}

} // namespace

void bindGraph(nb::module_& module) {
  nb::class_<Graph> graph(
      module, "Graph",
      "A whole computation, which never changes. Made by Builder.finish, or read from a graph "
      "file. `str(graph)` is its text, a .dfg file.");
  graph.def_prop_ro(
      "name", [](const Graph& self) { return self.name(); }, "The name that the author gave.");
  graph.def_prop_ro(
      "inputs", [](const Graph& self) { return specsOf(self.inputs()); },
      "What a step is fed: TensorSpec by name, in the order of writing.");
  graph.def_prop_ro(
      "parameters", [](const Graph& self) { return specsOf(self.parameters()); },
      "What outlives a step: TensorSpec by name.");
  graph.def_prop_ro(
      "results", [](const Graph& self) { return specsOf(self.results()); },
      "What a step gives back: TensorSpec by name of the fetch.");
  graph.def_prop_ro("ops", opsOf, "Every op: dfc.Op with its name, kind, operands, scope, pin and place.");
  graph.def("save", save, "path"_a, "Writes the text as a .dfg file: whole or not at all.");
  graph.def(
      "dot", [](const Graph& self) { return graphDot(self); }, "The graph in Graphviz' DOT language.");
  graph.def(
      "__len__", [](const Graph& self) { return self.opCount(); }, "How many ops.");
  graph.def("__str__", [](const Graph& self) { return printGraph(self); });
  graph.def("__repr__", [](const Graph& self) {
    return fmt::format("<dfc.Graph '{}' of {} ops>", self.name(), self.opCount());
  });
  module.def(
      "read_graph", [](const PathLike& path) { return orRaise(readGraph(pathOf(path))); }, "path"_a,
      "Reads a graph file (.dfg). Raises dfc.Error with every mistake, located.");
  module.def(
      "parse_graph",
      [](const std::string& text, const std::string& fileName) {
        return orRaise(parseGraph(text, fileName));
      },
      "text"_a, "file_name"_a = "<text>", "The same of a text; `file_name` is for messages.");
}

} // namespace dfc::python
