// Opening a session, its state and its trace; in_flight_steps.h has the execution of steps.
#include "runtime/session.h"

#include "ir/plan/executable_parts.h"
#include "runtime/available_processors.h"
#include "runtime/feeds.h"
#include "runtime/in_flight_steps.h"
#include "runtime/modules.h"
#include "runtime/open_devices.h"
#include "runtime/state/shared_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>

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

NamedLiterals resultsOf(const InFlightStep& step) {
  NamedLiterals results;
  for (size_t i = 0; i < step.fetches.size(); ++i) {
    const FetchRow& row = (*step.fetchRows)[i];
    results.insert_or_assign(row.name, Literal(row.type, step.fetches[i]));
  }
  return results;
}

// Of a closed session: the step has ended, and this thread may have yet to see it.
void throwErrorOf(const InFlightStep& step) {
  step.ended.wait(false, std::memory_order_acquire);
  if (step.error) {
    std::rethrow_exception(step.error);
  }
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

} // namespace

namespace {

std::vector<bool> assignedOf(const Graph& graph) {
  std::vector<bool> assigned(graph.valueCount());
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    assigned[graph[op].operands[0].index()] = true;
  }
  return assigned;
}

/// By device, which bytes of the plan lie in arenas of another session, in order.
using MovedBytes = SideTable<DeviceId, std::vector<ArenaMap::Moved>>;

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

struct Session::Impl {
  // Destroyed from the last to the first: steps end, arenas go, then groups, whose threads use the board.
  std::shared_ptr<Impl> sharing; // whose parameters are ours, too
  std::shared_ptr<StateTurns> turns;
  std::shared_ptr<const Executable> plan;
  ProgressBoard board;
  OpenedDevices opened;
  std::vector<ParameterRow> parameters;
  std::shared_ptr<const ArenaMaps> arenas;
  std::unique_ptr<InFlightSteps> steps;

  Impl(std::shared_ptr<const Executable> thePlan, OpenedDevices devices, MovedBytes moved,
       std::shared_ptr<Impl> state, const SessionOptions& options)
      : sharing(std::move(state)),
        turns(sharing != nullptr ? sharing->turns : std::make_shared<StateTurns>()), plan(std::move(thePlan)),
        board(plan->schedule().queues.size(), spinsFor(workingQueues(plan->schedule()))),
        opened(std::move(devices)), parameters(parametersOf(plan->placed())) {
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
  }

  ArenaMap::Place placeOf(ValueId value) const {
    const Slot& slot = plan->memory().slots[value];
    return (*arenas)[slot.device].at(slot.offset);
  }

  /// Tells the turns which of these values our steps assign.
  void note(llvm::ArrayRef<ValueId> values) const {
    const std::vector<bool> assigned = assignedOf(plan->graph());
    for (const ValueId value : values) {
      if (const ArenaMap::Place place = placeOf(value); place.arena != nullptr) {
        turns->note(place, assigned[value.index()]);
      }
    }
  }

  std::shared_ptr<InFlightStep> launch(const NamedLiterals& feeds, InFlightSteps::Awaited awaited) {
    const auto turn = turns->take(*steps);
    return steps->launch(feeds, awaited);
  }

  void write(ValueId value, const Literal& literal) {
    if (const ArenaMap::Place place = placeOf(value); place.arena != nullptr) {
      place.arena->write(place.offset, literal.bytes());
    }
  }

  Literal read(ValueId value) const {
    Literal literal(plan->graph().typeOf(value));
    if (const ArenaMap::Place place = placeOf(value); place.arena != nullptr) {
      place.arena->read(place.offset, literal.mutableBytes());
    }
    return literal;
  }

  Literal read(const ParameterRow& row) const {
    return joined(row, [&](ValueId value) { return read(value); });
  }

