// Opening a session: its options, devices and programs, and the bytes that it shares with another session.
#include "runtime/available_processors.h"
#include "runtime/modules.h"
#include "runtime/session_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

namespace dfc {
namespace {

// Spinning is quicker than sleeping while every queue has a core to spin on, and in everyone's way otherwise.
uint32_t spinsFor(size_t queues) {
  constexpr uint32_t someMicroseconds = 1000, almostNone = 20;
  return queues <= availableProcessors() ? someMicroseconds : almostNone;
}

size_t workingQueues(const Schedule& schedule) {
  return static_cast<size_t>(std::count_if(schedule.queues.begin(), schedule.queues.end(),
                                           [](const QueueRow& row) { return !row.steps.empty(); }));
}

Diagnostic cannotCheck(const DeviceRow& device, std::string_view backend) {
  return errorWithoutPlace(
      fmt::format("checkFinite: backend '{}', which plays {}, cannot look at the values between its ops",
                  backend, device.name),
      fmt::format("let another backend play it (--backend {}={}), or leave checkFinite out",
                  name(device.kind), device.kind == DeviceKind::Gpu ? "emulated" : "cpu"));
}

/// Loads a group. Throws Error where it cannot look at its values, and MachineError.
void loadGroup(DeviceGroup& group, const Executable& plan, std::vector<Program> programs,
               const OpenedDevices& opened, ProgressBoard& board, bool checkFinite) {
  const DeviceId first = plan.schedule().queues[programs[0].queue].device;
  const DeviceRow& device = plan.machine().devices[first];
  if (checkFinite && !group.checkFinite()) {
    throw Error({cannotCheck(device, opened.devices[first.index()].backend->name())});
  }
  try {
    group.load(plan, std::move(programs), board);
  } catch (const std::system_error& error) {
    throw MachineError(
        fmt::format("{}: cannot start the threads of its queues: {}", device.name, error.what()));
  }
}

/// Gives each group the programs of its devices. Throws as `loadGroup`.
std::vector<RunningQueue> loadGroups(const Executable& plan, std::vector<Program> programs,
                                     const OpenedDevices& opened, ProgressBoard& board, bool checkFinite) {
  std::vector<RunningQueue> queues;
  std::map<const DeviceGroup*, std::vector<Program>> byGroup;
  for (Program& program : programs) {
    const OpenedDevice& device = opened.devices[plan.schedule().queues[program.queue].device.index()];
    queues.push_back({program.queue, program.commands.size(), device.group});
    program.device = device.index;
    byGroup[device.group].push_back(std::move(program));
  }
  for (const auto& group : opened.groups) {
    if (const auto own = byGroup.find(group.get()); own != byGroup.end()) {
      loadGroup(*group, plan, std::move(own->second), opened, board, checkFinite);
    }
  }
  return queues;
}

Diagnostics optionFaults(const SessionOptions& options) {
  Diagnostics errors;
  const auto checkFolder = [&](std::string_view option, const std::string& folder, std::string_view wayOut) {
    std::error_code ignored;
    if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
      errors.push_back(errorWithoutPlace(
          fmt::format("SessionOptions::{}: there is no folder '{}'", option, folder), std::string(wayOut)));
    }
  };
  checkFolder("moduleFolder", options.moduleFolder,
              "name the folder that holds libdfc_onednn.so, or leave it empty for the usual places");
  checkFolder("dataFolder", options.dataFolder,
              "name the folder that the initialisers' relative files start at");
  if (options.maxInFlight == 0) {
    errors.push_back(errorWithoutPlace("SessionOptions::maxInFlight is 0, so that no step could be submitted",
                                       "give 1 for one step at a time, 2 (the default) or more"));
  }
  if (!(options.timeoutSeconds >= 0)) {
    errors.push_back(errorWithoutPlace(
        fmt::format("SessionOptions::timeoutSeconds is {}", options.timeoutSeconds), "0 means no limit"));
  }
  return errors;
}

std::vector<bool> assignedOf(const Graph& graph) {
  std::vector<bool> assigned(graph.valueCount());
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    assigned[graph[op].operands[0].index()] = true;
  }
  return assigned;
}

