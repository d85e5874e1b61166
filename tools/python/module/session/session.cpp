// Sessions. The interpreter's lock is released while a step runs, is waited for, or state is moved.
#include "runtime/session.h"

#include "runtime/custom/custom_library.h"
#include "runtime/predict/predict.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/arrays/numpy_arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/custom.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/plain.h"
#include "tools/python/module/planning/plan.h"
#include "tools/python/module/session/open_session.h"
#include "tools/python/module/session/session_state.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <map>
#include <memory>
#include <vector>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

// --- Steps.

/// The interpreter's lock, released by a thread that may take it back meanwhile: cheaper than the guards for
/// any thread.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() { PyEval_RestoreThread(state_); }

  class Locked {
   public:
    explicit Locked(const Unlocked& unlocked) { PyEval_RestoreThread(unlocked.state_); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked() { PyEval_SaveThread(); }
  };

 private:
  PyThreadState* state_;
};

nb::dict runFor(Session& session, const NamedLiterals& feeds, const std::string& arrays) {
  auto results = [&] {
    const nb::gil_scoped_release unlocked;
    return session.run(feeds);
  }();
  return resultsOf(std::move(results).orThrow(), arrays);
}

/// Adds the results as NumPy arrays; lets go of the small ones of the step before.
void addNumpy(nb::dict& arrays, const OpenSession& self, NamedLiterals unwritten) {
  std::vector<nb::object> small;
  auto name = self.fetchKeys().begin();
  for (auto& [fetch, literal] : unwritten) {
    const bool isSmall = literal.type().bytes() <= OpenSession::smallResult;
    nb::object array = numpyOver(std::move(literal), Access::Writable);
    arrays[*name++] = array;
    if (isSmall) {
      small.push_back(std::move(array));
    }
  }
  self.keep(std::move(small));
}

/// Makes the arrays while the step runs that writes them, and frees others: after a long step the caches hold
/// its data, and what Python does then takes ten times as long.
nb::dict runForNumpy(const OpenSession& self, Session& session, const NamedLiterals& feeds) {
  nb::dict arrays = noResults();
  const Status ran = [&] {
    const Unlocked unlocked;
    return session.run(feeds, [&](NamedLiterals unwritten) {
      const Unlocked::Locked lock(unlocked);
      addNumpy(arrays, self, std::move(unwritten));
    });
  }();
  ran.orThrow();
  return arrays;
}

nb::dict run(const OpenSession& self, const FeedsLike& feeds, const FormLike& form) {
  const bool isNumpy =
      PyUnicode_Check(form.ptr()) && PyUnicode_CompareWithASCIIString(form.ptr(), "numpy") == 0;
  const std::shared_ptr<Session> session = self.session();
  if (!isNumpy) {
    const std::string arrays = textOf(form);
    checkForm(arrays);
    return runFor(*session, self.feeds(feeds), arrays);
  }
  const OpenSession::Lent fed = self.lentFeeds(feeds);
  return runForNumpy(self, *session, fed.literals);
}

/// A step on its way. Its results are given without a copy, as the same array each time: the step shares
/// their bytes, but nobody writes them any more.
class PendingStep {
 public:
  explicit PendingStep(Session::Pending pending) : pending(std::move(pending)) {}
  Session::Pending pending;

  nb::object give(const std::string& fetch, Literal literal, const std::string& form) {
    Given& given = given_[fetch];
    if (form == "dfc") { // keeps its values, whoever writes an array of the others
      given.kept = true;
      if (!given.arrays.empty()) {
        literal.mutableBytes();
      }
      return nb::cast(std::move(literal));
    }
    nb::object& array = given.arrays[form];
    if (!array.is_valid()) {
      array = given.kept ? arrayAs(std::move(literal), form) : arrayOver(std::move(literal), form);
    }
    return array;
  }

 private:
  struct Given {
    std::map<std::string, nb::object> arrays; ///< by form, all over the same bytes
    bool kept = false;                        ///< a dfc.Array has these bytes, too
  };
  std::map<std::string, Given> given_;
};

