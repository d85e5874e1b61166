// custom ops: written from Python, and computed by Python, which takes the interpreter's lock for each call.
#include "tools/python/module/custom.h"

#include "ir/author/custom.h"
#include "runtime/custom/custom_library.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/op.h"

#include <memory>
#include <stdexcept>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

nb::object viewOf(const TensorType& type, const std::byte* data, bool writable) {
  auto* bytes = const_cast<std::byte*>(data);
  nb::object view = numpyOf(Literal(type, std::shared_ptr<std::byte>(bytes, [](std::byte*) {})));
  if (!writable) {
    view.attr("setflags")("write"_a = false);
  }
  return view;
}

void callPython(const nb::object& callable, const CustomCall& call) {
  nb::list operands, results;
  for (size_t i = 0; i < call.types().operands.size(); ++i) {
    operands.append(viewOf(call.types().operands[i], call.operandBytes(i).data(), false));
  }
  for (size_t i = 0; i < call.types().results.size(); ++i) {
    results.append(viewOf(call.types().results[i], call.resultBytes(i).data(), true));
  }
  callable(nb::tuple(operands), nb::tuple(results));
}

CustomFunction functionOf(nb::handle callable) {
  return [python = sharedCallable(callable)](const CustomCall& call) {
    const nb::gil_scoped_acquire lock;
    try {
      callPython(*python, call);
    } catch (const nb::python_error& error) { // which the runtime may not keep without the lock
      throw std::runtime_error(error.what());
    }
  };
}

/// The types of the results: (shape, dtype) each.
std::vector<TensorType> typesOf(const nb::object& results) {
  std::vector<TensorType> types;
  for (const nb::handle row : results) {
    types.push_back(typeOf(row[0], row[1]));
  }
  return types;
}

Tensors customOf(const Tensors& operands, const std::string& function, const nb::object& results,
                 double cpuSeconds, double gpuSeconds, bool pure, const std::string& kernelSource,
                 const std::string& kernelEntry, const std::vector<int64_t>& grid,
                 const std::vector<int64_t>& block, int64_t sharedBytes) {
  CustomTask task;
  task.function = function;
  task.results = typesOf(results);
  task.cpuSeconds = cpuSeconds;
  task.gpuSeconds = gpuSeconds;
  task.pure = pure;
  task.kernel = {kernelSource, kernelEntry, grid, block, sharedBytes};
  return custom(operands, task);
}

} // namespace

std::shared_ptr<nb::object> sharedCallable(nb::handle callable) {
  return {new nb::object(nb::borrow(callable)), [](nb::object* object) {
            if (Py_IsInitialized() != 0) {
              const nb::gil_scoped_acquire lock;
              delete object;
            }
          }};
}

CustomFunctions functionsOf(const nb::object& given) {
  if (given.is_none()) {
    return {};
  }
  if (!nb::hasattr(given, "items")) {
    return orRaise(openCustomLibrary(pathOf(given)));
  }
  CustomFunctions functions;
  for (const nb::handle item : given.attr("items")()) {
    functions.emplace(nb::cast<std::string>(item[0]), functionOf(item[1]));
  }
  return functions;
}

void bindCustom(nb::module_& module) {
  bindOp(
      module, "custom", customOf, "operands"_a, nb::kw_only(), "function"_a, "results"_a,
      "cpu_seconds"_a = 0.0, "gpu_seconds"_a = 0.0, "pure"_a = false, "kernel_source"_a = "",
      "kernel_entry"_a = "", "grid"_a = std::vector<int64_t>(), "block"_a = std::vector<int64_t>(),
      "shared_bytes"_a = 0,
      nb::sig("def custom(operands: collections.abc.Sequence[Tensor], *, function: str, results: "
              "collections.abc.Sequence[tuple[collections.abc.Sequence[int], dfc._core.DType]], cpu_seconds: "
              "float = 0.0, "
              "gpu_seconds: float = 0.0, pure: bool = False, kernel_source: str = '', kernel_entry: str = "
              "'', grid: "
              "collections.abc.Sequence[int] = (), block: collections.abc.Sequence[int] = (), shared_bytes: "
              "int = "
              "0) -> list[Tensor]"),
      "A task of your own under dfc's schedules: an op that calls the session's function of this name, "
      "f(operands, results) with tuples of NumPy arrays, of which it writes the results; or, on a real GPU, "
      "the "
      "CUDA kernel `kernel_entry` of `kernel_source`. results: (shape, dtype) of each. Seconds of one run on "
      "a cpu "
      "and on a gpu; 0: it does not run there. pure: equal ops may be one, and one that nothing reads is "
      "left "
      "out.");
}

} // namespace dfc::python
