// The keys of a machine file, one function a kind of row. samples/machines/README.md describes them.
#include "ir/machine/machine_reader.h"

#include "ir/base/json/json_fields.h"
#include "ir/machine/device_keys.h"
#include "ir/machine/machine_faults.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseSet.h>
#include <nlohmann/json.hpp>

#include <unordered_map>

namespace dfc {
namespace {

using Json = nlohmann::json;
using Keys = JsonFields::Names;

class MachineReader : private JsonFields {
 public:
  explicit MachineReader(JsonDocument& document) : JsonFields(document), document_(document) {}

  Machine run() {
    const Json& root = document_.root();
    if (!root.is_object()) {
      document_.errorAt("", "a machine file holds one object", "write { \"devices\": [ … ] }");
      return machine_;
    }
    knownKeys(root, "", {"name", "devices", "links", "routes", "default_comm", "implicit_comm"});
    text(root, "", "name", machine_.name);
    if (!root.contains("devices")) {
      document_.errorMissing("", "devices", "a machine has at least one cpu, the host");
    }
    eachRow(root, "devices", [&](const Json& row, const std::string& path) { readDevice(row, path); });
    eachRow(root, "links", [&](const Json& row, const std::string& path) { readLink(row, path); });
    eachRow(root, "routes", [&](const Json& row, const std::string& path) { readRoute(row, path); });
    readDefaults(root);
    return std::move(machine_);
  }

 private:
  void readDevice(const Json& row, const std::string& path) {
    knownKeys(row, path, deviceKeys());
    DeviceRow device;
    text(row, path, "id", device.name, true);
    readClass(row, path, device);
    text(row, path, "model", device.model);
    text(row, path, "architecture", device.architecture);
    whole(row, path, "mem", device.memoryBytes);
    if (row.contains("mem") && device.memoryBytes == 0 && !document_.complainedOf(path + ".mem")) {
      document_.errorAt(path + ".mem", "0 is no capacity", "leave it out for no limit");
    }
    whole(row, path, "slots", device.computeQueues);
    whole(row, path, "threads", device.threads);
    whole(row, path, "multiprocessors", device.multiprocessors);
    whole(row, path, "threadsPerMultiprocessor", device.threadsPerMultiprocessor);
    whole(row, path, "sharedBytesPerBlock", device.sharedBytesPerBlock);
    readRates(row, path, "flops", device.peakFlops, device.tf32Flops);
    readFigure(row, path, "matmulHalfInner", device.matmulHalfInner, device.tf32HalfInner);
    readFigure(row, path, "matmulHalfTile", device.matmulHalfTile, device.tf32HalfTile);
    readRates(row, path, "convolutionFlops", device.convolutionFlops, device.tf32ConvolutionFlops);
    readRates(row, path, "stridedFlops", device.stridedFlops, device.tf32StridedFlops);
    rate(row, path, "memoryBandwidth", device.memoryBandwidth);
    whole(row, path, "cache", device.cacheBytes);
    number(row, path, "launch", device.launchSeconds);
    readFigure(row, path, "matmulLaunch", device.matmulLaunchSeconds, device.tf32LaunchSeconds);
    number(row, path, "stepOverhead", device.stepOverheadSeconds);
    const std::string called = device.name;
    devices_.try_emplace(called, machine_.devices.add(std::move(device)));
  }

  void readClass(const Json& row, const std::string& path, DeviceRow& device) {
    std::string word = device.name.substr(0, device.name.find_first_of("0123456789")); // "gpu" of "gpu1"
    const bool given = row.contains("class");
    text(row, path, "class", word);
    if (word == name(DeviceKind::Cpu) || word == name(DeviceKind::Gpu)) {
      device.kind = word == name(DeviceKind::Cpu) ? DeviceKind::Cpu : DeviceKind::Gpu;
    } else if (given && !document_.complainedOf(path + ".class")) {
      document_.errorAt(path + ".class", fmt::format("'{}' is no class of device", word),
                        R"(write "cpu" or "gpu")");
    } else if (!given && !device.name.empty()) {
      document_.errorMissing(path, "class", R"(write "class": "cpu" or "gpu")");
    }
  }

  /// One rate for all element types, or an object with a rate for each that differs from no limit, and for
  /// f32 matmuls in tf32.
  void readRates(const Json& row, const std::string& path, const char* key, ByElementType& byType,
                 double& tf32) {
    const Json* value = member(row, path, key, false);
    const std::string where = join(path, key);
    if (value == nullptr) {
      return;
    }
    if (value->is_number()) {
      rateOf(*value, where, byType[0]);
      byType.fill(byType[0]);
      return;
    }
    readByPrecision(*value, where, [&](const char* precision, std::optional<ElementType> type) {
      rate(*value, where, precision, type ? byType[static_cast<size_t>(*type)] : tf32);
    });
  }

  /// One figure for all precisions, or an object.
  void readFigure(const Json& row, const std::string& path, const char* name, ByElementType& byType,
                  double& tf32) {
    const Json* value = member(row, path, name, false);
    if (value != nullptr && value->is_number()) {
      number(row, path, name, tf32);
      byType.fill(tf32);
    } else if (value != nullptr) {
      const std::string where = join(path, name);
      readByPrecision(*value, where, [&](const char* key, std::optional<ElementType> type) {
        number(*value, where, key, type ? byType[static_cast<size_t>(*type)] : tf32);
      });
    }
  }