PendingStep submit(const OpenSession& self, const FeedsLike& feeds) {
  const std::shared_ptr<Session> session = self.session();
  const NamedLiterals fed = self.feeds(feeds);
  auto pending = [&] {
    const nb::gil_scoped_release unlocked;
    return session->submit(fed);
  }();
  return PendingStep(std::move(pending).orThrow());
}

nb::object waitFor(PendingStep& self, const std::optional<std::string>& fetch, const std::string& arrays) {
  checkForm(arrays);
  if (!fetch) {
    auto results = [&] {
      const nb::gil_scoped_release unlocked;
      return self.pending.wait();
    }();
    nb::dict dict = noResults();
    for (auto& [name, literal] : results) {
      dict[name.c_str()] = self.give(name, std::move(literal), arrays);
    }
    return dict;
  }
  auto result = [&] {
    const nb::gil_scoped_release unlocked;
    return self.pending.wait(*fetch);
  }();
  return self.give(*fetch, std::move(result).orThrow(), arrays);
}

/// Whether a signal has raised an exception of Python (Ctrl-C), asked without the interpreter's lock and not
/// for each of many short steps.
class SignalWatch {
 public:
  bool raised() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) {
      return false;
    }
    next_ = now + std::chrono::milliseconds(20);
    const nb::gil_scoped_acquire locked;
    return PyErr_CheckSignals() != 0;
  }

 private:
  std::chrono::steady_clock::time_point next_{};
};

nb::dict predictFor(const OpenSession& self, const FeedsLike& data, const NamesLike& fetchNames,
                    const std::string& arrays, const NamesLike& everyStepNames) {
  checkForm(arrays);
  const auto fetches = namesOf(fetchNames, "fetches"), everyStep = namesOf(everyStepNames, "every_step");
  const std::shared_ptr<Session> session = self.session();
  const NamedLiterals rows = self.feeds(data);
  bool interrupted = false;
  auto found = [&] {
    const nb::gil_scoped_release unlocked;
    const auto afterStep = [&, watch = SignalWatch()](int64_t) mutable {
      interrupted = watch.raised();
      return !interrupted;
    };
    return predict(*session, rows, fetches, afterStep, everyStep);
  }();
  if (interrupted) {
    throw nb::python_error();
  }
  return resultsOf(std::move(found).orThrow(), arrays);
}

void bindPredict(nb::class_<OpenSession>& session) {
  session.def(
      "predict", predictFor, "data"_a, "fetches"_a = nb::tuple(), "arrays"_a = "numpy",
      "every_step"_a = nb::tuple(),
      nb::sig("def predict(self, data: collections.abc.Mapping[str, numpy.typing.ArrayLike], fetches: str "
              "| collections.abc.Sequence[str] = (), arrays: str = 'numpy', every_step: str | "
              "collections.abc.Sequence[str] = ()) -> dict[str, typing.Any]"),
      "What becomes of every row of a data set, in its order: arrays by name, whose first axis counts the "
      "rows. `data`: an array of as many rows as you like for each input, or of exactly the input's shape, "
      "which is fed at every step; one that is as long as a batch is refused where others have more rows, "
      "unless `every_step` names its input. A last batch that is not full is filled up with copies of the "
      "last row, "
      "whose results are cut off, so a row's result must not depend on other rows. `fetches`: which; none: "
      "all whose first axis is the batch. float64 and int64 become what the inputs are, where nothing but "
      "floats' last digits is lost. Raises dfc.Error with every mistake, and for a plan that trains.");
}

