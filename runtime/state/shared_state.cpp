#include "runtime/state/shared_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

/// A device as its backend finds it: the first, second, … of its kind.
std::pair<DeviceKind, size_t> ordinalOf(const Machine& machine, DeviceId device) {
  size_t ordinal = 0;
  for (const DeviceId other : machine.devices.ids()) {
    ordinal += other < device && machine.devices[other].kind == machine.devices[device].kind ? 1 : 0;
  }
  return {machine.devices[device].kind, ordinal};
}

std::string describe(const StateOwner& owner, const ParameterRow& row) {
  std::vector<std::string> parts;
  for (const ParameterPart& copy : row.copies) {
    parts.push_back(
        fmt::format("{} on {}", toString(owner.plan.graph().typeOf(copy.value)),
                    owner.plan.machine().devices[owner.plan.memory().slots[copy.value].device].name));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

class Matcher {
 public:
  Matcher(const StateOwner& own, const StateOwner& other) : own_(own), other_(other) {}

  Result<std::vector<SharedValue>> run() {
    for (const ParameterRow& row : own_.parameters) {
      const auto found = llvm::find_if(
          other_.parameters, [&](const ParameterRow& candidate) { return candidate.name == row.name; });
      if (found != other_.parameters.end()) {
        match(row, *found);
      }
    }
    if (!elsewhere_.empty()) {
      errors_.push_back(liesElsewhere());
    }
    if (errors_.empty() && shared_.empty()) {
      errors_.push_back(errorWithoutPlace(
          "the plan and the session whose state it is to share have no parameter in common",
          "give parameters that are to be one the same name, or open the session with a state of its own"));
    }
    return errors_.empty() ? Result<std::vector<SharedValue>>(std::move(shared_)) : std::move(errors_);
  }

 private:
  void match(const ParameterRow& row, const ParameterRow& held) {
    if (!(row.type == held.type)) {
      errors_.push_back(errorWithoutPlace(
          fmt::format("parameter '{}' is {}, but {} in the session whose state it is to share", row.name,
                      toString(row.type), toString(held.type)),
          "give both the same type and shape, or other names"));
      return;
    }
    std::vector<SharedValue> pairs;
    for (const ParameterPart& copy : row.copies) {
      const auto found =
          llvm::find_if(held.copies, [&](const ParameterPart& other) { return alike(copy, other); });
      if (found != held.copies.end()) {
        pairs.push_back({copy.value, found->value});
      }
    }
    if (pairs.size() != row.copies.size() || row.copies.size() != held.copies.size()) {
      elsewhere_.push_back(fmt::format("'{}' lies as {}, but as {} in the session whose state it is to share",
                                       row.name, describe(own_, row), describe(other_, held)));
    }
    shared_.insert(shared_.end(), pairs.begin(), pairs.end());
  }

  /// One error of all parameters in other places, as most have one cause.
  Diagnostic liesElsewhere() const {
    const std::string more =
        elsewhere_.size() == 1 ? "" : fmt::format("; {} more lie elsewhere, too", elsewhere_.size() - 1);
    return errorWithoutPlace(
        fmt::format("parameter {}{}", elsewhere_.front(), more),
        "compile both plans for the same machine, with the same precision, pins and cuts; places that "
        "costs choose may differ all the same: then open it with a state of its own, and copy the values "
        "by copyState (copy_state_from of Python)");
  }

  bool alike(const ParameterPart& a, const ParameterPart& b) const {
    return a.place.starts == b.place.starts && a.place.whole == b.place.whole &&
           own_.plan.graph().typeOf(a.value) == other_.plan.graph().typeOf(b.value) &&
           ordinalOf(own_.plan.machine(), own_.plan.memory().slots[a.value].device) ==
               ordinalOf(other_.plan.machine(), other_.plan.memory().slots[b.value].device);
  }

  const StateOwner &own_, &other_;
  std::vector<SharedValue> shared_;
  std::vector<std::string> elsewhere_; // parameters in other places, and which
  Diagnostics errors_;
};

} // namespace

Result<std::vector<SharedValue>> sharedValues(const StateOwner& own, const StateOwner& other) {
  return Matcher(own, other).run();
}

std::unique_lock<std::mutex> StateTurns::take(InFlightSteps& steps) {
  std::unique_lock<std::mutex> turn(mutex_);
  if (last_ != &steps) {
    endTurn();
    last_ = &steps;
  }
  return turn;
}

// What its steps assigned is new to all others.
void StateTurns::endTurn() {
  if (last_ == nullptr) {
    return;
  }
  last_->close();
  for (const auto& [place, users] : users_) {
    if (!users.assigning.empty() && users.reads) {
      place.first->write(place.second, {}); // no bytes: kernels that keep something look again
    }
    if (llvm::is_contained(users.assigning, last_)) {
      changed({place.first, place.second});
    }
  }
  last_ = nullptr;
}

void StateTurns::leave(const InFlightSteps& steps) {
  const std::unique_lock<std::mutex> turn(mutex_);
  if (last_ == &steps) {
    endTurn();
  }
  for (auto& entry : users_) {
    llvm::erase_if(entry.second.assigning, [&](const InFlightSteps* other) { return other == &steps; });
  }
}

void StateTurns::note(const InFlightSteps& steps, const ArenaMap::Place& place, bool assigned) {
  const std::unique_lock<std::mutex> turn(mutex_);
  Users& users = users_[{place.arena, place.offset}];
  if (!assigned) {
    users.reads = true;
  } else if (!llvm::is_contained(users.assigning, &steps)) {
    users.assigning.push_back(&steps);
  }
}

void StateTurns::watch(const ArenaMap::Place& place, std::shared_ptr<bool> stale) {
  const std::unique_lock<std::mutex> turn(mutex_);
  users_[{place.arena, place.offset}].watchers.push_back(std::move(stale));
}

void StateTurns::changed(const ArenaMap::Place& place) {
  const auto users = users_.find({place.arena, place.offset});
  if (users == users_.end()) {
    return;
  }
  for (const std::weak_ptr<bool>& watcher : users->second.watchers) {
    if (const auto stale = watcher.lock()) {
      *stale = true;
    }
  }
}

} // namespace dfc
