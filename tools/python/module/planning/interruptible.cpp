#include "tools/python/module/planning/interruptible.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <future>

namespace nb = nanobind;

namespace dfc::python {
namespace {

constexpr std::chrono::milliseconds betweenLooks{20};

bool signalRaised() {
  const nb::gil_scoped_acquire locked;
  return PyErr_CheckSignals() != 0;
}

void planWith(const Options& options, const std::atomic<bool>& stop,
              llvm::function_ref<void(const CostModel&)> plan) {
  const RooflineCostModel roofline;
  if (options.calibrations.empty()) {
    plan(Stoppable<RooflineCostModel>(stop));
  } else {
    plan(Stoppable<CalibratedCostModel>(stop, options.calibrations, roofline));
  }
}

} // namespace

void withStoppableCost(const Options& options, llvm::function_ref<void(const CostModel&)> plan) {
  std::atomic<bool> stop = false;
  {
    const nb::gil_scoped_release unlocked;
    auto planned = std::async(std::launch::async, [&] { planWith(options, stop, plan); });
    while (!stop && planned.wait_for(betweenLooks) != std::future_status::ready) {
      stop = signalRaised();
    }
    try {
      planned.get();
    } catch (const Stopped&) {
    }
  }
  if (stop) {
    throw nb::python_error();
  }
}

} // namespace dfc::python