void bindSteps(nb::module_& module, nb::class_<OpenSession>& session) {
  nb::class_<PendingStep> pending(module, "Pending", "A step on its way. May outlive its session.");
  pending.def(
      "wait", waitFor, "fetch"_a = nb::none(), "arrays"_a = "numpy",
      "Blocks until the step has ended, or this one fetch is there while the rest may still run. Gives the "
      "fetches by name, or that one: without a copy, so the same array each time that it is asked.");
  pending.def_prop_ro(
      "done", [](const PendingStep& self) { return self.pending.done(); },
      "Whether `wait` would return at once.");
  session.def(
      "run", run, "feeds"_a = nb::none(), "arrays"_a = "numpy",
      nb::sig("def run(self, feeds: collections.abc.Mapping[str, numpy.typing.ArrayLike] | None = None, "
              "arrays: str = 'numpy') -> dict[str, typing.Any]"),
      "One step. `feeds`: an array for each input, by name, of its shape, of NumPy or any library that "
      "speaks "
      "DLPack, on the host. Of its element type, or of another that is converted: floats to floats, which "
      "are rounded, integers where the numbers stay the same; not floats to integers. Read where it lies if "
      "it is row-major and 64-byte "
      "aligned (dfc.empty makes such arrays), else copied. Gives the fetches by name: as NumPy arrays, or "
      "with arrays='torch', 'jax' or 'dfc' (dfc.Array), without a copy. Raises dfc.Error with every "
      "mistake of the feeds, dfc.MachineError where the machine fails.");
  session.def(
      "submit", submit, "feeds"_a = nb::none(),
      nb::sig("def submit(self, feeds: collections.abc.Mapping[str, numpy.typing.ArrayLike] | None = "
              "None) -> Pending"),
      "Queues a step and returns; blocks only while max_in_flight steps are under way. An array that is "
      "read where it lies must not change before the step has ended.");
  session.def(
      "wait_all",
      [](const OpenSession& self) {
        const std::shared_ptr<Session> open = self.session();
        const nb::gil_scoped_release unlocked;
        open->waitAll();
      },
      "Until the steps submitted so far have ended. Raises the failure of one that nobody has waited for.");
}

/// Seconds of each of `count` steps as C++ calls them, its results dropped: what the benchmark compares a
/// call from Python with.
std::vector<double> stepSeconds(const OpenSession& self, const FeedsLike& feeds, size_t count) {
  const std::shared_ptr<Session> session = self.session();
  const NamedLiterals fed = self.feeds(feeds);
  std::vector<double> seconds(count);
  const nb::gil_scoped_release unlocked;
  for (double& one : seconds) {
    const auto begin = std::chrono::steady_clock::now();
    session->run(fed).orThrow();
    one = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return seconds;
}

// --- What there is.

nb::list parametersOf(const OpenSession& self) {
  nb::list rows;
  for (const Session::Parameter& row : self.session()->parameters()) {
    rows.append(plain("Parameter")(row.name, tupleOf(row.type.shape), row.type.element, row.assigned));
  }
  return rows;
}

nb::dict namedTypes(const std::vector<std::pair<std::string, TensorType>>& rows) {
  nb::dict dict;
  for (const auto& [name, type] : rows) {
    dict[name.c_str()] = specOf(type);
  }
  return dict;
}

void bindReports(nb::class_<OpenSession>& session) {
  session.def_prop_ro(
      "plan", [](const OpenSession& self) { return self.plan(); }, "What it runs.");
  session.def_prop_ro(
      "inputs", [](const OpenSession& self) { return namedTypes(self.session()->inputs()); },
      "TensorSpec of each input, by name.");
  session.def_prop_ro(
      "fetches", [](const OpenSession& self) { return namedTypes(self.session()->fetches()); },
      "TensorSpec of each fetch, by name.");
  session.def_prop_ro("parameters", parametersOf, "dfc.Parameter of each.");
  session.def_prop_ro(
      "devices", [](const OpenSession& self) { return self.session()->deviceReport(); },
      "'gpu0: cuda, NVIDIA H200 (sm_90)', … for each device of the plan.");
  session.def(
      "take_trace",
      [](const OpenSession& self) {
        return PlanTrace{self.session()->takeTrace(), self.plan().executable};
      },
      "The measured spans since the last call, of a session with trace=True.");
  session.def("close", &OpenSession::close, "Waits for the steps under way, and lets the devices go.");
  session.def("__enter__", [](const nb::object& self) { return self; });
  session.def(
      "__exit__", [](OpenSession& self, const nb::args&) { self.close(); }, "exception"_a);
}

SessionOptions optionsOf(const std::string& cpuBackend, const std::string& gpuBackend, uint32_t maxInFlight,
                         bool trace, double timeoutSeconds, bool checkFinite, bool checkIndices,
                         const PathLike& dataFolder, const PathLike& moduleFolder,
                         const PathLike& kernelCache) {
  SessionOptions options;
  options.cpuBackend = cpuBackend;
  options.gpuBackend = gpuBackend;
  options.maxInFlight = maxInFlight;
  options.trace = trace;
  options.timeoutSeconds = timeoutSeconds;
  options.checkFinite = checkFinite;
  options.checkIndices = checkIndices;
  options.dataFolder = pathOf(dataFolder);
  options.moduleFolder = pathOf(moduleFolder);
  options.backendOptions.kernelCache = pathOf(kernelCache);
  return options;
}

} // namespace

