#include "tools/bench/bench_program.h"

#include "runtime/executable_folder.h"
#include "tools/bench/bench.h"
#include "tools/bench/harness.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/calibrations.h"
#include "tools/dfc/command_line.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/io/output_files.h"
#include "tools/dfc/machine_files.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/run/backend_choice.h"
#include "tools/dfc/user_cache.h"
#include "tools/library/host_machine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace dfc::tool {
namespace {

struct BenchArguments {
  std::string suite = "cost", machine, output;
  std::vector<std::string> memory;
  BackendArguments backends;
  std::vector<std::string> calibrations;
  bench::BenchOptions options;
  bench::BaselineOptions baselines;
  uint32_t samples = 0, steps = 0; ///< 0: the benchmark's own
  bool list = false;
};

constexpr const char* benchExamples =
    R"(Without -m the machine is this host; where that shows no GPU, the shipped one with a CPU and two GPUs. GPUs that this
host has not are emulated: then the work is small, and its times say nothing about GPUs.

cost (the default): training steps on the CPU beside PyTorch, tasks beside other task executors, compiling, and kernels
and passes beside plain code. experiments: those of the book "Dive into Deep Learning" and of single kernels. baselines:
those experiments that PyTorch, JAX and cuBLASLt can do too, beside them. tools/bench/baselines/make_venv makes a Python
with PyTorch, which is taken where it lies in its usual place; --python names another.

--list shows the benchmarks. A row's key is its benchmark's name, or begins with it: train/64 and compile/1000 (cost),
products_on_gpus and mlp_training/1gpu/tf32/8192 (experiments). --only takes keys, their beginnings, and the book's
numbers. With --output the rows are kept in a JSON file, where they replace older rows of this host.

Examples:
  dfc-bench --list
  dfc-bench --quick --only 'overhead*'
  dfc-bench --quick --only 'savings*' -o results.json
  dfc-bench experiments --quick
  dfc-bench experiments --calibrate --only A2 --only 'mlp_training/1gpu/*/64' -o results.json
  dfc-bench baselines --quick --only mlp_training/1gpu -o results.json)";

/// The machine of the plans. Rates are measured where the host has GPUs, except with --quick.
Result<Machine> machineOf(const std::string& named, bool quick) {
  if (!named.empty()) {
    return machineNamed(named);
  }
  Machine estimated = estimatedHost();
  if (!addGpus(estimated, /*measure=*/false)) {
    return machineNamed("cpu-2gpu");
  }
  if (quick) {
    return estimated;
  }
  auto measured = measuredHost();
  if (measured) {
    addGpus(*measured, /*measure=*/true);
  }
  return measured;
}

void checkFolder(const std::string& folder, const std::string& use, Diagnostics& errors) {
  std::error_code failure;
  std::filesystem::create_directories(folder.empty() ? "." : folder, failure);
  if (failure) {
    errors.push_back(
        {Severity::Error, {folder}, fmt::format("cannot be a folder for {}: {}", use, failure.message())});
  }
}

/// Checks the outputs before hours of measuring rather than after them.
void checkOutputs(const BenchArguments& arguments, Diagnostics& errors) {
  OutputFiles files;
  files.reads(arguments.machine.empty() ? "" : machinePath(arguments.machine));
  for (const std::string& table : arguments.calibrations) {
    files.reads(table);
  }
  files.writes("--output", arguments.output, {".json"});
  add(errors, files.check());
  if (errors.empty() && !arguments.output.empty()) {
    add(errors, bench::checkResults(arguments.output).errors());
  }
  checkFolder(arguments.options.traces, "traces", errors);
  checkFolder(arguments.options.graphs, "graphs", errors);
}