  /// Calls `read` for each key that the object may have; no type stands for tf32.
  void readByPrecision(const Json& value, const std::string& where,
                       llvm::function_ref<void(const char*, std::optional<ElementType>)> read) {
    if (!value.is_object()) {
      wrongType(where, value, "a number or an object of numbers");
      return;
    }
    Keys known;
    for (const ElementType type : allElementTypes) {
      known.emplace_back(name(type));
      read(known.back().c_str(), type);
    }
    known.emplace_back("tf32");
    read("tf32", std::nullopt);
    knownKeys(value, where, known);
  }

  void readLink(const Json& row, const std::string& path) {
    knownKeys(row, path, {"id", "latency", "bandwidth", "slots"});
    LinkRow link;
    text(row, path, "id", link.name, true);
    number(row, path, "latency", link.latencySeconds);
    rate(row, path, "bandwidth", link.bandwidth);
    whole(row, path, "slots", link.slots);
    const std::string called = link.name;
    links_.try_emplace(called, machine_.links.add(std::move(link)));
  }

  void readRoute(const Json& row, const std::string& path) {
    knownKeys(row, path, {"from", "to", "links"});
    Route route{readEnd(row, path, "from"), readEnd(row, path, "to"), {}};
    const Json* links = member(row, path, "links", true);
    if (links != nullptr && !links->is_array()) {
      wrongType(path + ".links", *links, "an array of link names");
    } else if (links != nullptr) {
      for (size_t i = 0; i < links->size(); ++i) {
        route.links.push_back(readLinkName((*links)[i], fmt::format("{}.links[{}]", path, i)));
      }
    }
    if (!machine_.devices.empty()) { // without devices, errors about the ends would be consequences
      machine_.routes.push_back(std::move(route));
    }
  }

  DeviceId readEnd(const Json& row, const std::string& path, const char* key) {
    std::string name;
    text(row, path, key, name, true);
    const auto found = devices_.find(name);
    if (found != devices_.end()) {
      return found->second;
    }
    if (!machine_.devices.empty() && !document_.complainedOf(join(path, key))) {
      document_.errorAt(join(path, key), fmt::format("no device is called '{}'", name),
                        hintFor(name, namesOf(machine_.devices)));
    }
    return {};
  }

  LinkId readLinkName(const Json& value, const std::string& path) {
    if (!value.is_string()) {
      wrongType(path, value, "a link's name");
      return {};
    }
    const auto name = value.get<std::string>();
    const auto found = links_.find(name);
    if (found != links_.end()) {
      return found->second;
    }
    document_.errorAt(path, fmt::format("no link is called '{}'", name),
                      hintFor(name, namesOf(machine_.links)));
    return {};
  }

  template <class Rows>
  static Keys namesOf(const Rows& rows) {
    Keys names;
    for (const auto& row : rows) {
      names.push_back(row.name);
    }
    return names;
  }

  /// The scorer's contention-free forms: default_comm joins every two devices that no route joins, by a link
  /// for any number of copies; implicit_comm takes contention from the other links too.
  void readDefaults(const Json& root) {
    if (const Json* comm = member(root, "", "default_comm", false)) {
      if (comm->is_object()) {
        addDefaultRoutes(*comm);
      } else {
        wrongType("default_comm", *comm, "an object");
      }
    }
    const Json* implicit = member(root, "", "implicit_comm", false);
    if (implicit != nullptr && !implicit->is_boolean()) {
      wrongType("implicit_comm", *implicit, "true or false");
    } else if (implicit != nullptr && implicit->get<bool>()) {
      for (const LinkId link : machine_.links.ids()) {
        machine_.links[link].slots = 0;
      }
    }
  }

  void addDefaultRoutes(const Json& comm) {
    knownKeys(comm, "default_comm", {"latency", "bandwidth"});
    LinkRow link{"default", 0, 0, 0};
    number(comm, "default_comm", "latency", link.latencySeconds, true);
    rate(comm, "default_comm", "bandwidth", link.bandwidth, true);
    const LinkId shared = machine_.links.add(std::move(link));
    if (machine_.devices.size() > mostDevices) {
      return; // a fault of its own
    }
    llvm::DenseSet<std::pair<DeviceId, DeviceId>> joined;
    for (const Route& route : machine_.routes) {
      if (route.from.valid() && route.to.valid()) {
        joined.insert({route.from, route.to});
      }
    }
    for (const DeviceId from : machine_.devices.ids()) {
      for (const DeviceId to : machine_.devices.ids()) {
        if (from != to && joined.count({from, to}) == 0) {
          machine_.routes.push_back({from, to, {shared}});
        }
      }
    }
  }

  JsonDocument& document_;
  Machine machine_;
  std::unordered_map<std::string, DeviceId> devices_;
  std::unordered_map<std::string, LinkId> links_;
};

} // namespace

Machine machineFrom(JsonDocument& document) { return MachineReader(document).run(); }

} // namespace dfc