void bindSession(nb::module_& module) {
  nb::class_<OpenSession> session(
      module, "Session",
      "A plan on opened devices, with the parameters from step to step. Threads may share it: steps run one "
      "after another in the order of their submission. Also a context manager, which closes it.");
  session.def(
      "__init__",
      [](OpenSession* self, const Plan& plan, const std::string& cpuBackend, const std::string& gpuBackend,
         uint32_t maxInFlight, bool trace, double timeoutSeconds, bool checkFinite, bool checkIndices,
         const PathLike& dataFolder, const PathLike& moduleFolder, const PathLike& kernelCache,
         const nb::object& functions, const OpenSession* state) {
        SessionOptions options = optionsOf(cpuBackend, gpuBackend, maxInFlight, trace, timeoutSeconds,
                                           checkFinite, checkIndices, dataFolder, moduleFolder, kernelCache);
        options.customFunctions = functionsOf(functions);
        new (self) OpenSession(plan, options, state);
      },
      "plan"_a, nb::kw_only(), "cpu_backend"_a = "", "gpu_backend"_a = "", "max_in_flight"_a = 2,
      "trace"_a = false, "timeout_seconds"_a = 0.0, "check_finite"_a = false, "check_indices"_a = true,
      "data_folder"_a = ".", "module_folder"_a = "", "kernel_cache"_a = "", "functions"_a = nb::none(),
      "state"_a = nb::none(),
      nb::sig("def __init__(self, plan: Plan, *, cpu_backend: str = '', gpu_backend: str = '', "
              "max_in_flight: int "
              "= 2, trace: bool = False, timeout_seconds: float = 0.0, check_finite: bool = False, "
              "check_indices: bool = True, "
              "data_folder: str "
              "| os.PathLike[str] = '.', module_folder: str | os.PathLike[str] = '', kernel_cache: str | "
              "os.PathLike[str] = '', functions: collections.abc.Mapping[str, collections.abc.Callable[..., "
              "None]] | "
              "str | os.PathLike[str] | None = None, state: Session | None = None) -> None"),
      "Backends by name ('cpu', 'emulated', 'cuda', 'null'; '': the first that can). timeout_seconds: of a "
      "step, "
      "0 for none. check_finite: a step fails at the first value that is NaN or infinite (slow). "
      "check_indices: feeds with labels that name no class and indices that name no slice are refused, where "
      "the graph takes them from an input. "
      "data_folder: "
      "where initialisers' relative files are. functions: what custom ops call, by name, or the path of a C "
      "library. state: another session; parameters that it has, too, by name, are one with its own, without "
      "a copy, "
      "and keep its values: the plans of a prompt and of decoding, or of training and evaluation, work on "
      "one "
      "set of weights.");
  session.def("_step_seconds", stepSeconds, "feeds"_a, "count"_a); // of bench/step_overhead.py
  bindSteps(module, session);
  bindPredict(session);
  bindSessionState(session);
  bindReports(session);
}

} // namespace dfc::python
