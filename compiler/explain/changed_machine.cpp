// See changed_machine.h.
#include "compiler/explain/changed_machine.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <limits>
#include <map>
#include <set>

namespace dfc {
namespace {

/// Whether every route over the link begins or ends at the device.
bool isOwn(const Machine& machine, LinkId link, DeviceId device) {
  return llvm::all_of(machine.routes, [&](const Route& route) {
    return route.from == device || route.to == device || !llvm::is_contained(route.links, link);
  });
}

class DeviceCopy {
 public:
  DeviceCopy(Machine& machine, DeviceId device)
      : machine_(machine), before_(machine), device_(device),
        copy_(machine.devices.add(rowOf(machine, device))) {}

  void addRoutes() {
    for (const Route& route : before_.routes) {
      if (route.from == device_ || route.to == device_) {
        machine_.routes.push_back({route.from == device_ ? copy_ : route.from,
                                   route.to == device_ ? copy_ : route.to, copied(route.links)});
      }
    }
    for (const DeviceId other : before_.devices.ids()) {
      const Route *in = before_.directRoute(other, device_), *out = before_.directRoute(device_, other);
      if (other != device_ && alike(before_.devices[other], before_.devices[device_]) && in && out) {
        addBetween(*in, *out, other);
        return;
      }
    }
  }

 private:
  static DeviceRow rowOf(const Machine& machine, DeviceId device) {
    DeviceRow row = machine.devices[device];
    for (size_t number = 0; machine.findDevice(row.name).valid(); ++number) {
      row.name = fmt::format("{}{}", name(row.kind), number);
    }
    return row;
  }

  LinkId copied(LinkId link) {
    if (!isOwn(before_, link, device_)) {
      return link;
    }
    const auto [found, isNew] = copies_.try_emplace(link.index());
    if (isNew) {
      LinkRow row = before_.links[link];
      row.name = fmt::format("{} of {}", row.name, machine_.devices[copy_].name);
      found->second = machine_.links.add(std::move(row));
    }
    return found->second;
  }

  std::vector<LinkId> copied(const std::vector<LinkId>& links) {
    std::vector<LinkId> all;
    for (const LinkId link : links) {
      all.push_back(copied(link));
    }
    return all;
  }

  // Of the way between the device and another, the other's own links are left out; the copy's own are added.
  void addBetween(const Route& in, const Route& out, DeviceId other) {
    std::vector<LinkId> toCopy, fromCopy;
    for (const LinkId link : out.links) {
      if (!isOwn(before_, link, other)) {
        toCopy.push_back(link);
      }
    }
    for (const LinkId link : in.links) {
      if (isOwn(before_, link, device_)) {
        toCopy.push_back(copied(link));
      }
    }
    for (const LinkId link : out.links) {
      if (isOwn(before_, link, device_)) {
        fromCopy.push_back(copied(link));
      }
    }
    for (const LinkId link : in.links) {
      if (!isOwn(before_, link, other)) {
        fromCopy.push_back(link);
      }
    }
    machine_.routes.push_back({device_, copy_, std::move(toCopy)});
    machine_.routes.push_back({copy_, device_, std::move(fromCopy)});
  }

  Machine& machine_;
  Machine before_;
  DeviceId device_, copy_;
  std::map<uint32_t, LinkId> copies_; // of the device's own links
};

} // namespace

std::optional<Machine> withOneMore(Machine machine, DeviceId device) {
  if (llvm::none_of(machine.routes, [&](const Route& route) { return route.from == device; })) {
    return std::nullopt;
  }
  DeviceCopy(machine, device).addRoutes();
  return machine;
}

std::vector<Route> routesBetween(const Machine& machine, llvm::ArrayRef<DeviceId> devices) {
  std::vector<Route> routes;
  for (const DeviceId from : devices) {
    for (const DeviceId to : devices) {
      if (const auto path = machine.path(from, to, typicalTransferBytes)) {
        routes.insert(routes.end(), path->begin(), path->end());
      }
    }
  }
  return routes;
}

Machine withFasterLinks(Machine machine, llvm::ArrayRef<Route> routes, double factor) {
  std::set<uint32_t> links;
  for (const Route& route : routes) {
    for (const LinkId link : route.links) {
      links.insert(link.index());
    }
  }
  for (const uint32_t link : links) {
    machine.links[LinkId(link)].bandwidth *= factor;
  }
  return machine;
}

Machine withMoreMemory(Machine machine, llvm::ArrayRef<DeviceId> devices, int64_t factor) {
  for (const DeviceId device : devices) {
    int64_t& bytes = machine.devices[device].memoryBytes;
    bytes = bytes > std::numeric_limits<int64_t>::max() / factor ? std::numeric_limits<int64_t>::max()
                                                                 : bytes * factor;
  }
  return machine;
}

} // namespace dfc
