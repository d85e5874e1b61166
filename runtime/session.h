// Session: an executable bound to opened devices. Holds the state (parameters) from step to step. `run` is
// one step; `submit` returns at once with a handle, at most `maxInFlight` steps at a time. Steps are executed
// one after the other and see the state that the one before left.
//
// Two kinds of failure: the author's mistakes (a wrong feed, an unknown name) come as errors of a Result, all
// at once; the machine's failures are thrown as MachineError from the call that waits for the step, and name
// the op, the queue and the device. A value that is not finite is thrown likewise, as NotFiniteError, where
// SessionOptions::checkFinite asks for it, and so is a custom op's function that fails, as CustomError. A
// failed step ends early everywhere, and so do the steps submitted after it; the next one starts afresh. What
// a failed step has done to the parameters is open: set them anew, or load a checkpoint.
//
// Threads: a session and its Pendings may be used by many threads at once. Steps are executed one after
// another in the order in which they were submitted, and each caller has the results of its own; a failed
// step ends those that other threads submitted behind it, too. Only closing a session comes after all calls
// on it; Pendings may still be waited for meanwhile. Executables, graphs, literals, compile() and Calibration
// may be shared by threads and sessions; their headers say how.
#pragma once

#include "ir/base/visibility.h"
#include "ir/graph/custom_function.h"
#include "ir/graph/literal.h"
#include "ir/plan/trace.h"
#include "runtime/backend_options.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace DFC_PUBLIC dfc {

class Backend; // what plays devices: cpu, emulated, cuda, null

/// What a session may choose.
struct SessionOptions {
  /// Backend by name for devices of kind cpu; empty: the first available one that supports it.
  std::string cpuBackend = {};
  /// The same for devices of kind gpu.
  std::string gpuBackend = {};
  /// Backends beside those of the build, preferred to them where they support a device kind.
  std::vector<Backend*> moreBackends = {};
  /// What custom ops call on devices that the host plays (cpu, emulated), by name. Session::open refuses a
  /// plan that calls another function, or one of these with types that it does not take.
  CustomFunctions customFunctions = {};
  /// For the backends.
  BackendOptions backendOptions = {};
  /// Steps submitted and not finished, at least 1; submit() waits for one to finish.
  uint32_t maxInFlight = 2;
  /// Whether spans are measured (takeTrace).
  bool trace = false;
  /// Seconds that a step may take, from its submission or the end of the step before; then it is given up
  /// with a MachineError, as is one that ended too late. Looked at before the step and, where a host thread
  /// drives the queue, between its commands; a kernel under way is never interrupted. 0 means no limit.
  double timeoutSeconds = 0;
  /// Looks at the results of every op, and fails the step at the first that is NaN or infinite with a
  /// NotFiniteError, which names the op, where it was written and the ranges of its operands. Infinities that
  /// a constant brings in, as in masks, and those of attention's logSumExp are let pass. For finding a
  /// mistake: a step takes several times as long. Session::open refuses it where a device is played by a
  /// backend that cannot look (cuda).
  bool checkFinite = false;
  /// Refuses feeds with labels that name no class and indices that name no slice (softmaxCrossEntropy,
  /// gather, embedding), where the graph takes them from an input: the ops would give NaN or zeros. One look
  /// at each fed integer. Without it such a step runs; for graphs that mask what such rows give.
  bool checkIndices = true;
  /// Folder in which the runtime's modules (oneDNN, CUDA) are looked for first; empty for the usual places:
  /// beside the program or the library, ../lib/dfc from there, the run path. A module is opened once in a
  /// process: the first session that needs it decides.
  std::string moduleFolder = {};
  /// Folder that relative file initialisers are read from. It must exist, as moduleFolder must.
  std::string dataFolder = ".";
};

struct InFlightStep; // a submitted step
class InFlightSteps;

/// An executable on opened devices. See the top of this file.
class Session {
 public:
  /// Opens devices, allocates arenas, initialises parameters, loads queue programs. Author's mistakes (a
  /// missing initialiser file, an unknown backend) and modules that cannot be opened as errors; other machine
  /// failures throw MachineError.
  static Result<std::unique_ptr<Session>> open(std::shared_ptr<const Executable> plan,
                                               const SessionOptions& options = {});
  /// The same, but parameters that `state` has, too, by name, are one with its own: the new session reads and
  /// writes their bytes there, and allocates and initialises only the others. So the plans of a prompt and of
  /// decoding, or of training and of evaluation, work on one set of weights. Their steps are ordered: those
  /// of one session have ended before those of another begin, whichever thread launches them. Errors:
  /// parameters of one name that differ in type, in how they are cut or in their devices and backends, and no
  /// parameter in common. Where the devices differ, copyState copies the
  /// values instead. `state` may be closed before the new session: the memory lives until both are.
  static Result<std::unique_ptr<Session>> open(std::shared_ptr<const Executable> plan,
                                               const SessionOptions& options, const Session& state);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session(); ///< waits for what is on its way

