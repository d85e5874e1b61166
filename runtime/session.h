// Session: an executable bound to opened devices. Holds the state (parameters) from step to step. `run` is
// one step; `submit` returns at once with a handle, at most `maxInFlight` steps at a time.
#pragma once

#include "ir/trace.h"
#include "runtime/backend.h"

#include <functional>
#include <map>

namespace dfc {

using NamedLiterals = std::map<std::string, Literal, std::less<>>;

struct SessionOptions {
  /// Backend name by device kind; empty means the first available one that supports the kind.
  std::string cpuBackend, gpuBackend;
  uint32_t maxInFlight = 2;
  bool trace = false;
  /// Seconds after which a step is given up with a MachineError; 0 means never.
  double timeoutSeconds = 0;
  /// Folder that relative file initialisers are read from.
  std::string dataFolder = ".";
};

class Session {
 public:
  /// Opens devices, allocates arenas, initialises parameters, loads queue programs. Author's mistakes (a
  /// missing initialiser file) as errors; machine failures throw MachineError.
  static Result<std::unique_ptr<Session>> open(std::shared_ptr<const Executable> plan,
                                               const SessionOptions& options = {});
  ~Session();

  /// One step. Feeds by input name: each must be there, of the right type and shape, and known; all mistakes
  /// at once. Gives the fetches by name.
  Result<NamedLiterals> run(const NamedLiterals& feeds);

  /// A step on its way. `wait` blocks until it ended and gives the fetches; reading a result is always this
  /// explicit.
  class Pending {
   public:
    Result<NamedLiterals> wait();
    bool done() const;

   private:
    friend class Session;
    struct State;
    std::shared_ptr<State> state_;
  };
  /// Copies the feeds, queues the step and returns; blocks only while maxInFlight steps are under way.
  Result<Pending> submit(const NamedLiterals& feeds);
  void waitAll();

  /// Parameters by name, between steps (waits for all).
  NamedLiterals state();
  /// Sets parameters by name, replicas too. Names, types and shapes must agree; none is set unless all do.
  Status setState(const NamedLiterals& values);

  /// The measured spans since the last call, begin of the first at 0.
  Trace takeTrace();
  /// "gpu0: emulated", … for each device of the plan, in the plan's order.
  std::vector<std::string> deviceReport() const;

 private:
  Session();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace dfc
