#include "compiler/quotient/quotient_machine.h"

#include "compiler/split/mesh.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr int64_t typicalBytes = 1 << 20;
/// Peers whose links are averaged; where a group has more, every n-th one is taken.
constexpr size_t mostPeers = 16;

class Maker {
 public:
  Maker(const Machine& machine, llvm::ArrayRef<DeviceId> devices, const Grid& grid, const CostModel& cost)
      : machine_(machine), devices_(devices), grid_(grid), cost_(cost) {
    for (const Route& route : machine.routes) {
      routes_.try_emplace(std::pair(route.from.index(), route.to.index()), &route);
    }
    domain_ = domainSize(devices.size(), [&](size_t at) {
      return cost_.pathSeconds(machine_, pathOf(devices_.front(), devices_[at]), typicalBytes);
    });
  }

  QuotientMachine make() {
    made_.machine.name = machine_.name;
    host_ = made_.machine.devices.add(machine_.devices[machine_.host()]);
    free_ = made_.machine.links.add({"mirrors", 0, 0, 0});
    made_.rows.grid = grid_;
    made_.rows.mirrored = true;
    std::vector<DeviceId> firsts;
    for (size_t stage = 0; stage < grid_.stages; ++stage) {
      const size_t at = stage * grid_.groups * grid_.width;
      const DeviceId first = made_.machine.devices.add(machine_.devices[devices_[at]]);
      joinHost(first, at);
      std::vector<size_t> ofGroup, ofStage; // offsets of the peers in `devices_`
      for (size_t i = 1; i < grid_.width; ++i) {
        ofGroup.push_back(i);
      }
      for (size_t i = 1; i < grid_.groups; ++i) {
        ofStage.push_back(i * grid_.width);
      }
      made_.rows.groups.push_back(rowOf(first, "group", at, ofGroup));
      made_.rows.stages.push_back(rowOf(first, "groups", at, ofStage));
      firsts.push_back(first);
    }
    joinStages(firsts);
    return std::move(made_);
  }

 private:
  struct Rate {
    double latency = 0, secondsPerByte = 0;
    uint32_t slots = 1; // copies at once
  };

  std::vector<Route> pathOf(DeviceId from, DeviceId to) const {
    const auto found = routes_.find(std::pair(from.index(), to.index()));
    return found != routes_.end() ? std::vector<Route>{*found->second}
                                  : *machine_.path(from, to, typicalBytes);
  }

  Rate rateOf(const std::vector<Route>& path) const {
    const double latency = cost_.pathSeconds(machine_, path, 0);
    return {latency,
            (cost_.pathSeconds(machine_, path, typicalBytes) - latency) / static_cast<double>(typicalBytes)};
  }

  // The devices of the domain of `devices_[at]` that receive over a common link when each device receives
  // from the one `offset` places behind it.
  size_t sharing(size_t at, size_t offset, const std::vector<Route>& path) const {
    size_t most = 1;
    for (const Route& route : path) {
      for (const LinkId link : route.links) {
        size_t count = 0;
        for (size_t to = at; to < at + domain_ && to + offset < devices_.size(); ++to) {
          count += llvm::any_of(pathOf(devices_[to + offset], devices_[to]),
                                [&](const Route& other) { return llvm::is_contained(other.links, link); })
                       ? 1
                       : 0;
        }
        most = std::max(most, machine_.links[link].slots == 0 ? 1 : count);
      }
    }
    return most;
  }

  /// Average rate at which `devices_[at]` receives from the devices at these offsets behind it.
  Rate rateFrom(size_t at, llvm::ArrayRef<size_t> offsets) const {
    Rate sum;
    llvm::DenseMap<uint32_t, size_t> uses; // by link
    size_t most = 1;
    const size_t step = std::max<size_t>(1, offsets.size() / mostPeers);
    size_t count = 0;
    for (size_t i = 0; i < offsets.size(); i += step) {
      const auto path = pathOf(devices_[at + offsets[i]], devices_[at]);
      const Rate one = rateOf(path);
      sum.latency += one.latency;
      sum.secondsPerByte += one.secondsPerByte * static_cast<double>(sharing(at, offsets[i], path));
      for (const Route& route : path) {
        for (const LinkId link : route.links) {
          most = std::max(most, ++uses[link.index()]);
        }
      }
      ++count;
    }
    return {sum.latency / static_cast<double>(count), sum.secondsPerByte / static_cast<double>(count),
            static_cast<uint32_t>(std::max<size_t>(1, count / most))};
  }

