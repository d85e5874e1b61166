// What a verb works on: a graph file or a plan, told apart by extension, else by content; and the options
// that turn the one into the other.
#pragma once

#include "compiler/compile.h"
#include "tools/dfc/console.h"
#include "tools/dfc/io/output_files.h"
#include "tools/dfc/plan_report.h"

#include <functional>
#include <memory>

namespace CLI {
class App;
}

namespace dfc::tool {

/// The options that `compile`, `run` and `view` share.
struct PlanOptions {
  std::string machine;             ///< a file or the name of a shipped one; empty means this host, as one cpu
  std::string policy, precision;   ///< empty: the default, and not an option that was given
  std::vector<std::string> pins;   ///< "PATTERN=DEVICE"
  std::vector<std::string> splits; ///< "PATTERN:AXIS=DEVICES"
  std::vector<std::string> memory; ///< "DEVICE=SIZE"
  std::vector<std::string> without;      ///< passes to skip
  std::vector<std::string> calibrations; ///< files of measured times
  std::vector<std::string> dims;         ///< "NAME=LENGTH", of an ONNX model
  bool noMergedLaunches = false, noPeerReads = false;
  double planSeconds = 0; ///< of search for a quicker plan
};
/// Adds --no-merged-launches and --no-peer-reads.
void addLaunchOptions(CLI::App& verb, bool& noMergedLaunches, bool& noPeerReads);
/// Adds -m, --policy, --precision, --pin, --split, --memory, --skip-pass, --calibration, --plan-time, --dim
/// and the launch options.
void addPlanOptions(CLI::App& verb, PlanOptions& options);

/// A file with the mark of plans is one whatever its name; else ".dfg" and ".onnx" are graphs and ".plan" a
/// (damaged) plan; otherwise a file with a zero byte near its beginning is one. Errors: a file of another
/// kind (io/foreign_source.h).
Result<bool> isPlanFile(const std::string& path);

/// What compiling reads: the graph or plan, the machine file and the tables.
void addInputs(const std::string& source, const PlanOptions& options, OutputFiles& files);

/// Diagnostics of a use of a graph file, which failed if there are errors.
struct FileOutcome {
  Diagnostics errors, warnings;
};
/// The graph of a graph file (.dfg) or an ONNX model.
Result<Graph> graphOfFile(const std::string& path, const PlanOptions& options);
/// A use of a graph: compiling or explaining it for the machine and with the options of a command line.
using GraphUse =
    std::function<FileOutcome(const Graph&, const Machine&, const CostModel&, const CompileOptions&)>;
/// Reads a graph file, the machine and the calibration tables, then calls `use`. A sealed plan is an error.
FileOutcome useGraphFile(const std::string& path, const PlanOptions& options, const GraphUse& use);
/// Compiles a graph file for the machine of the options.
Result<Executable> compileFile(const std::string& path, const PlanOptions& options,
                               CompileObserver* observer = nullptr);

/// The plan in a file, or the plan that a graph file compiles to. Options that only a graph can take are
/// errors beside a plan.
Result<std::shared_ptr<const Executable>> planOf(const std::string& path, const PlanOptions& options);

/// A remark where a plan is made for this host because no machine was named, for verbs whose report does not
/// say it (ratesText).
void noteThisHost(const PlanOptions& options, Console& console);

/// Estimated where a graph file is compiled for this host because no machine was named. To be asked before a
/// source that is a pipe has been read.
Rates ratesOf(const std::string& path, const PlanOptions& options);

/// Gives devices the capacities that --memory asks for, each "DEVICE=SIZE"; what is wrong goes to `errors`.
void applyMemory(const std::vector<std::string>& texts, Machine& machine, Diagnostics& errors);

/// "512MB", "1.5GiB", "4096": KB, MB, GB, TB are powers of 1000, KiB … of 1024, a plain number is bytes.
Result<int64_t> parseSize(const std::string& text);

/// "NAME=REST" at the first '=', both parts not empty. `option` and `form` are for the error.
Result<std::pair<std::string, std::string>> splitPair(const std::string& text, const std::string& option,
                                                      const std::string& form);

} // namespace dfc::tool
