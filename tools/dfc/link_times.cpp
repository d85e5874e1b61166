#include "tools/dfc/link_times.h"

#include "runtime/open_devices.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>

namespace dfc::tool {
namespace {

constexpr std::array<int64_t, 5> sizes = {4, 16 << 10, 256 << 10, 4 << 20, 64 << 20};

/// The device among those of its kind; none for the host.
std::optional<DeviceRequest> requestOf(const Machine& machine, DeviceId device) {
  if (device == machine.host()) {
    return std::nullopt;
  }
  uint32_t ordinal = 0;
  for (uint32_t before = 0; before < device.index(); ++before) {
    ordinal += machine.devices[DeviceId(before)].kind == machine.devices[device].kind ? 1 : 0;
  }
  return DeviceRequest{machine.devices[device], ordinal};
}

Calibration& tableFor(const std::string& model, std::vector<Calibration>& tables) {
  for (Calibration& table : tables) {
    if (table.device == model) {
      return table;
    }
  }
  return tables.emplace_back(Calibration{model, {}});
}

TimedLink timeLink(const Machine& machine, const Route& route, const SessionOptions& options,
                   std::vector<Calibration>& tables) {
  const DeviceRow &from = machine.devices[route.from], &to = machine.devices[route.to];
  TimedLink timed{from.name, to.name};
  Backend* backend = backendFor(DeviceKind::Gpu, choiceOf(options));
  if (backend == nullptr) {
    return timed;
  }
  const auto seconds =
      backend->timeCopies({requestOf(machine, route.from), requestOf(machine, route.to)}, sizes);
  std::vector<CalibratedCopy> copies;
  for (size_t i = 0; i < seconds.size(); ++i) {
    copies.push_back({to.model, sizes[i], seconds[i]});
  }
  if (!copies.empty()) {
    const double beyond = copies.back().seconds - copies.front().seconds;
    timed.copies = copies.size();
    timed.latency = copies.front().seconds;
    timed.bandwidth = beyond > 0 ? static_cast<double>(copies.back().bytes) / beyond : 0;
    tableFor(from.model, tables).keepCopies(std::move(copies));
  }
  return timed;
}

/// Calls `visit` with one route of each class.
void forEachClass(const Machine& machine, llvm::function_ref<bool(const Route&)> wanted,
                  llvm::function_ref<void(const Route&)> visit) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Route& route : machine.routes) {
    if (wanted(route) &&
        seen.emplace(machine.devices[route.from].model, machine.devices[route.to].model).second) {
      visit(route);
    }
  }
}

} // namespace

std::vector<TimedLink> timeLinks(const Machine& machine, const SessionOptions& options,
                                 llvm::function_ref<bool(DeviceId)> here, std::vector<Calibration>& tables) {
  std::vector<TimedLink> timed;
  forEachClass(
      machine, [&](const Route& route) { return here(route.from) && here(route.to); },
      [&](const Route& route) { timed.push_back(timeLink(machine, route, options, tables)); });
  return timed;
}

std::vector<std::string> untimedLinks(const Machine& machine, const std::vector<Calibration>& tables) {
  std::vector<std::string> untimed;
  const auto isUntimed = [&](const Route& route) {
    return !hasCopies(tables, machine.devices[route.from].model, machine.devices[route.to].model);
  };
  forEachClass(machine, isUntimed, [&](const Route& route) {
    untimed.push_back(
        fmt::format("{} to {}", machine.devices[route.from].name, machine.devices[route.to].name));
  });
  return untimed;
}

} // namespace dfc::tool
