#include "compiler/tasks/file/task_machine.h"

#include "ir/base/json/json_fields.h"
#include "ir/machine/device_keys.h"
#include "ir/machine/machine_faults.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>

namespace dfc {
namespace {

using Json = nlohmann::json;

class TaskMachineReader : private JsonFields {
 public:
  TaskMachineReader(JsonDocument& document, std::string path)
      : JsonFields(document), document_(document), path_(std::move(path)) {}

  TaskMachine run() {
    const Json& root = path_.empty() ? document_.root() : document_.root().at(path_);
    if (!root.is_object()) {
      wrongType(path_, root, "a machine, { \"devices\": [ … ] },");
      return machine_;
    }
    knownKeys(root, path_, {"name", "source", "devices", "links", "routes", "default_comm", "implicit_comm"});
    if (!root.contains("devices")) {
      document_.errorMissing(path_, "devices", "a machine has at least one");
    }
    eachRow(root, path_, "devices", [&](const Json& row, const std::string& path) { readDevice(row, path); });
    eachRow(root, path_, "links", [&](const Json& row, const std::string& path) { readLink(row, path); });
    eachRow(root, path_, "routes", [&](const Json& row, const std::string& path) { readRoute(row, path); });
    readDefaults(root);
    if (machine_.devices.size() > mostDevices || (machine_.devices.empty() && document_.clean())) {
      document_.errorAt(join(path_, "devices"),
                        fmt::format("{} devices where 1 to {} belong", machine_.devices.size(), mostDevices));
    }
    return std::move(machine_);
  }

  TaskMachine readTextbook() {
    const Json& root = document_.root();
    const Json* processors = member(root, "", "processors", true);
    for (const Json& name : processors != nullptr && processors->is_array() ? *processors : Json::array()) {
      const std::string path = fmt::format("processors[{}]", machine_.devices.size());
      if (!name.is_string()) {
        wrongType(path, name, "a processor's name");
      } else if (!devices_.try_emplace(name, machine_.devices.size()).second) {
        document_.errorAt(path, "the name is there already");
      }
      machine_.devices.push_back({name.is_string() ? name.get<std::string>() : "", "", 1, infiniteSeconds});
      machine_.devices.back().kind = machine_.devices.back().name;
    }
    if (machine_.devices.empty()) {
      document_.errorAt("processors", "an array of at least one processor's name belongs here");
    }
    machine_.implicitCopies = machine_.hasDefault = true;
    machine_.defaultCost = {0, 1};
    if (const Json* comm = member(root, "", "comm", false)) {
      readMatrices(*comm);
    }
    return std::move(machine_);
  }

 private:
  void readDevice(const Json& row, const std::string& path) {
    knownKeys(row, path, deviceKeys());
    TaskMachine::Device device;
    text(row, path, "id", device.name, true);
    device.kind = device.name;
    text(row, path, "class", device.kind);
    whole(row, path, "slots", device.queues);
    if (device.queues < 1 || device.queues > mostComputeQueues) {
      document_.errorAt(join(path, "slots"),
                        fmt::format("a device runs 1 to {} tasks at once", mostComputeQueues));
    }
    const Json* capacity = member(row, path, "mem", false);
    if (capacity != nullptr && !capacity->is_null()) {
      number(row, path, "mem", device.bytes);
      positive(join(path, "mem"), device.bytes, "leave it out for no limit");
    }
    if (!devices_.try_emplace(device.name, machine_.devices.size()).second &&
        !document_.complainedOf(join(path, "id"))) {
      document_.errorAt(join(path, "id"), fmt::format("a device is called '{}' already", device.name));
    }
    machine_.devices.push_back(std::move(device));
  }

  void positive(const std::string& path, double value, const char* hint) {
    if (!(value > 0) && !document_.complainedOf(path)) {
      document_.errorAt(path, "a number above 0 belongs here", hint);
    }
  }

