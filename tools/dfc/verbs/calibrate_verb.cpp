// `dfc calibrate`: times the ops of a graph, as a plan has them, on the devices of this host.
#include "compiler/lower/lower_op.h"
#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"
#include "ir/plan/executable_parts.h"
#include "runtime/open_devices.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/link_times.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/run/backend_choice.h"
#include "tools/dfc/run/progress.h"
#include "tools/dfc/verbs.h"
#include "tools/library/host_machine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;

struct CalibrateArguments {
  std::string source, output;
  PlanOptions plan;
  BackendArguments backends; ///< --backend alone
  std::vector<std::string> devices;
};

constexpr const char* calibrateFooter =
    R"(Every op of the plan is timed, at its own shapes, on one device of each model: wherever it is placed now, planning asks
how long it would take elsewhere. Devices that are not here, by the model in the machine file, are left out, and so are
emulated ones, whose model is "emulated gpu". Copies of several sizes are timed over one link between each two models
that are here. What TABLE.json holds already is kept, and measured times are replaced.

Examples:
  dfc calibrate samples/02_train_mlp/mlp.dfg -o table.json
  dfc machine -o here.json
  dfc calibrate samples/02_train_mlp/mlp.dfg -m here.json --device cpu0 -o table.json
  dfc compile samples/02_train_mlp/mlp.dfg -m here.json --calibration table.json -o mlp.plan)";

/// One op of each signature that the plan's compute steps have.
std::vector<OpId> distinctOps(const Executable& plan) {
  std::vector<OpId> ops;
  std::set<std::string> seen;
  for (const StepRow& step : plan.schedule().steps) {
    if (isTimed(plan.graph()[step.op].kind()) && seen.insert(signatureOf(plan.graph(), step.op)).second) {
      ops.push_back(step.op);
    }
  }
  return ops;
}

/// What really is there in place of the device; "" for nothing.
std::string modelHere(Backend& backend, const DeviceRequest& device) {
  Machine host = estimatedHost();
  if (backend.name() == "cpu") {
    return host.devices[host.host()].model;
  }
  const size_t before = host.devices.size();
  backend.describeHost(host, /*measure=*/false);
  if (host.devices.size() == before) {
    return fmt::format("{} {}", backend.name(), name(device.row.kind)); // plays it
  }
  uint32_t ordinal = 0;
  for (const DeviceRow& row : host.devices) {
    if (row.kind == device.row.kind && ordinal++ == device.ordinal) {
      return row.model;
    }
  }
  return "";
}

/// What became of a device of the machine.
struct Timed {
  std::string device, model;
  size_t ops = 0;
  double seconds = 0;  ///< of all ops together
  std::string skipped; ///< why it was not timed; "" where it was
};

class Calibrator {
 public:
  Calibrator(const Executable& plan, SessionOptions options, std::vector<std::string> wanted,
             std::vector<Calibration> tables)
      : plan_(plan), options_(std::move(options)), wanted_(std::move(wanted)), tables_(std::move(tables)),
        ops_(distinctOps(plan)) {}

  void run(const Console& console) {
    const auto& devices = plan_.machine().devices;
    Progress progress(console, "timing", static_cast<int64_t>(devices.size()), "devices");
    std::map<DeviceKind, uint32_t> ordinals;
    int64_t done = 0;
    for (const DeviceRow& row : devices) {
      const DeviceRequest device{row, ordinals[row.kind]++};
      progress.update(done++, row.name);
      if ((wanted_.empty() || llvm::is_contained(wanted_, row.name)) && !known_.contains(row.model)) {
        timed_.push_back(timeOn(device));
      }
    }
    progress.update(done, "links");
    links_ = timeLinks(
        plan_.machine(), options_, [&](DeviceId device) { return isHere(device); }, tables_);
    progress.clear();
  }

  const std::vector<TimedLink>& links() const { return links_; }
  const std::vector<Timed>& timed() const { return timed_; }
  const std::vector<Calibration>& tables() const { return tables_; }
  size_t opCount() const { return ops_.size(); }

 private:
  Timed timeOn(const DeviceRequest& device) {
    Timed timed;
    timed.device = device.row.name;
    timed.model = device.row.model;
    Backend* backend = backendFor(device.row.kind, choiceOf(options_));
    timed.skipped = backend == nullptr ? "no backend can play it here" : whyElsewhere(*backend, device);
    if (!timed.skipped.empty()) {
      return timed;
    }
    known_.insert(device.row.model);
    std::vector<OpId> ops;
    llvm::copy_if(ops_, std::back_inserter(ops),
                  [&](OpId op) { return backend->hasKernel(plan_.graph(), op); });
    auto measured = backend->calibrate(plan_.graph(), ops, /*known=*/{}, device, opLowering());
    if (measured.empty()) {
      timed.skipped = fmt::format("the backend '{}' times none of the ops", backend->name());
      return timed;
    }
    timed.ops = measured.size();
    for (const CalibratedOp& op : measured) {
      timed.seconds += op.seconds;
    }
    tableFor(device.row.model).keep(std::move(measured));
    return timed;
  }

  /// Timed itself, or wanted and of a model that was.
  bool isHere(DeviceId device) const {
    const Machine& machine = plan_.machine();
    const DeviceRow& row = machine.devices[device];
    return known_.contains(row.model) &&
           (wanted_.empty() || device == machine.host() || llvm::is_contained(wanted_, row.name));
  }

  static std::string whyElsewhere(Backend& backend, const DeviceRequest& device) {
    if (device.row.model.empty()) {
      return "the machine file says no model";
    }
    const std::string here = modelHere(backend, device);
    return here == device.row.model ? ""
           : here.empty()           ? fmt::format("'{}', which this host has not", device.row.model)
                                    : fmt::format("'{}', where this host has '{}'", device.row.model, here);
  }

  Calibration& tableFor(const std::string& model) {
    for (Calibration& table : tables_) {
      if (table.device == model) {
        return table;
      }
    }
    tables_.push_back({model, {}});
    return tables_.back();
  }

  const Executable& plan_;
  SessionOptions options_;
  std::vector<std::string> wanted_;
  std::vector<Calibration> tables_;
  std::vector<OpId> ops_;
  std::set<std::string> known_; ///< models that were timed
  std::vector<Timed> timed_;
  std::vector<TimedLink> links_;
};

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
    return {errorWithoutPlace("the plan has no op that takes a device's time")};
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
      console.print(fmt::format("{} ({}): {} timed, {} together\n", timed.device, timed.model,
                                counted(timed.ops, "op"), humanSeconds(timed.seconds)));
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
  verb->add_option("GRAPH|PLAN", arguments->source, "graph file (.dfg) or plan")->required();
  addPlanOptions(*verb, arguments->plan, /*machineRequired=*/false);
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
  verb->footer(calibrateFooter);
  verbs[verb] = [arguments](Console& console) { return calibrateVerb(*arguments, console); };
}

} // namespace dfc::tool
