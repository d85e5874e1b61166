// The extension module `dfc._core`: what the package's Python files stand on.
#include "tools/python/module/arguments.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/wrong_arguments.h"

// NOLINTNEXTLINE: the macro's own names
NB_MODULE(_core, module) {
  using namespace dfc::python;
  // A global function that a session or a trainer calls, and a global that holds it, are a cycle that Python
  // does not see: at the end of the process nanobind would report it.
  nanobind::set_leak_warnings(false);
  module.doc() = "dfc's C++ library. Use the package `dfc`, which hands on what is here.";
  bindErrors(module);
  bindElementTypes(module);
  bindArrays(module);
  bindTensor(module);
  bindBuilder(module);
  bindElementwise(module);
  bindReductions(module);
  bindMovement(module);
  bindLayers(module);
  bindLosses(module);
  bindParameterLayers(module);
  bindDecoding(module);
  bindTraining(module);
  bindCustom(module);
  bindGraph(module);
  bindMachine(module);
  bindPlan(module);
  bindExplain(module);
  bindOnnx(module);
  bindWeights(module);
  bindSession(module);
  bindFiles(module);
  bindTrainer(module);
  explainWrongArguments(module);
}