Result<bench::BenchOptions> optionsOf(const BenchArguments& arguments) {
  bench::BenchOptions options = arguments.options;
  Diagnostics errors;
  if (arguments.suite == "peers") {
    errors.push_back(errorWithoutPlace("'peers' is now 'baselines'", "dfc-bench baselines"));
  } else if (arguments.suite != "cost" && arguments.suite != "experiments" &&
             arguments.suite != "baselines") {
    errors.push_back(unknownName("suite", arguments.suite, {"cost", "experiments", "baselines"}));
  }
  applyBackends(arguments.backends, options.session, errors);
  options.noPeerReads = options.noPeerReads || !options.session.backendOptions.peerAccess;
  auto machine = machineOf(arguments.machine, options.quick);
  add(errors, machine.errors());
  if (machine) {
    applyMemory(arguments.memory, *machine, errors);
  }
  auto tables = machine ? calibrationsFor(arguments.calibrations, *machine) : std::vector<Calibration>();
  add(errors, tables.errors());
  checkOutputs(arguments, errors);
  if (!errors.empty()) {
    return errors;
  }
  options.machine = *std::move(machine);
  options.tables = *std::move(tables);
  options.samples = arguments.samples == 0 ? std::nullopt : std::optional(arguments.samples);
  options.steps = arguments.steps == 0 ? std::nullopt : std::optional(arguments.steps);
  return options;
}

/// The Python of make_venv; where there is none, the one in PATH.
std::string usualPython() {
  const std::filesystem::path folder = userCacheFolder("bench-venv");
  const std::filesystem::path python = folder / "bin/python";
  std::error_code ignored;
  return !folder.empty() && std::filesystem::exists(python, ignored) ? python.string() : "python3";
}

Result<bench::BaselineOptions> baselinesOf(const BenchArguments& arguments) {
  bench::BaselineOptions baselines = arguments.baselines;
  baselines.python = baselines.python.empty() ? usualPython() : baselines.python;
  baselines.scripts =
      baselines.scripts.empty() ? shippedFile("tools/bench/baselines").string() : baselines.scripts;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(std::filesystem::path(baselines.scripts) / "baseline.py", ignored)) {
    return Diagnostic{Severity::Error,
                      {baselines.scripts},
                      "is no folder with the baselines' scripts",
                      "name the folder tools/bench/baselines of the sources with --scripts"};
  }
  return baselines;
}

/// The exit status: a wrong result before a failed device. A missed requirement is a measurement, not an
/// error.
Exit exitOf(const bench::Report& report, const std::string& json, Console& console) {
  const Exit written = console.finish(json);
  if (report.anyWrong()) {
    return console.fail(Exit::Bug,
                        {errorWithoutPlace("a bug in dfc: an experiment gave wrong results",
                                           "see the rows that say WRONG, and please report them")});
  }
  if (report.anyFailed()) {
    return console.fail(Exit::MachineFailure, {errorWithoutPlace("the machine failed in some experiments",
                                                                 "see the rows that say why")});
  }
  return written;
}

Diagnostic nothingSelected(const std::string& suite) {
  return errorWithoutPlace("no benchmark has a row that --only selects",
                           fmt::format("keys of {} look like {}; dfc-bench --list shows all benchmarks",
                                       suite,
                                       suite == "cost" ? "train/64 and compile/1000"
                                                       : "products_on_gpus and mlp_training/1gpu/f32/64"));
}

/// A pattern without a row is a warning: the rows of the other patterns have been measured by then.
void warnOfIdlePatterns(const std::vector<std::string>& only, const bench::Report& report, Console& console) {
  for (const std::string& pattern : only) {
    const bool used = std::any_of(report.rows().begin(), report.rows().end(), [&](const bench::Row& row) {
      return bench::selects(pattern, row.key) || bench::selectsInside(pattern, row.key);
    });
    if (!used) {
      console.note(fmt::format("warning: --only '{}': there is no such row", pattern));
    }
  }
}