  void readCost(const Json& row, const std::string& path, LinkCost& cost) {
    number(row, path, "latency", cost.latency);
    if (!(cost.latency >= 0 && cost.latency <= mostSeconds)) {
      document_.errorAt(join(path, "latency"), "a latency is 0 or more seconds");
    }
    double bandwidth = infiniteSeconds;
    number(row, path, "bandwidth", bandwidth);
    if (!(bandwidth >= leastRate) && !document_.complainedOf(join(path, "bandwidth"))) {
      document_.errorAt(join(path, "bandwidth"),
                        fmt::format("a bandwidth is {} bytes a second or more", leastRate),
                        "leave it out for no limit");
    }
    cost.secondsPerByte = 1 / bandwidth;
  }

  void readLink(const Json& row, const std::string& path) {
    knownKeys(row, path, {"id", "latency", "bandwidth", "slots"});
    TaskMachine::Link link;
    text(row, path, "id", link.name, true);
    readCost(row, path, link.cost);
    whole(row, path, "slots", link.slots);
    if (link.slots > mostComputeQueues) {
      document_.errorAt(join(path, "slots"), fmt::format("more than {} copies at once", mostComputeQueues),
                        "write 0 for any number");
    }
    if (!links_.try_emplace(link.name, machine_.links.size()).second &&
        !document_.complainedOf(join(path, "id"))) {
      document_.errorAt(join(path, "id"), fmt::format("a link is called '{}' already", link.name));
    }
    machine_.links.push_back(std::move(link));
  }

  void readRoute(const Json& row, const std::string& path) {
    knownKeys(row, path, {"from", "to", "links"});
    TaskMachine::Route route;
    route.from = indexOf(row, path, "from");
    route.to = indexOf(row, path, "to");
    eachName(row, path, "links", [&](const std::string& name, const std::string& where) {
      const auto found = links_.find(name);
      if (found == links_.end()) {
        document_.errorAt(where, fmt::format("no link is called '{}'", name),
                          hintFor(name, names(machine_.links)));
      } else if (std::find(route.links.begin(), route.links.end(), found->second) != route.links.end()) {
        document_.errorAt(where, fmt::format("link '{}' is in the route already", name),
                          "name each link once");
      } else {
        route.links.push_back(static_cast<uint32_t>(found->second));
      }
    });
    if (route.from == route.to && document_.clean()) {
      document_.errorAt(path, "a route from a device to itself", "remove it: such copies take no time");
    }
    machine_.routes.push_back(std::move(route));
  }

  template <class Use>
  void eachName(const Json& row, const std::string& path, const char* key, const Use& use) {
    const Json* all = member(row, path, key, true);
    if (all == nullptr) {
      return;
    }
    if (!all->is_array()) {
      wrongType(join(path, key), *all, "an array of names");
      return;
    }
    for (size_t i = 0; i < all->size(); ++i) {
      const std::string where = fmt::format("{}.{}[{}]", path, key, i);
      if ((*all)[i].is_string()) {
        use((*all)[i].template get<std::string>(), where);
      } else {
        wrongType(where, (*all)[i], "a name");
      }
    }
  }

  uint32_t indexOf(const Json& row, const std::string& path, const char* key) {
    std::string name;
    text(row, path, key, name, true);
    const auto found = devices_.find(name);
    if (found != devices_.end()) {
      return static_cast<uint32_t>(found->second);
    }
    if (!document_.complainedOf(join(path, key))) {
      document_.errorAt(join(path, key), fmt::format("no device is called '{}'", name),
                        hintFor(name, names(machine_.devices)));
    }
    return 0;
  }

  template <class Rows>
  static Names names(const Rows& rows) {
    Names result;
    for (const auto& row : rows) {
      result.push_back(row.name);
    }
    return result;
  }

