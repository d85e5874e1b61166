#include "tools/dfc/planning.h"
#include "ir/graph/rules/precision.h"
#include "tools/dfc/all_errors.h"

#include "compiler/cost/calibrated_cost_model.h"
#include "compiler/passes/passes.h"
#include "compiler/place/place.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/pin_place.h"
#include "ir/base/atomic_file.h"
#include "ir/base/glob.h"
#include "ir/graph/graph.h"
#include "ir/graph/ops/matmul.h"
#include "tools/dfc/calibrations.h"
#include "tools/dfc/io/foreign_source.h"
#include "tools/dfc/machine_files.h"
#include "tools/dfc/onnx_source.h"
#include "tools/library/host_machine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>

namespace dfc::tool {
namespace {

const std::vector<std::string> precisions = {"ieee", "tf32", "bf16", "f16"};

/// ieee for a name that there is not.
ops::Precision precisionNamed(const std::string& word) {
  const auto& names = precisionNames;
  const auto found = std::find(names.begin() + 1, names.end(), word);
  return found == names.end() ? ops::Precision::Ieee : static_cast<ops::Precision>(found - names.begin());
}

template <class Rows>
std::vector<std::string> namesOf(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    names.emplace_back(row.name);
  }
  return names;
}

void checkName(const std::string& what, const std::string& word, const std::vector<std::string>& known,
               Diagnostics& errors) {
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    errors.push_back(unknownName(what, word, known));
  }
}

Diagnostic noDevice(const std::string& option, const std::string& device, const Machine& machine) {
  return errorWithoutPlace(fmt::format("{}: machine '{}' has no device '{}'", option, machine.name, device),
                           missingDeviceHint(device, machine));
}

void applyOne(const std::string& text, Machine& machine, Diagnostics& errors) {
  const auto pair = splitPair(text, "--memory", "DEVICES=SIZE, for example gpu0=512MB or gpu*=8GB");
  if (!pair) {
    return add(errors, pair.errors());
  }
  const auto size = parseSize(pair->second);
  if (!size) {
    add(errors, size.errors());
  } else if (*size == 0) {
    errors.push_back(
        errorWithoutPlace(fmt::format("--memory {}: a device without memory holds nothing", text),
                          "leave the option out to keep the machine file's capacity"));
  }
  bool found = false;
  for (const DeviceId device : machine.devices.ids()) {
    if (globMatches(pair->first, machine.devices[device].name)) {
      found = true;
      machine.devices[device].memoryBytes = size ? *size : machine.devices[device].memoryBytes;
    }
  }
  if (!found) {
    errors.push_back(noDevice("--memory " + text, pair->first, machine));
  }
}

Result<Machine> machineOf(const PlanOptions& options) {
  auto machine = options.machine.empty() ? Result<Machine>(estimatedHost()) : machineNamed(options.machine);
  Diagnostics errors = machine.errors();
  if (machine) {
    applyMemory(options.memory, *machine, errors);
  }
  if (!errors.empty()) {
    return errors;
  }
  return machine;
}

/// "PATTERN:AXIS=DEVICES".
Result<SplitWish> splitWish(const std::string& text) {
  const std::string form = "PATTERN:AXIS=DEVICES, for example 'images:0=gpu*'";
  auto pair = splitPair(text, "--split", form);
  if (!pair) {
    return pair.errors();
  }
  const size_t colon = pair->first.rfind(':');
  const char* begin = pair->first.data() + (colon == std::string::npos ? pair->first.size() : colon + 1);
  const char* end = pair->first.data() + pair->first.size();
  SplitWish wish{pair->first.substr(0, colon), 0, pair->second};
  if (const auto [stop, fault] = std::from_chars(begin, end, wish.axis);
      fault != std::errc() || stop != end || wish.pattern.empty()) {
    return errorWithoutPlace(fmt::format("--split {}: there is no axis before the '='", text),
                             "give " + form);
  }
  return wish;
}

