// Choice of backends by kind and name, then opening a group of devices per backend.
#include "runtime/open_devices.h"

#include "ir/graph/custom_calls.h"
#include "ir/plan/executable_parts.h"
#include "runtime/session.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>

namespace dfc {
namespace {

SideTable<DeviceId, bool> usedDevices(const Executable& plan) {
  SideTable<DeviceId, bool> used(plan.machine().devices.size());
  for (const DeviceId device : plan.machine().devices.ids()) {
    used[device] = plan.memory().arenaBytes[device] > 0;
  }
  for (const QueueRow& queue : plan.schedule().queues) {
    used[queue.device] = used[queue.device] || !queue.steps.empty();
  }
  for (const Fetch& fetch : plan.graph().fetches()) { // also one without bytes
    used[plan.memory().slots[fetch.value].device] = true;
  }
  return used;
}

const std::string& wantedFor(DeviceKind kind, const BackendChoice& choice) {
  return kind == DeviceKind::Cpu ? choice.cpu : choice.gpu;
}

class Opener {
 public:
  Opener(const Executable& plan, const BackendChoice& choice, const SideTable<DeviceId, int64_t>& arenaBytes)
      : plan_(plan), machine_(plan.machine()), choice_(choice), arenaBytes_(arenaBytes),
        options_(choice.options), used_(usedDevices(plan)) {
    opened_.devices.resize(machine_.devices.size());
  }

  Result<OpenedDevices> run() {
    chooseBackends();
    checkKernels();
    checkFunctions();
    if (!errors_.empty()) {
      return std::move(errors_);
    }
    options_.marks = marksOf();
    for (Backend* backend : choice_.known) {
      openAll(*backend);
    }
    allocateArenas();
    return std::move(opened_);
  }

 private:
  void chooseBackends() {
    std::map<std::string, Diagnostic> wrongNames; // one message a name, however many devices
    for (const DeviceId device : machine_.devices.ids()) {
      if (used_[device]) {
        Result<Backend*> backend = choose(machine_.devices[device]);
        if (backend.ok()) {
          opened_.devices[device.index()].backend = *backend;
        } else {
          wrongNames.emplace(backend.errors()[0].message, backend.errors()[0]);
        }
      }
    }
    for (const auto& entry : wrongNames) {
      errors_.push_back(entry.second);
    }
  }

  Result<Backend*> choose(const DeviceRow& row) const {
    if (Backend* backend = backendFor(row.kind, choice_); backend != nullptr) {
      return backend;
    }
    const std::string& wanted = wantedFor(row.kind, choice_);
    if (wanted.empty()) {
      throwNobodyCan(row);
    }
    return whyNot(row, wanted);
  }

  /// Throws where the backend is right and its device is not here.
  Diagnostic whyNot(const DeviceRow& row, const std::string& wanted) const {
    Backend* backend = nullptr;
    std::vector<std::string> able;
    for (Backend* known : choice_.known) {
      backend = backend == nullptr && known->name() == wanted ? known : backend;
      if (known->supports(row.kind)) {
        able.emplace_back(known->name());
      }
    }
    if (backend == nullptr) {
      const auto near = nearestName(wanted, able);
      return errorWithoutPlace(
          fmt::format("there is no backend named '{}'", wanted),
          near ? fmt::format("did you mean '{}'?", *near)
               : fmt::format("backends for a {}: {}", name(row.kind), fmt::join(able, ", ")));
    }
    if (!backend->supports(row.kind)) {
      return errorWithoutPlace(fmt::format("backend '{}' cannot play a {}", wanted, name(row.kind)),
                               fmt::format("backends for a {}: {}", name(row.kind), fmt::join(able, ", ")));
    }
    throw MachineError(fmt::format(
        "{}: the backend '{}' has no device here: {}; leave the choice of a backend away, and one that "
        "has a device plays it",
        row.name, wanted, backend->unavailable()));
  }

  [[noreturn]] void throwNobodyCan(const DeviceRow& row) const {
    std::string reasons;
    for (const Backend* backend : choice_.known) {
      if (backend->supports(row.kind)) {
        reasons += fmt::format("; {}: {}", backend->name(), backend->unavailable());
      }
    }
    throw MachineError(fmt::format("{}: no backend can play a {} here{}", row.name, name(row.kind), reasons));
  }