  void readDefaults(const Json& root) {
    const Json* implicit = member(root, path_, "implicit_comm", false);
    if (implicit != nullptr && !implicit->is_boolean()) {
      wrongType(join(path_, "implicit_comm"), *implicit, "true or false");
    } else if (implicit != nullptr) {
      machine_.implicitCopies = implicit->get<bool>();
    }
    const Json* comm = member(root, path_, "default_comm", false);
    if (comm != nullptr && !comm->is_object()) {
      wrongType(join(path_, "default_comm"), *comm, "an object");
    } else if (comm != nullptr) {
      const std::string path = join(path_, "default_comm");
      knownKeys(*comm, path, {"latency", "bandwidth"});
      machine_.hasDefault = true;
      readCost(*comm, path, machine_.defaultCost);
    }
  }

  // "comm": {"latency": matrix, "bandwidth": matrix}, a row for each processor that copies start from. Each
  // pair becomes a route over a link of its own.
  void readMatrices(const Json& comm) {
    const size_t n = machine_.devices.size();
    const auto entry = [&](const char* key, size_t from, size_t to, double least, double most,
                           const std::string& wanted) {
      const std::string path = fmt::format("comm.{}[{}][{}]", key, from, to);
      const Json* matrix = comm.is_object() && comm.contains(key) ? &comm[key] : nullptr;
      const bool there = matrix != nullptr && matrix->is_array() && from < matrix->size() &&
                         (*matrix)[from].is_array() && to < (*matrix)[from].size() &&
                         (*matrix)[from][to].is_number();
      if (!there && !document_.complainedOf("comm")) {
        document_.errorAt("comm", fmt::format("{} is no number", path),
                          "write latency and bandwidth as a matrix each, a row for each processor");
      }
      const double value = there ? (*matrix)[from][to].get<double>() : 1;
      if (!(value >= least && value <= most) && !document_.complainedOf(path)) {
        document_.errorAt(path, wanted);
      }
      return value;
    };
    for (uint32_t from = 0; from < n; ++from) {
      for (uint32_t to = 0; to < n; ++to) {
        if (from != to) {
          machine_.routes.push_back({from, to, {static_cast<uint32_t>(machine_.links.size())}});
          const double latency = entry("latency", from, to, 0, mostSeconds, "a latency is 0 or more seconds");
          const double bandwidth = entry("bandwidth", from, to, leastRate, infiniteSeconds,
                                         fmt::format("a bandwidth is {} bytes a second or more", leastRate));
          machine_.links.push_back({"", {latency, 1 / bandwidth}, 0});
        }
      }
    }
  }

  JsonDocument& document_;
  std::string path_;
  TaskMachine machine_;
  std::unordered_map<std::string, size_t> devices_, links_;
};

// Chains of hops between all pairs by Dijkstra's algorithm over the time of `bytes`; a direct route goes
// first.
class PathFinder {
 public:
  PathFinder(const TaskGraph& graph, double bytes)
      : graph_(graph), bytes_(bytes), from_(graph.deviceCount()) {
    for (uint32_t hop = 0; hop < graph.hops.size(); ++hop) {
      from_[graph.hops[hop].from].push_back(hop);
    }
  }

  void addPathsFrom(uint32_t start, std::vector<llvm::SmallVector<uint32_t, 2>>& paths) const {
    const size_t n = graph_.deviceCount();
    std::vector<double> seconds(n, infiniteSeconds);
    std::vector<uint32_t> last(n, 0);
    std::vector<bool> done(n);
    seconds[start] = 0;
    while (true) {
      size_t next = n;
      for (size_t i = 0; i < n; ++i) {
        if (!done[i] && seconds[i] < infiniteSeconds && (next == n || seconds[i] < seconds[next])) {
          next = i;
        }
      }
      if (next == n) {
        break;
      }
      done[next] = true;
      for (const uint32_t hop : from_[next]) {
        const double there = seconds[next] + graph_.hops[hop].cost.seconds(bytes_);
        if (there < seconds[graph_.hops[hop].to]) {
          seconds[graph_.hops[hop].to] = there;
          last[graph_.hops[hop].to] = hop;
        }
      }
    }
    for (uint32_t to = 0; to < n; ++to) {
      auto& path = paths[start * n + to];
      for (uint32_t at = to; at != start && seconds[to] < infiniteSeconds; at = graph_.hops[last[at]].from) {
        path.insert(path.begin(), last[at]);
      }
    }
    for (const uint32_t hop : from_[start]) {
      paths[start * n + graph_.hops[hop].to] = {hop};
    }
  }