/// `machine` is null where there is none to check the pins against.
CompileOptions compileOptionsOf(const PlanOptions& options, const Machine* machine, Diagnostics& errors) {
  CompileOptions result;
  if (!options.policy.empty()) {
    checkName("policy", options.policy, namesOf(allPolicies()), errors);
    result.policy = options.policy;
  }
  if (!options.precision.empty()) {
    checkName("precision", options.precision, precisions, errors);
  }
  result.precision = precisionNamed(options.precision);
  if (!std::isfinite(options.planSeconds) || options.planSeconds < 0) {
    errors.push_back(errorWithoutPlace("--plan-time must be 0 or more seconds",
                                       "write 0 or more seconds: --plan-time 10"));
  }
  result.planSeconds = options.planSeconds;
  result.mergeLaunches = !options.noMergedLaunches;
  result.peerReads = !options.noPeerReads;
  for (const std::string& pass : options.without) {
    checkName("pass", pass, skippableNames(), errors);
    result.skipPasses.push_back(pass);
  }
  for (const std::string& text : options.pins) {
    auto pair = splitPair(text, "--pin", "PATTERN=DEVICE, for example 'fc1*=gpu0'");
    if (!pair) {
      add(errors, pair.errors());
    } else if (machine != nullptr && !machine->findDevice(pair->second).valid()) {
      errors.push_back(noDevice("--pin " + text, pair->second, *machine));
    } else {
      result.pins.push_back({pair->first, pair->second});
    }
  }
  for (const std::string& text : options.splits) {
    auto wish = splitWish(text);
    wish ? result.splits.push_back(*std::move(wish)) : add(errors, wish.errors());
  }
  return result;
}

/// Where the graph's text asks for the device, rather than at an op that it pins.
Diagnostic atPin(const std::string& text, const std::string& path, const Machine& machine,
                 const std::string& device, Diagnostic error) {
  error.hint = missingDeviceHint(device, machine);
  return errorAtPin(text, path, device, fmt::format("machine '{}' has no device '{}'", machine.name, device),
                    error.hint)
      .value_or(error);
}

/// Errors that have no line (too little memory, a graph without ops) name the graph file.
Diagnostics atFile(const std::string& path, Diagnostics errors) {
  for (Diagnostic& error : errors) {
    error.where.file = error.where.file.empty() ? path : error.where.file;
  }
  return errors;
}

/// The first bytes, which stay in a pipe; none of what is no file.
std::string headOf(const std::string& path) { return peekFile(path, 4096); }

/// Whether it begins as every plan does (ir/plan/file/executable_format.h).
bool hasPlanMark(const std::string& head) { return head.starts_with("DFCPLAN\n"); }

/// The graph, and its text where it has one.
Result<Graph> graphAndText(const std::string& path, const PlanOptions& options,
                           std::optional<std::string>& text) {
  if (auto foreign = foreignSource(path)) {
    return *std::move(foreign);
  }
  if (isOnnxFile(path)) {
    return readOnnx(path, options.dims);
  }
  if (!options.dims.empty()) {
    return Diagnostic{Severity::Error,
                      {path},
                      "--dim binds the free dimensions of an ONNX model; a graph file has none",
                      "leave --dim out, or write the lengths in the file"};
  }
  auto read = readTextFile(path, largestGraphFile);
  if (!read) {
    return read.errors();
  }
  text = *std::move(read);
  return parseGraph(*text, path);
}

std::string listed(const std::string& text, const std::vector<std::string>& names) {
  return fmt::format("{}: {}", text, fmt::join(names, ", "));
}

} // namespace