  void write(const ParameterPart& part, const Literal& whole) {
    write(part.value, valueOf(part, plan->graph().typeOf(part.value), whole));
  }
};

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() {
  impl_->steps->close();
  impl_->turns->leave(*impl_->steps);
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
  MovedBytes moved(plan->machine().devices.size());
  if (state != nullptr) {
    const std::vector<ParameterRow> parameters = parametersOf(plan->placed());
    auto matched = sharedValues({*plan, parameters}, {*state->plan, state->parameters});
    if (!matched) {
      return matched.errors();
    }
    shared = *std::move(matched);
    moved = movedBytes(*plan, shared, *state->plan, *state->arenas);
  }
  SideTable<DeviceId, int64_t> arenaBytes = plan->memory().arenaBytes;
  for (const DeviceId device : moved.ids()) {
    arenaBytes[device] -= ArenaMap::bytesOf(moved[device]);
  }
  llvm::DenseSet<ValueId> elsewhere;
  for (const SharedValue& value : shared) {
    elsewhere.insert(value.own);
  }
  Result<OpenedDevices> devices = openDevices(*plan, choiceOf(options), &arenaBytes);
  auto resident = residentValues(plan->placed(), options.dataFolder, elsewhere);
  Diagnostics errors = devices.errors();
  errors.insert(errors.end(), resident.errors().begin(), resident.errors().end());
  if (errors.empty() && state != nullptr) {
    errors = otherBackends(*plan, shared, *devices, *state->plan, state->opened);
  }
  if (!errors.empty()) {
    return errors;
  }
  auto impl = std::make_shared<Impl>(std::move(plan), *std::move(devices), std::move(moved), state, options);
  for (const auto& entry : *resident) {
    impl->write(entry.first, entry.second);
  }
  if (state != nullptr) {
    llvm::SmallVector<ValueId, 0> own, other;
    for (const SharedValue& value : shared) {
      own.push_back(value.own);
      other.push_back(value.other);
    }
    impl->note(own);
    state->note(other);
  }
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Result<NamedLiterals> Session::run(const NamedLiterals& feeds) {
  if (Diagnostics errors = checkFeeds(impl_->steps->feeds(), feeds); !errors.empty()) {
    return errors;
  }
  const std::shared_ptr<InFlightStep> step = impl_->launch(feeds, InFlightSteps::Awaited::AtOnce);
  impl_->steps->wait(step);
  return resultsOf(*step);
}

Result<Session::Pending> Session::submit(const NamedLiterals& feeds) {
  if (Diagnostics errors = checkFeeds(impl_->steps->feeds(), feeds); !errors.empty()) {
    return errors;
  }
  Pending pending;
  pending.step_ = impl_->launch(feeds, InFlightSteps::Awaited::Later);
  pending.steps_ = std::shared_ptr<InFlightSteps>(impl_, impl_->steps.get());
  return pending;
}

NamedLiterals Session::Pending::wait() const {
  if (const auto steps = steps_.lock()) {
    steps->wait(step_);
  } else {
    throwErrorOf(*step_);
  }
  return resultsOf(*step_);
}

Result<Literal> Session::Pending::wait(std::string_view fetch) const {
  const std::vector<FetchRow>& rows = *step_->fetchRows;
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const FetchRow& other) { return other.name == fetch; });
  if (row == rows.end()) {
    std::vector<std::string> names;
    names.reserve(rows.size());
    for (const FetchRow& other : rows) {
      names.push_back(other.name);
    }
    const auto near = nearestName(std::string(fetch), names);
    return errorWithoutPlace(fmt::format("the plan fetches nothing named '{}'", fetch),
                             near ? fmt::format("did you mean '{}'?", *near)
                                  : fmt::format("its fetches: {}", fmt::join(names, ", ")));
  }
  const auto index = static_cast<size_t>(row - rows.begin());
  if (const auto steps = steps_.lock()) {
    steps->wait(step_, index);
  } else {
    throwErrorOf(*step_);
  }
  return Literal(row->type, step_->fetches[index]);
}

bool Session::Pending::done() const {
  const auto steps = steps_.lock();
  return step_->ended || steps == nullptr || steps->ended(*step_);
}

void Session::waitAll() { impl_->steps->waitAll(); }

NamedLiterals Session::state() {
  const auto turn = impl_->turns->take(*impl_->steps);
  const auto idle = impl_->steps->pause();
  NamedLiterals state;
  for (const ParameterRow& row : impl_->parameters) {
    state.insert_or_assign(row.name, impl_->read(row));
  }
  return state;
}

