#include "tools/bench/stage.h"

#include "compiler/cost/calibrated_cost_model.h"
#include "ir/base/glob.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/open_devices.h"
#include "runtime/steady_seconds.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::bench {
namespace {

/// The name of the backend that sessions take for GPUs; "" for none.
std::string_view gpuBackend(const SessionOptions& options) {
  const Backend* backend = backendFor(DeviceKind::Gpu, choiceOf(options));
  return backend == nullptr ? std::string_view() : backend->name();
}

Gpus playing(std::string_view backend) {
  return backend == "emulated"                  ? Gpus::Emulated
         : backend.empty() || backend == "null" ? Gpus::None
                                                : Gpus::Real;
}

Sizes smallSizes() {
  Sizes sizes;
  sizes.product = 192;
  sizes.products = 12;
  sizes.adds = 200;
  sizes.batches = {16, 64};
  sizes.largestBatch = 64;
  sizes.epochBatch = 16;
  sizes.epoch = 20;
  sizes.independent = 256;
  sizes.queues = {2, 4};
  sizes.layer = {128, 128, 128};
  sizes.dags = 10;
  sizes.dagSize = 32;
  return sizes;
}

Sizes quickened(Sizes sizes) {
  sizes.products = std::min(sizes.products, 10);
  sizes.adds = std::min(sizes.adds, 100);
  sizes.epoch = std::min(sizes.epoch, 10);
  sizes.dags = 3;
  return sizes;
}

std::string firstOf(const Diagnostics& errors) {
  const Diagnostic& error = errors.front();
  std::string text = error.message + (error.hint.empty() ? "" : fmt::format(" ({})", error.hint));
  return errors.size() == 1 ? text : fmt::format("{}; and {} more", text, errors.size() - 1);
}

} // namespace

void Prepared::step() const {
  const auto pending = session->submit({});
  DFC_ASSERT(pending.ok(), "a step without feeds was refused: " + render(pending.errors()));
}

Stage::Stage(BenchOptions options, Report& report)
    : options_(std::move(options)), times_(options_.tables), report_(report) {
  useTimes();
  for (const DeviceRow& device : options_.machine.devices) {
    if (device.kind == DeviceKind::Gpu) {
      gpus_.push_back(device.name);
    }
  }
  const std::string_view backend = gpuBackend(options_.session);
  realGpus_ = !gpus_.empty() && playing(backend) == Gpus::Real;
  sizes_ = realGpus_ ? Sizes{} : smallSizes();
  sizes_ = options_.quick ? quickened(sizes_) : sizes_;
}

std::vector<std::string> Stage::precisions() const {
  return options_.quick && !realGpus_ ? std::vector<std::string>{"f32"}
                                      : std::vector<std::string>{"f32", "tf32"};
}

Sampling Stage::asAsked(const Sampling& usual, const Sampling& quick) const {
  const Sampling& own = options_.quick ? quick : usual;
  return {options_.samples.value_or(own.samples), options_.steps.value_or(own.steps), own.warmUp};
}

Sampling Stage::longSteps() const { return asAsked({7, 1, 2}, {3, 1, 1}); }
Sampling Stage::shortSteps() const { return asAsked({7, realGpus_ ? 50U : 5U, 5}, {3, 2, 1}); }

bool asksFor(const std::string& pattern, const std::string& key) {
  return globMatches(pattern, key) || globMatches(pattern + "/*", key);
}

bool asksForInside(const std::string& pattern, const std::string& key) {
  return pattern.starts_with(key + "/");
}

bool Stage::wants(const std::string& key) const {
  return options_.only.empty() ||
         std::any_of(options_.only.begin(), options_.only.end(),
                     [&](const std::string& pattern) { return asksFor(pattern, key); });
}

void Stage::useTimes() {
  static const RooflineCostModel roofline; // outlives every model that falls back to it
  cost_ = std::make_shared<CalibratedCostModel>(times_.tables(), roofline);
  options_.session.backendOptions.calibration = times_.tableFor(DeviceKind::Gpu, options_.machine);
}

// What is learned of a plan's ops may place them elsewhere; those of the new plan are equal or known.
Result<Executable> Stage::plan(const Graph& graph, const Machine& machine, const CompileOptions& options) {
  auto plan = compile(graph, machine, *cost_, options);
  if (!plan || !options_.calibrate || !times_.learn(*plan, options_.session)) {
    return plan;
  }
  useTimes();
  return compile(graph, machine, *cost_, options);
}