void addPlanOptions(CLI::App& verb, PlanOptions& options) {
  verb.add_option("-m,--machine", options.machine,
                  "machine: a file (JSON), or a shipped one by name, such as cpu-2gpu; without it, this host "
                  "as one cpu with estimated rates (dfc machine -o FILE measures them)")
      ->type_name("FILE|NAME");
  verb.add_option(
          "--policy", options.policy,
          listed(fmt::format("policy that decides where ops run (default {})", CompileOptions().policy),
                 namesOf(allPolicies())))
      ->type_name("NAME");
  verb.add_option(
          "--precision", options.precision,
          listed(
              fmt::format("how products of f32 operands (matrices, attention, convolutions) are taken where "
                          "the graph leaves it open (default {}; f16 trains with dynamic loss scaling, but "
                          "for graphs that "
                          "spell their gradients out, which are warned of)",
                          precisions.front()),
              precisions))
      ->type_name("NAME");
  verb.add_option("--pin", options.pins,
                  "ops whose name or scope matches PATTERN (with * and ?) run on DEVICE; the last match wins")
      ->type_name("'PATTERN=DEVICE'")
      ->allow_extra_args(false);
  verb.add_option(
          "--split", options.splits,
          "cut the values whose name matches PATTERN along AXIS, a part on each device that matches DEVICES; "
          "all other ops follow")
      ->type_name("'PATTERN:AXIS=DEVICES'")
      ->allow_extra_args(false);
  verb.add_option("--memory", options.memory,
                  "capacity of each device that DEVICES matches (with * and ?), in place of the machine "
                  "file's; of several "
                  "that match, the last holds")
      ->type_name("'DEVICES=SIZE'")
      ->allow_extra_args(false);
  verb.add_option("--skip-pass", options.without, listed("leave a pass out", skippableNames()))
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb.add_option("--calibration", options.calibrations,
                  "measured times of ops, as dfc calibrate writes them")
      ->type_name("TABLE.json")
      ->allow_extra_args(false);
  verb.add_option("--dim", options.dims,
                  "length of a free dimension of an ONNX model, by its name or INPUT.AXIS")
      ->type_name("NAME=LENGTH")
      ->allow_extra_args(false);
  verb.add_option(
          "--plan-time", options.planSeconds,
          "seconds for the choice of a placement: what the usual candidates leave of them goes into a "
          "search for a quicker one (policies auto and split; default 0: a few steps for small graphs)")
      ->type_name("SECONDS");
  addLaunchOptions(verb, options.noMergedLaunches, options.noPeerReads);
}

void addLaunchOptions(CLI::App& verb, bool& noMergedLaunches, bool& noPeerReads) {
  verb.add_flag("--no-merged-launches", noMergedLaunches,
                "launch every op on a GPU by itself, even where small ones could share a kernel");
  verb.add_flag("--no-peer-reads", noPeerReads,
                "copy all that GPUs exchange, even where a kernel could read it in the other's memory");
}

Result<bool> isPlanFile(const std::string& path) {
  const std::string head = headOf(path); // of what is no file none: read as a graph it says what is wrong
  if (hasPlanMark(head)) {
    return true;
  }
  if (auto foreign = foreignSource(path)) {
    return *std::move(foreign);
  }
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".dfg" || extension == ".plan" || extension == ".onnx") {
    return extension == ".plan";
  }
  return head.find('\0') != std::string::npos;
}

void addInputs(const std::string& source, const PlanOptions& options, OutputFiles& files) {
  files.reads(source);
  files.reads(options.machine.empty() ? "" : machinePath(options.machine));
  for (const std::string& table : options.calibrations) {
    files.reads(table);
  }
}

Result<Graph> graphOfFile(const std::string& path, const PlanOptions& options) {
  std::optional<std::string> text;
  return graphAndText(path, options, text);
}

Result<Executable> compileFile(const std::string& path, const PlanOptions& options,
                               CompileObserver* observer) {
  std::optional<Executable> made;
  const FileOutcome outcome = useGraphFile(
      path, options,
      [&](const Graph& graph, const Machine& machine, const CostModel& cost, CompileOptions compileOptions) {
        compileOptions.observer = observer;
        auto plan = compile(graph, machine, cost, compileOptions);
        FileOutcome said{plan.errors(), plan.warnings()};
        if (plan) {
          made = *std::move(plan);
        }
        return said;
      });
  return made ? Result<Executable>(*std::move(made)).withWarnings(outcome.warnings)
              : Result<Executable>(outcome.errors);
}