 private:
  const TaskGraph& graph_;
  double bytes_;
  std::vector<std::vector<uint32_t>> from_; // by device: its hops
};

// Of several routes between two devices the last counts, as in the scorer.
void addHops(TaskGraph& graph, const TaskMachine& machine, const std::vector<uint32_t>& linkIndex) {
  const size_t n = machine.devices.size();
  std::vector<uint32_t> hopOf(n * n, static_cast<uint32_t>(-1));
  const auto hopFor = [&](uint32_t from, uint32_t to) -> TaskHop& {
    uint32_t& index = hopOf[from * n + to];
    if (index == static_cast<uint32_t>(-1)) {
      index = static_cast<uint32_t>(graph.hops.size());
      graph.hops.emplace_back();
    }
    return graph.hops[index] = {from, to, {}, {}};
  };
  for (const TaskMachine::Route& route : machine.routes) {
    TaskHop& hop = hopFor(route.from, route.to);
    for (const uint32_t link : route.links) {
      const TaskMachine::Link& row = machine.links[link];
      hop.cost.latency += row.cost.latency;
      hop.cost.secondsPerByte = std::max(hop.cost.secondsPerByte, row.cost.secondsPerByte);
      if (row.slots > 0) {
        hop.links.push_back(linkIndex[link]);
      }
    }
  }
  for (uint32_t from = 0; from < n && machine.hasDefault; ++from) {
    for (uint32_t to = 0; to < n; ++to) {
      if (from != to && hopOf[from * n + to] == static_cast<uint32_t>(-1)) {
        hopFor(from, to).cost = machine.defaultCost;
      }
    }
  }
}

} // namespace

TaskMachine taskMachineFrom(JsonDocument& document, const std::string& path) {
  return TaskMachineReader(document, path).run();
}

TaskMachine textbookMachineFrom(JsonDocument& document) {
  return TaskMachineReader(document, "").readTextbook();
}

void addMachine(TaskGraph& graph, const TaskMachine& machine, double bytes) {
  for (const TaskMachine::Device& device : machine.devices) {
    graph.queues.push_back(device.queues);
  }
  std::vector<uint32_t> linkIndex; // among the links of limited slots
  for (const TaskMachine::Link& link : machine.links) {
    linkIndex.push_back(static_cast<uint32_t>(graph.linkSlots.size()));
    if (link.slots > 0) {
      graph.linkSlots.push_back(link.slots);
    }
  }
  addHops(graph, machine, linkIndex);
  const size_t n = graph.deviceCount();
  graph.communication.assign(n * n, {infiniteSeconds, 0});
  if (machine.implicitCopies) { // only direct routes join devices then
    for (const TaskHop& hop : graph.hops) {
      graph.communication[hop.from * n + hop.to] = hop.cost;
    }
    graph.hops.clear();
    graph.linkSlots.clear();
    return;
  }
  graph.paths.resize(n * n);
  const PathFinder finder(graph, bytes);
  for (uint32_t from = 0; from < n; ++from) {
    finder.addPathsFrom(from, graph.paths);
    for (size_t to = 0; to < n; ++to) {
      LinkCost& cost = graph.communication[from * n + to];
      const auto& path = graph.paths[from * n + to];
      cost = path.empty() ? cost : LinkCost{};
      for (const uint32_t hop : path) {
        cost.latency += graph.hops[hop].cost.latency;
        cost.secondsPerByte += graph.hops[hop].cost.secondsPerByte;
      }
    }
  }
}

} // namespace dfc
