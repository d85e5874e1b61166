// The preparation of a session's plan: a session of its own whose parameters all lie in the memory of the
// first. It runs in a turn, before a step, where a parameter that it reads may have changed.
#include "runtime/session_impl.h"

namespace dfc {

Diagnostics Session::Impl::openPreparation(const SessionOptions& options) {
  const std::shared_ptr<const Executable> prepares(plan, plan->preparation());
  std::vector<SharedValue> shared;
  for (const PreparationParameter& row : preparationParameters(*plan)) {
    shared.push_back({row.own, row.step});
    if (const ArenaMap::Place place = placeOf(row.step); !row.prepared && place.arena != nullptr) {
      turns->watch(place, stale);
    }
  }
  SessionOptions once = options;
  once.trace = false;
  once.timeoutSeconds = 0; // of a step, which this is not
  auto opened = open(prepares, once, shared, this);
  if (!opened) {
    return opened.errors();
  }
  preparation = *std::move(opened);
  return {};
}

void Session::Impl::prepare() {
  const auto step = preparation->steps->launch({}, InFlightSteps::Awaited::AtOnce);
  preparation->steps->wait(step);
  for (const PreparationParameter& row : preparationParameters(*plan)) {
    if (const ArenaMap::Place place = placeOf(row.step); row.prepared && place.arena != nullptr) {
      place.arena->write(place.offset, {}); // no bytes: kernels that keep something look again
    }
  }
  *stale = false;
}

} // namespace dfc