  void checkKernels() {
    for (const StepRow& step : plan_.schedule().steps) {
      const DeviceId device = plan_.schedule().queues[step.queue].device;
      const Backend* backend = opened_.devices[device.index()].backend;
      if (backend == nullptr || backend->hasKernel(plan_.graph(), step.op)) {
        continue;
      }
      Diagnostic error = errorWithoutPlace(
          fmt::format("the backend '{}' of {} has no kernel for {} '{}'", backend->name(),
                      machine_.devices[device].name, nameOf(plan_.graph()[step.op].kind()),
                      plan_.graph().nameOf(step.op)),
          plan_.graph()[step.op].kind() == OpKind::Custom
              ? "give the op a kernel (source, entry, grid, block), or let another backend play "
                "the device (--backend gpu=emulated)"
              : "place the op on another device, or cast its operands to a type that has one");
      error.where = plan_.graph().locationOf(step.op);
      errors_.push_back(std::move(error));
    }
  }

  void checkFunctions() {
    static const CustomFunctions none;
    std::vector<OpId> callers;
    for (const StepRow& step : plan_.schedule().steps) {
      const Backend* backend = opened_.devices[plan_.schedule().queues[step.queue].device.index()].backend;
      if (backend != nullptr && backend->callsFunctions()) {
        callers.push_back(step.op);
      }
    }
    llvm::sort(callers);
    const Diagnostics errors = checkCustomCalls(
        plan_.graph(), callers, options_.customFunctions != nullptr ? *options_.customFunctions : none);
    errors_.insert(errors_.end(), errors.begin(), errors.end());
  }

  // One profiler sees the whole process: queues of all backends mark what they run for it.
  Marks* marksOf() const {
    Marks* marks = options_.marks;
    for (const OpenedDevice& opened : opened_.devices) {
      marks = marks == nullptr && opened.backend != nullptr ? opened.backend->marks() : marks;
    }
    return marks;
  }

  void openAll(Backend& backend) {
    std::vector<DeviceRequest> requests;
    std::vector<DeviceId> ids;
    std::map<DeviceKind, uint32_t> ordinals;
    for (const DeviceId device : machine_.devices.ids()) {
      const uint32_t ordinal = ordinals[machine_.devices[device].kind]++;
      if (opened_.devices[device.index()].backend == &backend) {
        requests.push_back({machine_.devices[device], ordinal});
        ids.push_back(device);
      }
    }
    if (requests.empty()) {
      return;
    }
    opened_.groups.push_back(backend.open(requests, options_));
    for (size_t i = 0; i < ids.size(); ++i) {
      opened_.devices[ids[i].index()].group = opened_.groups.back().get();
      opened_.devices[ids[i].index()].index = i;
    }
  }

  void allocateArenas() {
    for (const DeviceId device : machine_.devices.ids()) {
      OpenedDevice& opened = opened_.devices[device.index()];
      if (opened.group != nullptr) {
        opened.arena = opened.group->allocate(opened.index, arenaBytes_[device]);
      }
    }
  }

  const Executable& plan_;
  const Machine& machine_;
  const BackendChoice& choice_;
  const SideTable<DeviceId, int64_t>& arenaBytes_;
  BackendOptions options_;
  SideTable<DeviceId, bool> used_;
  OpenedDevices opened_;
  Diagnostics errors_;
};

} // namespace

BackendChoice choiceOf(const SessionOptions& options) {
  BackendChoice choice{options.cpuBackend, options.gpuBackend, options.moreBackends, options.backendOptions};
  if (choice.options.customFunctions == nullptr) {
    choice.options.customFunctions = std::make_shared<const CustomFunctions>(options.customFunctions);
  }
  choice.known.insert(choice.known.end(), allBackends().begin(), allBackends().end());
  return choice;
}

Backend* backendFor(DeviceKind kind, const BackendChoice& choice) {
  const std::string& wanted = wantedFor(kind, choice);
  const auto found = std::find_if(choice.known.begin(), choice.known.end(), [&](const Backend* backend) {
    return (wanted.empty() || backend->name() == wanted) && backend->supports(kind) &&
           backend->unavailable().empty();
  });
  return found == choice.known.end() ? nullptr : *found;
}

Result<OpenedDevices> openDevices(const Executable& plan, const BackendChoice& choice,
                                  const SideTable<DeviceId, int64_t>* arenaBytes) {
  return Opener(plan, choice, arenaBytes != nullptr ? *arenaBytes : plan.memory().arenaBytes).run();
}

} // namespace dfc