FileOutcome useGraphFile(const std::string& path, const PlanOptions& options, const GraphUse& use) {
  auto machine = machineOf(options);
  Diagnostics errors = machine.errors();
  CompileOptions compileOptions = compileOptionsOf(options, machine ? &*machine : nullptr, errors);
  if (hasPlanMark(headOf(path))) {
    errors.push_back({Severity::Error,
                      {path},
                      "is a sealed plan: it is compiled already",
                      "use it with dfc run, dfc view or dfc simulate; dfc compile and dfc explain take a "
                      "graph file (.dfg) or an ONNX model"});
    return {std::move(errors), {}};
  }
  std::optional<std::string> text;
  const auto graph = graphAndText(path, options, text);
  if (text && machine) {
    compileOptions.explainMissingDevice = [&](const std::string& device, Diagnostic error) {
      return atPin(*text, path, *machine, device, std::move(error));
    };
  }
  add(errors, graph.errors());
  auto tables = machine ? calibrationsFor(options.calibrations, *machine) : std::vector<Calibration>();
  add(errors, tables.errors());
  if (!errors.empty()) {
    return {std::move(errors), {}};
  }
  const RooflineCostModel roofline;
  compileOptions.calibrations = mergedByModel(*tables);
  const Diagnostics ofTables = tables.warnings();
  FileOutcome outcome =
      use(*graph, *machine, CalibratedCostModel(*std::move(tables), roofline), compileOptions);
  if (!outcome.errors.empty()) {
    return {atFile(path, outcome.errors), {}};
  }
  add(outcome.warnings, graph.warnings());
  add(outcome.warnings, ofTables);
  return outcome;
}

Result<std::shared_ptr<const Executable>> planOf(const std::string& path, const PlanOptions& options) {
  const auto plan = isPlanFile(path);
  if (!plan) {
    return plan.errors();
  }
  if (*plan && (!options.machine.empty() || !options.policy.empty() || !options.precision.empty() ||
                !options.pins.empty() || !options.splits.empty() || !options.memory.empty() ||
                !options.without.empty() || !options.calibrations.empty() || options.noMergedLaunches ||
                options.noPeerReads || options.planSeconds != 0 || !options.dims.empty())) {
    return Diagnostic{
        Severity::Error,
        {path},
        "is a plan, compiled for its machine: -m, --policy, --precision, --pin, --split, --memory, "
        "--skip-pass, --calibration, --plan-time, --dim, --no-merged-launches and --no-peer-reads cannot "
        "change "
        "it",
        "compile the graph again with these options, or leave them out"};
  }
  auto executable = *plan ? Executable::load(path) : compileFile(path, options);
  if (!executable) {
    return executable.errors();
  }
  const Diagnostics warnings = executable.warnings();
  std::shared_ptr<const Executable> sealed = std::make_shared<Executable>(*std::move(executable));
  return Result<std::shared_ptr<const Executable>>(std::move(sealed)).withWarnings(warnings);
}

void noteThisHost(const PlanOptions& options, Console& console) {
  if (options.machine.empty()) {
    console.note(
        "for this host, as one cpu with estimated rates, since no machine is named: -m FILE|NAME names "
        "one, such as cpu-2gpu; dfc machine -o here.json measures this one");
  }
}

Rates ratesOf(const std::string& path, const PlanOptions& options) {
  const auto plan = isPlanFile(path);
  return options.machine.empty() && plan && !*plan ? Rates::Estimated : Rates::OfTheMachine;
}

void applyMemory(const std::vector<std::string>& texts, Machine& machine, Diagnostics& errors) {
  for (const std::string& text : texts) {
    applyOne(text, machine, errors);
  }
}

Result<int64_t> parseSize(const std::string& text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr Unit units[] = {{"", 1},      {"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                            {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    const bool isWhole = unit.bytes > 1 || number == std::floor(number); // there is no half a byte
    if (failure == std::errc() && rest == unit.name && number >= 0 && isWhole && number * unit.bytes < 9e18) {
      return static_cast<int64_t>(std::llround(number * unit.bytes));
    }
  }
  return errorWithoutPlace(fmt::format("'{}' is not a size", text),
                           "write a number and a unit, for example 512MB, 1.5GiB or 4096 (bytes)");
}

Result<std::pair<std::string, std::string>> splitPair(const std::string& text, const std::string& option,
                                                      const std::string& form) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return errorWithoutPlace(fmt::format("{} '{}' does not have the form {}", option, text, form));
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

} // namespace dfc::tool
