// `dfc calibrate`: times the ops of a graph, as a plan has them, on the devices of this host.
#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"
#include "ir/plan/executable_parts.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/calibrator.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/run/backend_choice.h"
#include "tools/dfc/run/custom_libraries.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;

struct CalibrateArguments {
  std::string source, output;
  PlanOptions plan;
  BackendArguments backends; ///< --backend alone
  std::vector<std::string> devices, customLibraries;
};

constexpr const char* calibrateFooter =
    R"(Every op of the plan is timed, at its own shapes, on one device of each model: wherever it is placed now, planning asks
how long it would take elsewhere. Devices that are not here, by the model in the machine file, are left out, and so are
emulated ones, whose model is "emulated gpu". Copies of several sizes are timed over one link between each two models
that are here. Custom ops are timed where --custom gives their functions, which are called on random operands; others keep
the seconds that they state. What TABLE.json holds already is kept, and measured times are replaced.

Examples:
  dfc calibrate samples/02_train_mlp/mlp.dfg -o table.json
  dfc machine -o here.json
  dfc calibrate samples/02_train_mlp/mlp.dfg -m here.json --device cpu0 -o table.json
  dfc compile samples/02_train_mlp/mlp.dfg -m here.json --calibration table.json -o mlp.plan)";

Result<std::vector<Calibration>> existingTables(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && std::filesystem::is_regular_file(path, ignored)
             ? readCalibrations(path)
             : Result<std::vector<Calibration>>(std::vector<Calibration>{});
}

void checkDevices(const std::vector<std::string>& wanted, const Machine& machine, Diagnostics& errors) {
  std::vector<std::string> names;
  for (const DeviceRow& row : machine.devices) {
    names.push_back(row.name);
  }
  for (const std::string& device : wanted) {
    if (!llvm::is_contained(names, device)) {
      errors.push_back(unknownName("device", device, names));
    }
  }
}

Diagnostics nothingTimed(const Calibrator& calibrator, const Machine& machine) {
  if (calibrator.opCount() == 0) {
    return {errorWithoutPlace("the plan has no op that takes a device's time",
                              "custom ops are timed where --custom gives their functions")};
  }
  Diagnostics errors;
  for (const Timed& timed : calibrator.timed()) {
    errors.push_back(errorWithoutPlace(
        fmt::format("{} of machine '{}' cannot be timed: {}", timed.device, machine.name, timed.skipped)));
  }
  errors.back().hint = "dfc machine -o here.json describes this host; use it with -m here.json";
  return errors;
}

Json linksJson(const Calibrator& calibrator) {
  Json links = Json::array();
  for (const TimedLink& link : calibrator.links()) {
    links.push_back({{"from", link.from},
                     {"to", link.to},
                     {"copies", link.copies},
                     {"latency", link.latency},
                     {"bandwidth", link.bandwidth}});
  }
  return links;
}

Json objectOf(const Calibrator& calibrator, const Executable& plan, const std::string& text,
              const std::string& output) {
  Json devices = Json::array();
  for (const Timed& timed : calibrator.timed()) {
    Json row{
        {"device", timed.device}, {"model", timed.model}, {"ops", timed.ops}, {"seconds", timed.seconds}};
    if (!timed.skipped.empty()) {
      row["skipped"] = timed.skipped;
    }
    devices.push_back(std::move(row));
  }
  Json object{
      {"graph", plan.graph().name()},   {"machine", plan.machine().name},
      {"ops", calibrator.opCount()},    {"devices", std::move(devices)},
      {"links", linksJson(calibrator)}, {"untimedLinks", untimedLinks(plan.machine(), calibrator.tables())}};
  if (output.empty()) {
    object["tables"] = Json::parse(text)["tables"];
  } else {
    object["output"] = output;
  }
  return object;
}