MovedBytes movedBytes(const Executable& plan, llvm::ArrayRef<SharedValue> shared, const Executable& other,
                      const ArenaMaps& otherMaps) {
  MovedBytes moved(plan.machine().devices.size());
  for (const SharedValue& value : shared) {
    const Slot& own = plan.memory().slots[value.own];
    const Slot& theirs = other.memory().slots[value.other];
    const int64_t bytes = (own.bytes + arenaAlignment - 1) / arenaAlignment * arenaAlignment;
    if (bytes > 0) {
      moved[own.device].push_back(
          {own.offset, own.offset + bytes, otherMaps[theirs.device].at(theirs.offset)});
    }
  }
  for (const DeviceId device : moved.ids()) {
    std::sort(moved[device].begin(), moved[device].end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }
  return moved;
}

} // namespace

Session::Impl::Impl(std::shared_ptr<const Executable> thePlan, OpenedDevices devices, MovedBytes moved,
                    const SessionOptions& options)
    : turns(std::make_shared<StateTurns>()), plan(std::move(thePlan)),
      board(plan->schedule().queues.size(), spinsFor(workingQueues(plan->schedule()))),
      opened(std::move(devices)), parameters(parametersOf(*plan)) {
  auto maps = std::make_shared<ArenaMaps>(opened.devices.size());
  for (const DeviceId device : maps->ids()) {
    (*maps)[device] = ArenaMap(opened.devices[device.index()].arena.get(), std::move(moved[device]));
  }
  arenas = std::move(maps);
  ResolvedPlan resolved = resolve(*plan, arenas, board);
  auto queues = loadGroups(*plan, std::move(resolved.programs), opened, board, options.checkFinite);
  steps = std::make_unique<InFlightSteps>(
      *plan, InFlightOptions{options.maxInFlight, options.trace, options.timeoutSeconds},
      std::move(resolved.feeds), std::move(resolved.fetches), std::move(queues), board);
  if (options.checkIndices) {
    indices = fedIndicesOf(plan->graph());
  }
}

void Session::Impl::note(llvm::ArrayRef<ValueId> values) const {
  const std::vector<bool> assigned = assignedOf(plan->graph());
  for (const ValueId value : values) {
    if (const ArenaMap::Place place = placeOf(value); place.arena != nullptr) {
      turns->note(*steps, place, assigned[value.index()]);
    }
  }
}

Result<std::unique_ptr<Session>> Session::open(std::shared_ptr<const Executable> plan,
                                               const SessionOptions& options) {
  return openedOrErrors(std::move(plan), options, nullptr);
}

Result<std::unique_ptr<Session>> Session::open(std::shared_ptr<const Executable> plan,
                                               const SessionOptions& options, const Session& state) {
  return openedOrErrors(std::move(plan), options, state.impl_);
}

Result<std::unique_ptr<Session>> Session::openedOrErrors(std::shared_ptr<const Executable> plan,
                                                         const SessionOptions& options,
                                                         std::shared_ptr<Impl> state) {
  if (plan == nullptr) {
    return errorWithoutPlace("Session::open of no plan: the pointer is null",
                             "give it a plan, by std::make_shared<const Executable>(…) or dfc::open");
  }
  if (Diagnostics errors = optionFaults(options); !errors.empty()) {
    return errors;
  }
  if (!options.moduleFolder.empty()) {
    preferModulesIn(options.moduleFolder);
  }
  try {
    return opened(std::move(plan), options, std::move(state));
  } catch (const Error& mistake) {
    return mistake.diagnostics();
  } catch (const ModuleError& missing) {
    return errorWithoutPlace(missing.message(), missing.hint());
  }
}

