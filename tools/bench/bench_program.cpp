#include "tools/bench/bench_program.h"

#include "runtime/executable_folder.h"
#include "tools/bench/bench.h"
#include "tools/bench/stage.h"
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
  std::string what = "cost", machine, output;
  std::vector<std::string> memory;
  BackendArguments backends;
  std::vector<std::string> calibrations;
  bench::BenchOptions options;
  bench::PeerOptions peers;
  uint32_t samples = 0, steps = 0; ///< 0: the experiment's own
};

constexpr const char* benchExamples =
    R"(Without -m the machine is this host; where that shows no GPU, the shipped one with a CPU and two GPUs. GPUs that this
host has not are emulated: then the work is small, and its times say nothing about GPUs.

Alone it tells what dfc costs: training steps on the CPU beside PyTorch, tasks beside other task executors, compiling,
and kernels and passes beside plain code. tools/bench/peers/make_venv makes a Python with PyTorch, which is taken where it
lies in its usual place.

Rows have keys like train/64, overhead/chain, micro/kernel/add (cost), A2/both and B3/1gpu/tf32/8192; --only takes some of
them. With --output the results are added to a JSON file, one object a run. peers runs PyTorch's and JAX's scripts beside
ours (--python names a Python that has them), and calls of cuBLASLt.

Examples:
  dfc-bench --quick --only 'overhead*'
  dfc-bench --quick --only 'savings*' -o results.json
  dfc-bench experiments --quick
  dfc-bench experiments --calibrate --only A2 --only 'B3/1gpu/*/64' -o results.json
  dfc-bench peers --quick --only 'B3/1gpu' -o results.json)";

/// Rates are measured where there are GPUs whose plans are held against them, and not --quick.
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

/// Before hours of measuring rather than after them.
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
  const std::string& traces = arguments.options.traces;
  std::error_code failure;
  std::filesystem::create_directories(traces.empty() ? "." : traces, failure);
  if (failure) {
    errors.push_back({Severity::Error, {traces}, "cannot be a folder for traces: " + failure.message()});
  }
}

Result<bench::BenchOptions> optionsOf(const BenchArguments& arguments) {
  bench::BenchOptions options = arguments.options;
  Diagnostics errors;
  if (arguments.what != "cost" && arguments.what != "experiments" && arguments.what != "peers") {
    errors.push_back(unknownName("benchmark", arguments.what, {"cost", "experiments", "peers"}));
  }
  applyBackends(arguments.backends, options.session, errors);
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

/// The Python that make_venv makes; where there is none, the one in PATH.
std::string usualPython() {
  const std::filesystem::path folder = userCacheFolder("bench-venv");
  const std::filesystem::path python = folder / "bin/python";
  std::error_code ignored;
  return !folder.empty() && std::filesystem::exists(python, ignored) ? python.string() : "python3";
}

Result<bench::PeerOptions> peersOf(const BenchArguments& arguments) {
  bench::PeerOptions peers = arguments.peers;
  peers.python = peers.python.empty() ? usualPython() : peers.python;
  peers.scripts = peers.scripts.empty() ? shippedFile("tools/bench/peers").string() : peers.scripts;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(std::filesystem::path(peers.scripts) / "peer.py", ignored)) {
    return Diagnostic{Severity::Error,
                      {peers.scripts},
                      "is no folder with the peers' scripts",
                      "name the folder tools/bench/peers of the sources with --scripts"};
  }
  return peers;
}

