// Models of ONNX.
#include "tools/library/onnx.h"

#include "ir/graph/graph.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/arrays.h"
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
}

} // namespace dfc::python