Exit measure(const BenchArguments& arguments, Console& console) {
  if (arguments.list) {
    console.print(bench::listOfBenchmarks());
    return Exit::Fine;
  }
  auto options = optionsOf(arguments);
  const auto baselines = arguments.suite == "experiments"
                             ? Result<bench::BaselineOptions>(arguments.baselines)
                             : baselinesOf(arguments);
  if (!options || !baselines) {
    return console.fail(Exit::UserError, options ? baselines.errors() : options.errors());
  }
  const auto onRow = [&](const bench::Row& row) {
    if (!console.json()) {
      console.note(bench::rowLine(row));
    }
  };
  bench::Report report(onRow);
  const std::vector<std::string> only = options->only;
  const bench::Setting setting =
      arguments.suite == "baselines"     ? bench::runWithBaselines(*std::move(options), *baselines, report)
      : arguments.suite == "experiments" ? bench::runExperiments(*std::move(options), report)
                                         : bench::runCosts(*std::move(options), *baselines, report);
  if (report.rows().empty()) {
    return console.fail(Exit::UserError, {nothingSelected(arguments.suite)});
  }
  warnOfIdlePatterns(only, report, console);
  const std::string json = reportJson(report, setting);
  if (!arguments.output.empty()) {
    if (const Status kept = bench::mergeResult(arguments.output, json); !kept) {
      return console.fail(Exit::UserError, kept.errors());
    }
  }
  console.print(printReport(report, setting));
  return exitOf(report, json, console);
}

} // namespace

Exit runBench(const std::vector<std::string>& words, Console& console) {
  BenchArguments arguments;
  CLI::App program("dfc-bench: measure the cost of dfc, or run experiments, beside their baselines",
                   "dfc-bench");
  addJsonFlag(program);
  program.add_option("SUITE", arguments.suite, "cost, experiments, or baselines (cost)");
  program.add_option("-m,--machine", arguments.machine, "machine: a file (JSON), or a shipped one by name")
      ->type_name("FILE|NAME");
  addBackendOptions(program, arguments.backends);
  addLaunchOptions(program, arguments.options.noMergedLaunches, arguments.options.noPeerReads);
  program
      .add_option("--calibration", arguments.calibrations,
                  "measured times of ops, as dfc calibrate writes them")
      ->type_name("TABLE.json")
      ->allow_extra_args(false);
  program.add_flag("--calibrate", arguments.options.calibrate,
                   "time the ops of each plan first, so that predictions rest on measured times");
  program
      .add_option(
          "--memory", arguments.memory,
          "capacity of each device that DEVICES matches (with * and ?), in place of the machine's own")
      ->type_name("'DEVICES=SIZE'")
      ->allow_extra_args(false);
  program
      .add_option("--only", arguments.options.only,
                  "rows whose key, its beginning up to a '/', or book's number matches")
      ->type_name("'GLOB'")
      ->allow_extra_args(false);
  program.add_flag("--list", arguments.list, "show the benchmarks: name, book's number, title");
  program.add_flag("--quick", arguments.options.quick, "few samples of small work: does everything run?");
  program.add_option("--samples", arguments.samples, "samples a row")
      ->type_name("N")
      ->check(wholeNumber(1, 1000));
  program.add_option("--steps", arguments.steps, "steps a sample")
      ->type_name("N")
      ->check(wholeNumber(1, 100000));
  program.add_option("--traces", arguments.options.traces, "write Chrome traces into this folder")
      ->type_name("FOLDER");
  program
      .add_option("--graphs", arguments.options.graphs,
                  "write the graphs of the rows 'split', 'paper' and 'gpt_decode' into this folder")
      ->type_name("FOLDER");
  program
      .add_option("-o,--output", arguments.output, "keep the results in this file, newest per host and row")
      ->type_name("FILE.json");
  program
      .add_option("--scripts", arguments.baselines.scripts,
                  "folder with the baselines' scripts, if not dfc's own")
      ->type_name("FOLDER");
  program
      .add_option("--python", arguments.baselines.python,
                  "the Python that has PyTorch (and JAX, for baselines)")
      ->type_name("PROGRAM");
  program
      .add_option("--script-limit", arguments.baselines.limitSeconds,
                  "seconds that one script of baselines, dfc_executors, dfc_cublaslt or dfc_micro may take")
      ->type_name("S")
      ->check(seconds());
  program.footer(benchExamples);
  if (asksForHelp(words)) {
    return help(program.help(), console);
  }
  if (const auto errors = parseWords(program, program, words); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  return measure(arguments, console);
}

} // namespace dfc::tool
