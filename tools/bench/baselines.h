// Baselines: scripts that do the work of rows in PyTorch and JAX, and programs beside dfc that do it with
// other libraries. They run one at a time, while dfc is idle. Their output and the protocol for interleaved
// samples are described in baselines/baseline.py.
#pragma once

#include "tools/bench/harness.h"
#include "tools/bench/process.h"

namespace dfc::bench {

struct BaselineOptions {
  std::string scripts;       ///< folder with the scripts
  std::string python;        ///< a program in PATH, or its path
  double limitSeconds = 300; ///< of one script
};

/// One script or executable, and the rows that it can measure.
struct BaselineProgram {
  std::string file;     ///< the script's name in BaselineOptions::scripts
  size_t processes = 1; ///< more than one are started by torchrun, one for each GPU
  std::vector<std::string> keys;
  std::vector<std::string> arguments = {};
  std::string executable = {}; ///< an executable in place of a script
};

/// Runs a program for its keys; does nothing without keys. Adds a row for each result; keys without a result
/// share a row that gives the reason.
void runBaseline(const Harness& harness, const BaselineProgram& program, const BaselineOptions& options);

/// A script whose samples alternate with those of dfc, so that other load on the host and changes of the
/// clock rate affect both alike.
class InterleavedBaseline {
 public:
  /// Starts the script, and waits until it has warmed up.
  InterleavedBaseline(const Harness& harness, BaselineProgram program, const BaselineOptions& options);
  /// Takes one sample of each of its rows. Does nothing once the script has ended.
  void sample();
  /// Waits for its end, and adds its rows as runBaseline does.
  void finish();

 private:
  const Harness& harness_;
  BaselineProgram program_;
  const BaselineOptions& options_;
  Result<std::unique_ptr<RunningProcess>> process_;
  bool alive_ = false;
};

/// The row that is added where an executable was not built.
struct MissingExecutable {
  std::string key, description;
};

/// Runs an executable that lies beside dfc where its libraries were found at configuration:
/// `program.executable` is its name alone.
void runInstalledBaseline(const Harness& harness, BaselineProgram program, const BaselineOptions& options,
                          const MissingExecutable& missing);

/// The measured rows of baselines with this key, the fastest first.
std::vector<const Row*> baselinesAt(const Report& report, const std::string& key);

/// Adds a check of `row` against each baseline with this key; the fastest one's has the limit
/// `mostOfFastest`, where there is one.
void holdAgainstBaselines(const Report& report, const std::string& key, std::optional<double> mostOfFastest,
                          Row& row);

/// Adds checks of every row of dfc against the baselines that do the same work, the fastest one with the
/// row's requirement. Of several rows of dfc that do one work in different ways only the fastest has the
/// requirement.
void holdAgainstBaselines(const Harness& harness);

} // namespace dfc::bench