void reportLinks(const Calibrator& calibrator, const Machine& machine, bool aloud, Console& console) {
  for (const TimedLink& link : calibrator.links()) {
    if (aloud && link.timed()) {
      console.print(fmt::format("{} to {}: {} timed, {} and {} a second\n", link.from, link.to,
                                counted(link.copies, "size"), humanSeconds(link.latency),
                                humanBytes(static_cast<int64_t>(link.bandwidth))));
    }
  }
  const auto untimed = untimedLinks(machine, calibrator.tables());
  if (!untimed.empty() && !calibrator.links().empty()) {
    console.note(fmt::format("no copies were timed from {}: transfers are predicted by the machine file",
                             fmt::join(untimed, ", from ")));
  }
}

Exit finish(const Calibrator& calibrator, const Executable& plan, const std::string& output,
            Console& console) {
  const std::string text = printCalibrations(calibrator.tables());
  if (!output.empty()) {
    if (const Status written = writeFileAtomically(output, text); !written) {
      return console.fail(Exit::MachineFailure, written.errors());
    }
  }
  for (const Timed& timed : calibrator.timed()) {
    if (!timed.skipped.empty()) {
      console.note(fmt::format("{} was not timed: {}", timed.device, timed.skipped));
    } else if (!output.empty()) {
      console.print(fmt::format("{} ({}): {} timed, equal ones of the plan once, {} together\n", timed.device,
                                timed.model, counted(timed.ops, "op"), humanSeconds(timed.seconds)));
    }
    if (timed.failed > 0) {
      console.note(fmt::format("{}: {} failed on random operands, and keeps its stated seconds", timed.device,
                               counted(timed.failed, "custom op")));
    }
  }
  reportLinks(calibrator, plan.machine(), !output.empty(), console);
  console.print(output.empty() ? text : fmt::format("wrote {}\n", output));
  const Json object = objectOf(calibrator, plan, text, output);
  return console.finish(object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Exit calibrateVerb(const CalibrateArguments& arguments, Console& console) {
  OutputFiles files;
  addInputs(arguments.source, arguments.plan, files);
  files.writes("-o", arguments.output, {".json"});
  Diagnostics errors = files.check();
  SessionOptions options;
  applyBackends(arguments.backends, options, errors);
  options.customFunctions = customFunctionsOf(arguments.customLibraries, errors);
  if (!errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  const auto plan = planOf(arguments.source, arguments.plan);
  console.warn(plan.warnings());
  auto tables = existingTables(arguments.output);
  add(errors, plan.errors());
  add(errors, tables.errors());
  if (plan) {
    checkDevices(arguments.devices, (*plan)->machine(), errors);
  }
  if (!errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  Calibrator calibrator(**plan, std::move(options), arguments.devices, *std::move(tables));
  if (calibrator.opCount() > 0) {
    calibrator.run(console);
  }
  if (llvm::all_of(calibrator.timed(), [](const Timed& timed) { return !timed.skipped.empty(); })) {
    return console.fail(Exit::UserError, nothingTimed(calibrator, (*plan)->machine()));
  }
  return finish(calibrator, **plan, arguments.output, console);
}

} // namespace

void addCalibrate(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* verb =
      program.add_subcommand("calibrate", "Time a graph's ops on this host's devices, to plan with");
  verb->add_option("GRAPH|PLAN", arguments->source, "graph file (.dfg), ONNX model or plan")->required();
  addPlanOptions(*verb, arguments->plan);
  verb->add_option("-o,--output", arguments->output,
                   "write the tables here, into what is there; else print them")
      ->type_name("TABLE.json");
  verb->add_option("--device", arguments->devices, "time on this device; without it, on one of each model")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  verb->add_option("--backend", arguments->backends.backends,
                   "backend of the devices of a kind, e.g. gpu=emulated")
      ->type_name("KIND=NAME")
      ->allow_extra_args(false);
  addCustomOption(*verb, arguments->customLibraries);
  verb->footer(calibrateFooter);
  verbs[verb] = [arguments](Console& console) { return calibrateVerb(*arguments, console); };
}

} // namespace dfc::tool