Result<Literal> Session::view(std::string_view parameter) const {
  const auto& rows = impl_->parameters;
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.name == parameter; });
  if (row == rows.end()) {
    std::vector<std::string> names;
    for (const ParameterRow& one : rows) {
      names.push_back(one.name);
    }
    const auto near = nearestName(std::string(parameter), names);
    return errorWithoutPlace(fmt::format("the plan has no parameter '{}'", parameter),
                             near ? fmt::format("did you mean '{}'?", *near) : "see Session::parameters");
  }
  const ValueId value = row->parts.front().value;
  const ArenaMap::Place place = impl_->placeOf(value);
  std::byte* base = place.arena != nullptr ? place.arena->hostAddress() : nullptr;
  if (row->parts.front().place.isPart() || (base == nullptr && row->type.bytes() > 0)) {
    return errorWithoutPlace(
        fmt::format("parameter '{}' does not lie whole in memory of the host", parameter),
        "copy it with Session::state");
  }
  return Literal(row->type, std::shared_ptr<std::byte>(impl_, base + place.offset));
}

Diagnostics Session::checkWholeState(const NamedLiterals& values) const {
  return dfc::checkWholeState(impl_->parameters, values);
}

Status Session::setState(const NamedLiterals& values) {
  const auto turn = impl_->turns->take(*impl_->steps);
  const auto idle = impl_->steps->pause();
  if (Diagnostics errors = checkState(impl_->parameters, values); !errors.empty()) {
    return errors;
  }
  for (const ParameterRow& row : impl_->parameters) {
    const auto given = values.find(row.name);
    for (const ParameterPart& copy : row.copies) {
      if (given != values.end()) {
        impl_->write(copy, given->second);
      }
    }
  }
  return success();
}

Trace Session::takeTrace() {
  Trace trace;
  trace.origin = Trace::Origin::Measured;
  trace.spans = impl_->steps->takeSpans();
  std::stable_sort(trace.spans.begin(), trace.spans.end(),
                   [](const Span& a, const Span& b) { return a.begin < b.begin; });
  if (!trace.spans.empty()) {
    const Span first = trace.spans.front();
    for (Span& span : trace.spans) {
      span.begin -= first.begin;
      span.end -= first.begin;
      span.stepNumber -= first.stepNumber;
    }
  }
  return trace;
}

std::vector<std::string> Session::deviceReport() const {
  std::vector<std::string> report;
  const Machine& machine = impl_->plan->machine();
  for (const DeviceId device : machine.devices.ids()) {
    const OpenedDevice& opened = impl_->opened.devices[device.index()];
    const std::string about = opened.group != nullptr ? opened.group->description(opened.index) : "";
    report.push_back(
        fmt::format("{}: {}{}{}", machine.devices[device].name,
                    opened.backend != nullptr ? opened.backend->name() : std::string_view("not used"),
                    about.empty() ? "" : ", ", about));
  }
  return report;
}

std::vector<std::pair<std::string, TensorType>> Session::inputs() const {
  std::vector<std::pair<std::string, TensorType>> rows;
  for (const NamedType& input : impl_->plan->graph().inputs()) {
    rows.emplace_back(input.name, input.type);
  }
  return rows;
}

std::vector<std::pair<std::string, TensorType>> Session::fetches() const {
  std::vector<std::pair<std::string, TensorType>> rows;
  for (const FetchRow& row : impl_->steps->fetches()) {
    rows.emplace_back(row.name, row.type);
  }
  return rows;
}

std::vector<Session::Parameter> Session::parameters() const {
  const Graph& graph = impl_->plan->graph();
  llvm::DenseSet<ValueId> assigned;
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    assigned.insert(graph[op].operands[0]);
  }
  std::vector<Parameter> rows;
  for (const ParameterRow& row : impl_->parameters) {
    rows.push_back({row.name, row.type, assigned.contains(row.parts.front().value)});
  }
  return rows;
}

} // namespace dfc