  /// One step. Feeds by input name: each must be there, of the right type and shape, and known; all mistakes
  /// at once. Gives the fetches by name.
  Result<NamedLiterals> run(const NamedLiterals& feeds);
  /// Takes the fetches of a step that still writes them: their bytes may be read when `run` has returned.
  using Meanwhile = std::function<void(NamedLiterals unwritten)>;
  /// The same for a caller that prepares the results while the step runs: gives them to `meanwhile`, once,
  /// when the step has been launched. An exception of `meanwhile` is thrown when the step has ended.
  Status run(const NamedLiterals& feeds, const Meanwhile& meanwhile);

  /// What steps would be refused of a data set, arrays by the inputs' names whose rows are fed in batches of
  /// `batch`: labels and indices out of range (SessionOptions::checkIndices). `anyOrder`: rows are shuffled,
  /// or the last batch is filled up; else rows of an incomplete last batch are not looked at.
  Diagnostics refusedRows(const NamedLiterals& columns, int64_t batch, bool anyOrder) const;

  /// A step on its way. Reading a result is always an explicit wait. May outlive its session.
  class Pending {
   public:
    NamedLiterals wait() const; ///< blocks until the step has ended; all fetches
    /// Blocks until this one fetch is there, while the rest of the step may still run. Error: no such fetch.
    Result<Literal> wait(std::string_view fetch) const;
    bool done() const; ///< whether `wait` would return at once

   private:
    friend class Session;
    std::shared_ptr<InFlightStep> step_;
    std::weak_ptr<InFlightSteps> steps_; // gone when the session is closed
  };
  /// Queues the step and returns; blocks only while maxInFlight steps are under way. The feeds are shared,
  /// not copied: a literal that the caller changes afterwards detaches from what was fed. Throws the failure
  /// of an earlier step of this thread that nobody has waited for; then nothing is submitted.
  Result<Pending> submit(const NamedLiterals& feeds);
  /// Until the steps submitted so far have ended, by whichever thread. Throws the failure of a step that
  /// nobody has waited for or is waiting for.
  void waitAll();

  /// Parameters by name, between steps: waits as waitAll does, and other threads' steps wait for it.
  NamedLiterals state();
  /// One parameter where it lies, without a copy and without waiting: the bytes change with the next step
  /// that assigns it, so they are read between steps. The literal keeps the memory; who writes it gets a
  /// copy. Errors: no such parameter, one that is cut over devices, and one in memory that the host cannot
  /// read
  /// (`state` copies those).
  Result<Literal> view(std::string_view parameter) const;
  /// Sets parameters by name, replicas too, between steps as `state`. Names, types and shapes must agree;
  /// none is set unless all do. Values of "lossScale" and "lossScale.finiteSteps", which plans of f16 derive,
  /// are passed over in a plan without them.
  Status setState(const NamedLiterals& values);
  /// What `setState` would refuse, and parameters that have no value, all at once. Those that the plan
  /// derived may be without one.
  Diagnostics checkWholeState(const NamedLiterals& values) const;

  /// The measured spans since the last call, begin of the first at 0, the first traced step as step 0; by
  /// begin.
  Trace takeTrace();
  /// "gpu0: emulated", "gpu0: cuda, NVIDIA H200 (sm_90)", … for each device of the plan, in the plan's order;
  /// "gpu1: not used" where there is no work.
  std::vector<std::string> deviceReport() const;
  /// The plan's inputs and fetches in the plan's order, for messages and for making feeds.
  std::vector<std::pair<std::string, TensorType>> inputs() const;
  /// What each step gives back, in the plan's order.
  std::vector<std::pair<std::string, TensorType>> fetches() const;
  /// A parameter of the plan.
  struct Parameter {
    std::string name;      ///< the author's
    TensorType type;       ///< element type and shape
    bool assigned = false; ///< whether each step gives it a new value; else it keeps the one it has
  };
  /// The plan's parameters in the plan's order; one with replicas on other devices is there once. Does not
  /// wait for steps.
  std::vector<Parameter> parameters() const;

 private:
  struct Impl;
  explicit Session(std::shared_ptr<Impl> impl);
  static Result<std::unique_ptr<Session>> openedOrErrors(std::shared_ptr<const Executable> plan,
                                                         const SessionOptions& options,
                                                         std::shared_ptr<Impl> state);
  static Result<std::unique_ptr<Session>> opened(std::shared_ptr<const Executable> plan,
                                                 const SessionOptions& options, std::shared_ptr<Impl> state);
  std::shared_ptr<Impl> impl_; // shared with threads that wait for a step while the session is closed
};

} // namespace dfc
