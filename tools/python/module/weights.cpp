// Rules for weights that others have saved.
#include "runtime/weights/load_weights.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace dfc::python {

using nb::literals::operator""_a;

void bindWeights(nb::module_& module) {
  nb::class_<RenameRules> rules(
      module, "RenameRules",
      "Rules that give tensors other names, other orders of their axes and other element types. A rule is a "
      "line, and the first that matches a name decides: 'transformer.h.*.mlp.*.weight -> h.*.mlp.*.weight "
      "transposed', '/layers\\.(\\d+)/ -> h.$1 as f32', 'drop *.masked_bias'.");
  rules.def(
      "__init__",
      [](RenameRules* self, const std::string& text, const std::string& fileName) {
        new (self) RenameRules(orRaise(RenameRules::parse(text, fileName)));
      },
      "text"_a = "", "file_name"_a = "<text>",
      "Raises dfc.Error with every mistake, located; `file_name` is for that.");
  rules.def_static(
      "read", [](const PathLike& path) { return orRaise(RenameRules::read(pathOf(path))); }, "path"_a,
      "The rules of a file.");
  rules.def(
      "apply",
      [](const RenameRules& self, const FeedsLike& arrays) {
        return dictOf(orRaise(self.apply(literalsOf(arrays, Sharing::Shared), "arrays")));
      },
      "arrays"_a,
      nb::sig("def apply(self, arrays: collections.abc.Mapping[str, numpy.typing.ArrayLike]) -> dict[str, "
              "typing.Any]"),
      "The arrays by their new names. Raises dfc.Error for two that get one name, and for axes that an array "
      "does not have.");
}

} // namespace dfc::python