namespace {

/// Devices of shared parameters that another backend plays than in the session that holds them.
Diagnostics otherBackends(const Executable& plan, llvm::ArrayRef<SharedValue> shared,
                          const OpenedDevices& own, const Executable& otherPlan, const OpenedDevices& other) {
  std::map<std::string, Diagnostic> errors;
  for (const SharedValue& value : shared) {
    const DeviceId device = plan.memory().slots[value.own].device;
    const Backend* ours = own.devices[device.index()].backend;
    const Backend* theirs = other.devices[otherPlan.memory().slots[value.other].device.index()].backend;
    if (ours != theirs && ours != nullptr && theirs != nullptr) {
      const std::string& name = plan.machine().devices[device].name;
      errors.emplace(
          name,
          errorWithoutPlace(fmt::format("backend '{}' is to play {}, which '{}' plays in the session whose "
                                        "state it is to share",
                                        ours->name(), name, theirs->name()),
                            "open both with the same backends"));
    }
  }
  Diagnostics all;
  for (const auto& entry : errors) {
    all.push_back(entry.second);
  }
  return all;
}

} // namespace

Result<std::unique_ptr<Session>> Session::opened(std::shared_ptr<const Executable> plan,
                                                 const SessionOptions& options, std::shared_ptr<Impl> state) {
  std::vector<SharedValue> shared;
  if (state != nullptr) {
    const std::vector<ParameterRow> parameters = parametersOf(*plan);
    auto matched = sharedValues({*plan, parameters}, {*state->plan, state->parameters});
    if (!matched) {
      return matched.errors();
    }
    shared = *std::move(matched);
  }
  auto impl = Impl::open(std::move(plan), options, shared, state.get());
  if (!impl) {
    return impl.errors();
  }
  Impl& opened = **impl;
  if (state != nullptr) {
    llvm::SmallVector<ValueId, 0> own, other;
    for (const SharedValue& value : shared) {
      own.push_back(value.own);
      other.push_back(value.other);
    }
    opened.sharing = state;
    opened.turns = state->turns;
    opened.note(own);
    state->note(other);
  }
  if (opened.plan->preparation() != nullptr) {
    if (Diagnostics errors = opened.openPreparation(options); !errors.empty()) {
      return errors;
    }
  }
  return std::unique_ptr<Session>(new Session(*std::move(impl)));
}

Result<std::unique_ptr<Session::Impl>> Session::Impl::open(std::shared_ptr<const Executable> plan,
                                                           const SessionOptions& options,
                                                           llvm::ArrayRef<SharedValue> shared,
                                                           const Impl* holder) {
  MovedBytes moved(plan->machine().devices.size());
  if (holder != nullptr) {
    moved = movedBytes(*plan, shared, *holder->plan, *holder->arenas);
  }
  SideTable<DeviceId, int64_t> arenaBytes = plan->memory().arenaBytes;
  for (const DeviceId device : moved.ids()) {
    arenaBytes[device] -= ArenaMap::bytesOf(moved[device]);
  }
  llvm::DenseSet<ValueId> elsewhere;
  for (const SharedValue& value : shared) {
    elsewhere.insert(value.own);
  }
  for (const PreparationParameter& row : preparationParameters(*plan)) {
    if (row.prepared) {
      elsewhere.insert(row.step);
    }
  }
  Result<OpenedDevices> devices = openDevices(*plan, choiceOf(options), &arenaBytes);
  auto resident = residentValues(plan->placed(), options.dataFolder, elsewhere);
  Diagnostics errors = devices.errors();
  errors.insert(errors.end(), resident.errors().begin(), resident.errors().end());
  if (errors.empty() && holder != nullptr) {
    errors = otherBackends(*plan, shared, *devices, *holder->plan, holder->opened);
  }
  if (!errors.empty()) {
    return errors;
  }
  auto impl = std::make_unique<Impl>(std::move(plan), *std::move(devices), std::move(moved), options);
  for (const auto& entry : *resident) {
    impl->write(entry.first, entry.second);
  }
  return impl;
}

} // namespace dfc
