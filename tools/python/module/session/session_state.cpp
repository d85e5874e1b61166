// A session's parameters: read, set, saved, loaded, and taken from files and sessions of others.
#include "tools/python/module/session/session_state.h"

#include "runtime/checkpoint.h"
#include "runtime/weights/load_weights.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/arrays/numpy_arrays.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/plain.h"
#include "tools/python/module/session/open_session.h"

#include <nanobind/stl/string.h>

#include <memory>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

nb::dict stateOf(const OpenSession& self, const std::string& arrays) {
  checkForm(arrays);
  const std::shared_ptr<Session> session = self.session();
  auto state = [&] {
    const nb::gil_scoped_release unlocked;
    return session->state();
  }();
  return dictOf(std::move(state), arrays);
}

void setState(const OpenSession& self, const FeedsLike& state) {
  const std::shared_ptr<Session> session = self.session();
  const NamedLiterals values = self.state(state);
  auto set = [&] {
    const nb::gil_scoped_release unlocked;
    return session->setState(values);
  }();
  orRaise(std::move(set));
}

template <class Action>
void withFile(const OpenSession& self, const PathLike& path, Action action) {
  const std::shared_ptr<Session> session = self.session();
  const std::string file = pathOf(path);
  auto done = [&] {
    const nb::gil_scoped_release unlocked;
    return action(*session, file);
  }();
  orRaise(std::move(done));
}

void bindState(nb::class_<OpenSession>& session) {
  session.def("state", stateOf, "arrays"_a = "numpy",
              "Copies of the parameters by name, between steps: waits for those under way.");
  session.def(
      "view",
      [](const OpenSession& self, const std::string& parameter) {
        return numpyOver(orRaise(self.session()->view(parameter)), Access::ReadOnly);
      },
      "parameter"_a, nb::sig("def view(self, parameter: str) -> typing.Any"),
      "A parameter where it lies, without a copy and without waiting: a NumPy array that cannot be written, "
      "and "
      "changes with the next step that assigns the parameter. It keeps the memory. Raises dfc.Error for a "
      "parameter that is cut over devices or lies on a GPU: `state` copies those.");
  session.def(
      "set_state", setState, "values"_a,
      "Sets parameters by name, between steps. Names, types and shapes must agree; none is set unless "
      "all do (dfc.Error).");
  session.def(
      "save", [](const OpenSession& self, const PathLike& path) { withFile(self, path, saveState); },
      "path"_a, "Writes the parameters as a checkpoint, a .safetensors file: whole or not at all.");
  session.def(
      "load", [](const OpenSession& self, const PathLike& path) { withFile(self, path, loadState); },
      "path"_a,
      "Reads a checkpoint. Every parameter must be in the file with its type and shape; nothing is set "
      "unless "
      "all is well (dfc.Error).");
}

WeightOptions weightOptions(const RenameRules* rules, bool partial) {
  return {rules != nullptr ? *rules : RenameRules(), partial};
}

template <class Action>
nb::object weightsBy(Action action) {
  auto loaded = [&] {
    const nb::gil_scoped_release unlocked;
    return action();
  }();
  const LoadedWeights found = orRaise(std::move(loaded));
  return plain("LoadedWeights")(found.set, found.parameters, found.unused);
}

nb::object loadWeightsOf(const OpenSession& self, const PathLike& path, const RenameRules* rules,
                         bool partial) {
  const WeightOptions options = weightOptions(rules, partial);
  const std::shared_ptr<Session> session = self.session();
  const std::string file = pathOf(path);
  return weightsBy([&] { return loadWeights(*session, file, options); });
}

nb::object setWeightsOf(const OpenSession& self, const FeedsLike& values, const RenameRules* rules,
                        bool partial) {
  const WeightOptions options = weightOptions(rules, partial);
  const std::shared_ptr<Session> session = self.session();
  const NamedLiterals given = self.state(values);
  return weightsBy([&] { return setWeights(*session, given, options); });
}

nb::object copyStateFrom(const OpenSession& self, const OpenSession& other, const RenameRules* rules,
                         bool partial) {
  const WeightOptions options = weightOptions(rules, partial);
  const std::shared_ptr<Session> from = other.session(), to = self.session();
  return weightsBy([&] { return copyState(*from, *to, options); });
}

void bindWeights(nb::class_<OpenSession>& session) {
  session.def(
      "load_weights", loadWeightsOf, "path"_a, nb::kw_only(), "rules"_a = nb::none(), "partial"_a = false,
      nb::sig("def load_weights(self, path: str | os.PathLike[str], *, rules: RenameRules | None = None, "
              "partial: bool = False) -> dfc.plain.LoadedWeights"),
      "Reads a .safetensors file of another's weights, through `rules`. partial: parameters that the file "
      "lacks keep their values, and tensors of no parameter are passed over. Nothing is set unless all is "
      "well (dfc.Error). Gives dfc.LoadedWeights: how many were set, of how many, and how many of the file "
      "were not used.");
  session.def(
      "set_weights", setWeightsOf, "values"_a, nb::kw_only(), "rules"_a = nb::none(), "partial"_a = false,
      nb::sig("def set_weights(self, values: collections.abc.Mapping[str, numpy.typing.ArrayLike], *, rules: "
              "RenameRules | None = None, partial: bool = False) -> dfc.plain.LoadedWeights"),
      "The same of arrays in memory, such as a state_dict of PyTorch.");
  session.def(
      "copy_state_from", copyStateFrom, "other"_a, nb::kw_only(), "rules"_a = nb::none(), "partial"_a = false,
      nb::sig("def copy_state_from(self, other: Session, *, rules: RenameRules | None = None, partial: bool "
              "= False) -> dfc.plain.LoadedWeights"),
      "The same of another session's parameters, between the steps of both, whatever the devices of the two "
      "plans: a training on several devices gives an evaluation on one its weights (partial=True, where the "
      "training has more: those of its optimiser). Where devices are the same, the option `state` of Session "
      "makes two sessions work on one set of weights, without a copy.");
}

} // namespace

void bindSessionState(nb::class_<OpenSession>& session) {
  bindState(session);
  bindWeights(session);
}

} // namespace dfc::python