Result<Prepared> Stage::prepare(const Result<Graph>& graph, const Variation& variation) {
  if (!graph) {
    return graph.errors();
  }
  CompileOptions compileOptions;
  compileOptions.skipPasses = variation.skipPasses;
  compileOptions.precision = variation.tf32 ? ops::Precision::Tf32 : ops::Precision::Ieee;
  auto made = plan(*graph, variation.machine.value_or(options_.machine), compileOptions);
  if (!made) {
    return made.errors();
  }
  Prepared act;
  act.plan = std::make_shared<const Executable>(*std::move(made));
  SessionOptions sessionOptions = options_.session;
  sessionOptions.trace = variation.trace;
  sessionOptions.maxInFlight = variation.maxInFlight;
  sessionOptions.backendOptions.mergeLaunches &= variation.mergeLaunches;
  auto session = Session::open(act.plan, sessionOptions);
  if (!session) {
    return session.errors();
  }
  act.session = *std::move(session);
  note(act);
  return act;
}

/// A device that one plan leaves unused another may use.
void Stage::note(const Prepared& act) {
  const std::vector<std::string> devices = act.session->deviceReport();
  for (const DeviceId device : act.plan->machine().devices.ids()) {
    const bool used = !devices[device.index()].ends_with(": not used");
    if (used && act.plan->machine().devices[device].kind == DeviceKind::Gpu) {
      gpusPlayed_ = playing(gpuBackend(options_.session));
    }
  }
  deviceReport_.resize(std::max(deviceReport_.size(), devices.size()));
  for (size_t i = 0; i < devices.size(); ++i) {
    if (deviceReport_[i].empty() || deviceReport_[i].ends_with(": not used")) {
      deviceReport_[i] = devices[i];
    }
  }
}

void Stage::attempt(const std::string& key, const std::string& what,
                    const std::function<Status(Row&)>& measure) const {
  Row row;
  row.key = key;
  row.what = what;
  try {
    if (const Status status = measure(row); !status) {
      row.why = firstOf(status.errors());
    }
  } catch (const MachineError& failure) {
    row.failed = true;
    row.why = failure.what();
  }
  report_.add(std::move(row));
}

void Stage::lacking(const std::string& key, const std::string& what, const std::string& why) const {
  const bool inside = std::any_of(options_.only.begin(), options_.only.end(),
                                  [&](const std::string& pattern) { return asksForInside(pattern, key); });
  if (!inside && !wants(key)) {
    return;
  }
  Row row;
  row.key = key;
  row.what = what;
  row.why = why;
  report_.add(std::move(row));
}

std::optional<double> Stage::required(double ratio) const {
  return realGpus_ && !options_.quick ? std::optional(ratio) : std::nullopt;
}

Check Stage::seen(std::string what, bool holds) const {
  return {std::move(what), holds ? 1.0 : 0.0, std::nullopt, required(1), false, true};
}

void Stage::checkPrediction(Row& row) const {
  if (required(1) && row.time && row.predicted) {
    row.checks.push_back({"predicted makespan", row.time->median / *row.predicted, 1.1, 0.9});
  }
}

std::vector<double> sampleSteps(const Prepared& act, const Sampling& sampling) {
  const double start = steadySeconds();
  for (uint32_t i = 0; i < sampling.warmUp; ++i) {
    act.step();
  }
  act.session->waitAll();
  while (steadySeconds() - start < sampling.warmSeconds) {
    act.step();
    act.session->waitAll();
  }
  std::vector<double> seconds;
  for (uint32_t sample = 0; sample < sampling.samples; ++sample) {
    const double begin = steadySeconds();
    for (uint32_t i = 0; i < sampling.steps; ++i) {
      act.step();
    }
    act.session->waitAll();
    seconds.push_back((steadySeconds() - begin) / sampling.steps);
  }
  return seconds;
}

Spread timeSteps(const Prepared& act, const Sampling& sampling) {
  return spreadOf(sampleSteps(act, sampling));
}

void measureSteps(const Prepared& act, const Sampling& sampling, Row& row) {
  row.time = timeSteps(act, sampling);
  row.predicted = act.plan->schedule().makespan;
  row.bound = act.plan->schedule().bounds.best();
}

Check against(const Row& row, std::string what, double seconds, std::optional<double> atMost) {
  DFC_ASSERT(row.time.has_value(), "a row without a time is held against nothing");
  return {std::move(what), row.time->median / seconds, atMost, std::nullopt};
}

} // namespace dfc::bench
