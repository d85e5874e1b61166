// Models of ONNX.
#include "tools/library/onnx.h"

#include "ir/graph/graph.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>
#include <string>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using Lengths = std::map<std::string, int64_t>;

Graph imported(const PathLike& path, const Lengths& dims, const FeedsLike& values,
               const std::string& weightFile) {
  OnnxOptions options;
  options.dims = dims;
  options.values = literalsOf(values, Sharing::Copied);
  options.weightFile = weightFile;
  const std::string file = pathOf(path);
  auto graph = [&] {
    const nb::gil_scoped_release unlocked;
    return importOnnx(file, options);
  }();
  return orRaise(std::move(graph));
}

void exported(const Graph& graph, const PathLike& path, const FeedsLike& state, const PathLike& dataFolder,
              uint64_t mostInline) {
  const OnnxExportOptions options{literalsOf(state, Sharing::Shared), pathOf(dataFolder), mostInline};
  const std::string file = pathOf(path);
  auto done = [&] {
    const nb::gil_scoped_release unlocked;
    return exportOnnx(graph, file, options);
  }();
  orRaise(std::move(done));
}

} // namespace

void bindOnnx(nb::module_& module) {
  module.def(
      "import_onnx", imported, "path"_a, nb::kw_only(), "dims"_a = Lengths(), "values"_a = nb::dict(),
      "weight_file"_a = "",
      nb::sig(
          "def import_onnx(path: str | os.PathLike[str], *, dims: collections.abc.Mapping[str, int] = {}, "
          "values: collections.abc.Mapping[str, numpy.typing.ArrayLike] = {}, weight_file: str = '') -> "
          "Graph"),
      "The graph of a model. dims: lengths of free dimensions by the model's names ('batch'), or by input "
      "and "
      "axis ('x.0'). values: inputs that are to be constants. weight_file: how parameters name the model's "
      "file, from which a session reads the weights when it opens ('': as `path`). Raises dfc.Error with all "
      "that is missing: free dimensions, ops that dfc lacks with their nodes, mistakes of the model.");
  module.def(
      "export_onnx", exported, "graph"_a, "path"_a, nb::kw_only(), "state"_a = nb::dict(),
      "data_folder"_a = ".", "most_inline"_a = OnnxExportOptions().mostInline,
      nb::sig("def export_onnx(graph: Graph, path: str | os.PathLike[str], *, state: "
              "collections.abc.Mapping[str, "
              "numpy.typing.ArrayLike] = {}, data_folder: str | os.PathLike[str] = '.', most_inline: int = "
              "67108864) -> None"),
      "Writes a model of opset 20. state: values of parameters by name, such as Session.state(); others "
      "start as "
      "the graph says, from files in `data_folder`. A parameter that the graph assigns is an input with its "
      "value as default, and its next value an output NAME.next. Of more than most_inline bytes of weights, "
      "large ones go to a second file, 'model.onnx.data'. Raises dfc.Error with all ops that ONNX cannot "
      "say.");
}

} // namespace dfc::python