/// A wrong result outweighs a device that failed, which outweighs a missed time: that is a measurement too.
Exit endOf(const bench::Report& report, const std::string& json, Console& console) {
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

Diagnostic nothingAskedFor(const std::string& what) {
  return errorWithoutPlace(
      "no benchmark has a row that --only asks for",
      fmt::format("keys of {} look like {}", what,
                  what == "cost" ? "train/64 and compile/1000" : "A2/both and B3/1gpu/f32/64"));
}

/// A misspelt pattern among good ones is said, but what was measured is not thrown away for it.
void warnOfIdlePatterns(const std::vector<std::string>& only, const bench::Report& report, Console& console) {
  for (const std::string& pattern : only) {
    const bool used = std::any_of(report.rows().begin(), report.rows().end(), [&](const bench::Row& row) {
      return bench::asksFor(pattern, row.key) || bench::asksForInside(pattern, row.key);
    });
    if (!used) {
      console.note(fmt::format("warning: --only '{}': there is no such row", pattern));
    }
  }
}

Exit benchVerb(const BenchArguments& arguments, Console& console) {
  auto options = optionsOf(arguments);
  const auto peers =
      arguments.what == "experiments" ? Result<bench::PeerOptions>(arguments.peers) : peersOf(arguments);
  if (!options || !peers) {
    return console.fail(Exit::UserError, options ? peers.errors() : options.errors());
  }
  const auto onRow = [&](const bench::Row& row) {
    if (!console.json()) {
      console.note(bench::rowLine(row));
    }
  };
  bench::Report report(onRow);
  const std::vector<std::string> only = options->only;
  const bench::Setting setting =
      arguments.what == "peers"         ? bench::runWithPeers(*std::move(options), *peers, report)
      : arguments.what == "experiments" ? bench::runExperiments(*std::move(options), report)
                                        : bench::runCosts(*std::move(options), *peers, report);
  if (report.rows().empty()) {
    return console.fail(Exit::UserError, {nothingAskedFor(arguments.what)});
  }
  warnOfIdlePatterns(only, report, console);
  const std::string json = reportJson(report, setting);
  if (!arguments.output.empty()) {
    if (const Status kept = bench::keepResult(arguments.output, json); !kept) {
      return console.fail(Exit::UserError, kept.errors());
    }
  }
  console.print(printReport(report, setting));
  return endOf(report, json, console);
}

} // namespace

Exit runBench(const std::vector<std::string>& words, Console& console) {
  BenchArguments arguments;
  CLI::App program("dfc-bench: time what dfc costs, or the book's experiments, beside their baselines",
                   "dfc-bench");
  addJsonFlag(program);
  program.add_option("WHAT", arguments.what, "cost, experiments, or peers (cost)");
  program.add_option("-m,--machine", arguments.machine, "machine: a file (JSON), or a shipped one by name")
      ->type_name("FILE|NAME");
  addBackendOptions(program, arguments.backends);
  program
      .add_option("--calibration", arguments.calibrations,
                  "measured times of ops, as dfc calibrate writes them")
      ->type_name("TABLE.json")
      ->allow_extra_args(false);
  program.add_flag("--calibrate", arguments.options.calibrate,
                   "time the ops of each plan first, so that predictions rest on measured times");
  program.add_option("--memory", arguments.memory, "capacity of a device in place of the machine's own")
      ->type_name("DEVICE=SIZE")
      ->allow_extra_args(false);
  program
      .add_option("--only", arguments.options.only, "rows whose key, or its beginning up to a '/', matches")
      ->type_name("'GLOB'")
      ->allow_extra_args(false);
  program.add_flag("--quick", arguments.options.quick, "few samples of small work: does everything run?");
  program.add_option("--samples", arguments.samples, "samples a row")
      ->type_name("N")
      ->check(wholeNumber(1, 1000));
  program.add_option("--steps", arguments.steps, "steps a sample")
      ->type_name("N")
      ->check(wholeNumber(1, 100000));
  program.add_option("--traces", arguments.options.traces, "write Chrome traces into this folder")
      ->type_name("FOLDER");
  program.add_option("-o,--output", arguments.output, "add the results to this file")->type_name("FILE.json");
  program
      .add_option("--scripts", arguments.peers.scripts, "folder with the peers' scripts, if not dfc's own")
      ->type_name("FOLDER");
  program.add_option("--python", arguments.peers.python, "the Python that has PyTorch (and JAX, for peers)")
      ->type_name("PROGRAM");
  program
      .add_option("--script-limit", arguments.peers.limitSeconds,
                  "seconds that one script of peers, dfc_executors, dfc_cublaslt or dfc_micro may take")
      ->type_name("S")
      ->check(seconds());
  program.footer(benchExamples);
  if (asksForHelp(words)) {
    return help(program.help(), console);
  }
  if (const auto errors = parseWords(program, program, words); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  return benchVerb(arguments, console);
}

} // namespace dfc::tool