  LinkId addLink(std::string name, const Rate& rate) {
    return made_.machine.links.add(
        {std::move(name), rate.latency, rate.secondsPerByte > 0 ? 1 / rate.secondsPerByte : 0, rate.slots});
  }

  void join(DeviceId from, DeviceId to, LinkId link) { made_.machine.routes.push_back({from, to, {link}}); }

  void joinHost(DeviceId device, size_t at) {
    const std::string& name = made_.machine.devices[device].name;
    const DeviceId host = machine_.host();
    join(host_, device, addLink("to " + name, rateOf(pathOf(host, devices_[at]))));
    join(device, host_, addLink("from " + name, rateOf(pathOf(devices_[at], host))));
  }

  /// The device, then its mirror once for each peer; `of`: a word for the mirror's name.
  std::vector<DeviceId> rowOf(DeviceId first, const char* of, size_t at, llvm::ArrayRef<size_t> offsets) {
    std::vector<DeviceId> row{first};
    if (!offsets.empty()) {
      DeviceRow mirror;
      mirror.name = fmt::format("{} of {}", of, made_.machine.devices[first].name);
      mirror.kind = made_.machine.devices[first].kind;
      const DeviceId others = made_.machine.devices.add(mirror);
      join(first, others, free_);
      join(others, first, addLink(mirror.name, rateFrom(at, offsets)));
      joinHost(others, at + offsets.front());
      row.insert(row.end(), offsets.size(), others);
    }
    return row;
  }

  // Links between any two stages, and between their mirrors, at the rate of two neighbouring stages.
  void joinStages(llvm::ArrayRef<DeviceId> firsts) {
    for (size_t stage = 1; stage < firsts.size(); ++stage) {
      const size_t size = grid_.groups * grid_.width;
      const Rate rate = rateFrom((stage - 1) * size, {size});
      for (size_t before = 0; before < stage; ++before) {
        joinRows(before, stage, rate);
      }
    }
  }

  void joinRows(size_t a, size_t b, const Rate& rate) {
    const auto devicesOf = [&](size_t stage) {
      std::vector<DeviceId> devices{made_.rows.stages[stage].front()};
      for (const auto* rows : {&made_.rows.stages, &made_.rows.groups}) {
        if ((*rows)[stage].size() > 1) {
          devices.push_back((*rows)[stage].back());
        }
      }
      return devices;
    };
    // Mirrors have links of the same rate, so that no path through a mirror is quicker than the direct one.
    for (const DeviceId from : devicesOf(a)) {
      const std::string& name = made_.machine.devices[from].name;
      const LinkId there = addLink(fmt::format("{} to stage {}", name, b + 1), rate);
      const LinkId here = addLink(fmt::format("stage {} to {}", b + 1, name), rate);
      for (const DeviceId to : devicesOf(b)) {
        join(from, to, there);
        join(to, from, here);
      }
    }
  }

  const Machine& machine_;
  llvm::ArrayRef<DeviceId> devices_;
  const Grid& grid_;
  const CostModel& cost_;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, const Route*> routes_;
  QuotientMachine made_;
  DeviceId host_;
  LinkId free_;
  size_t domain_ = 1; // devices of an interconnect domain
};

} // namespace

QuotientMachine quotientMachine(const Machine& machine, llvm::ArrayRef<DeviceId> devices, const Grid& grid,
                                const CostModel& cost) {
  return Maker(machine, devices, grid, cost).make();
}

} // namespace dfc
