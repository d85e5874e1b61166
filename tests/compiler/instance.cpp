#include "tests/compiler/instance.h"

#include "ir/machine/machine.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace dfc::test {
namespace {

using Json = nlohmann::json;
constexpr double never = std::numeric_limits<double>::infinity();

Json readJson(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return Json::parse(stream);
}

std::string text(const Json& id) { return id.is_string() ? id.get<std::string>() : id.dump(); }

// The files list tasks in any order; task ids must be topological, with the file's order among the free ones.
std::vector<std::string> topological(const Json& file) {
  std::map<std::string, int> missing;
  for (const Json& edge : file["edges"]) {
    ++missing[text(edge["dst"])];
  }
  std::vector<std::string> order;
  const size_t count = file["tasks"].size();
  std::vector<bool> done(count);
  while (order.size() < count) {
    for (size_t i = 0; i < count; ++i) {
      const std::string id = text(file["tasks"][i]["id"]);
      if (!done[i] && missing[id] == 0) {
        done[i] = true;
        order.push_back(id);
        for (const Json& edge : file["edges"]) {
          if (text(edge["src"]) == id) {
            --missing[text(edge["dst"])];
          }
        }
        break;
      }
    }
  }
  return order;
}

const Json& taskNamed(const Json& file, const std::string& id) {
  for (const Json& task : file["tasks"]) {
    if (text(task["id"]) == id) {
      return task;
    }
  }
  throw std::runtime_error("no task " + id);
}

std::vector<LinkCost> communication(const Json& file, size_t devices) {
  std::vector<LinkCost> costs(devices * devices, LinkCost{0, 1});
  if (file.contains("comm")) {
    for (size_t from = 0; from < devices; ++from) {
      for (size_t to = 0; to < devices; ++to) {
        costs[from * devices + to] = {file["comm"]["latency"][from][to].get<double>(),
                                      1 / file["comm"]["bandwidth"][from][to].get<double>()};
      }
    }
  }
  return costs;
}

} // namespace

ClassicInstance readClassic(const std::filesystem::path& path) {
  const Json file = readJson(path);
  std::vector<std::string> devices = file["processors"];
  ClassicInstance instance;
  instance.graph.queues.assign(devices.size(), 1);
  instance.graph.communication = communication(file, devices.size());
  std::map<std::string, TaskId> taskOf;
  for (const std::string& id : topological(file)) {
    TaskRow task;
    for (const std::string& device : devices) {
      const Json& seconds = taskNamed(file, id)["dur"];
      const bool allowed = seconds.contains(device) && !seconds[device].is_null();
      task.seconds.push_back(allowed ? seconds[device].get<double>() : never);
    }
    taskOf[id] = instance.graph.tasks.add(std::move(task));
    instance.idOfTask.push_back(std::stoi(id));
  }
  for (const Json& edge : file["edges"]) {
    instance.graph.addEdge(taskOf.at(text(edge["src"])), taskOf.at(text(edge["dst"])),
                           edge["data"].get<double>());
  }
  const Json& expected = file["expected"];
  instance.heftLength = expected["computed"]["HEFT"];
  instance.optimal = expected["optimal"];
  instance.rank.resize(instance.graph.tasks.size());
  instance.heft.resize(instance.graph.tasks.size());
  for (size_t i = 0; i < file["tasks"].size(); ++i) {
    instance.rank[taskOf.at(text(file["tasks"][i]["id"])).index()] = expected["rank_u"][i];
  }
  for (const Json& row : expected["heft_schedule"]) {
    const auto device =
        std::find(devices.begin(), devices.end(), row["proc"].get<std::string>()) - devices.begin();
    instance.heft[taskOf.at(text(row["task"])).index()] = {static_cast<uint32_t>(device), row["start"],
                                                           row["end"]};
  }
  return instance;
}

namespace {

/// Turns a contention file and a placement into list tasks: computations, and a transfer for each item and
/// hop.
class ContentionReader {
 public:
  explicit ContentionReader(const Json& file) : file_(file) {
    for (const Json& device : file["machine"]["devices"]) {
      deviceIndex_[device["id"]] = static_cast<uint32_t>(instance_.problem.groupQueues.size());
      instance_.problem.groupQueues.push_back(device.value("slots", 1U));
    }
    for (const Json& link : file["machine"]["links"]) {
      linkIndex_[link["id"]] = static_cast<uint32_t>(instance_.problem.linkSlots.size());
      instance_.problem.linkSlots.push_back(link.value("slots", 1U));
    }
    instance_.optimal = file["expected"]["optimal"];
    for (const Json& row : file["expected"]["optimal_schedule"]) {
      if (row[0] == "task") {
        placed_[text(row[1])] = row[2];
      }
    }
  }

  ContentionInstance read() {
    for (const std::string& id : topological(file_)) {
      addTask(id);
    }
    return std::move(instance_);
  }

 private:
  void addTask(const std::string& id) {
    ListTask task;
    const std::string device = placed_.at(id);
    task.group = deviceIndex_.at(device);
    task.seconds = seconds(taskNamed(file_, id), device);
    for (const Json& edge : file_["edges"]) {
      if (text(edge["dst"]) == id) {
        task.before.push_back(itemOn(edge, device));
      }
    }
    std::sort(task.before.begin(), task.before.end());
    task.before.erase(std::unique(task.before.begin(), task.before.end()), task.before.end());
    taskIndex_[id] = add(std::move(task));
  }

  double seconds(const Json& task, const std::string& device) const {
    const Json& dur = task["dur"];
    if (dur.is_array()) {
      return dur[deviceIndex_.at(device)];
    }
    if (dur.contains(device)) {
      return dur[device];
    }
    for (const Json& row : file_["machine"]["devices"]) {
      if (row["id"] == device) {
        return dur.at(row["class"].get<std::string>());
      }
    }
    throw std::runtime_error("no duration");
  }

  uint32_t itemOn(const Json& edge, const std::string& device) {
    const std::string source = text(edge["src"]);
    std::string at = placed_.at(source);
    uint32_t last = taskIndex_.at(source);
    const std::string item = source + (edge.contains("tensor") ? "/t" + edge["tensor"].get<std::string>()
                                                               : "/e" + text(edge["dst"]));
    while (at != device) {
      const Json& route = routeTowards(at, device);
      const std::string key = item + "@" + route["to"].get<std::string>();
      if (copies_.count(key) == 0) {
        copies_[key] = addCopy(route, edge["bytes"], last);
      }
      last = copies_.at(key);
      at = route["to"];
    }
    return last;
  }

  // Direct, else through the one device that has both routes (the instances stage at most once).
  const Json& routeTowards(const std::string& from, const std::string& to) const {
    const Json* firstHop = nullptr;
    for (const Json& route : file_["machine"]["routes"]) {
      if (route["from"] == from && route["to"] == to) {
        return route;
      }
      for (const Json& second : file_["machine"]["routes"]) {
        if (route["from"] == from && second["from"] == route["to"] && second["to"] == to) {
          firstHop = &route;
        }
      }
    }
    if (firstHop == nullptr) {
      throw std::runtime_error("no route");
    }
    return *firstHop;
  }

  uint32_t addCopy(const Json& route, double bytes, uint32_t after) {
    ListTask copy;
    double bandwidth = never;
    for (const Json& id : route["links"]) {
      const uint32_t link = linkIndex_.at(id);
      const Json& row = file_["machine"]["links"][link];
      copy.links.push_back(link);
      copy.seconds += row["latency"].get<double>();
      bandwidth = std::min(bandwidth, row["bandwidth"].get<double>());
    }
    copy.seconds += bytes / bandwidth;
    copy.group =
        static_cast<uint32_t>(instance_.problem.groupQueues.size()); // links alone limit these instances
    instance_.problem.groupQueues.push_back(1);
    copy.before.push_back(after);
    return add(std::move(copy));
  }

  uint32_t add(ListTask task) {
    instance_.problem.tasks.push_back(std::move(task));
    return static_cast<uint32_t>(instance_.problem.tasks.size() - 1);
  }

  const Json& file_;
  ContentionInstance instance_;
  std::map<std::string, uint32_t> deviceIndex_, linkIndex_, taskIndex_, copies_;
  std::map<std::string, std::string> placed_;
};

} // namespace

ContentionInstance readContention(const std::filesystem::path& path) {
  const Json file = readJson(path);
  return ContentionReader(file).read();
}

std::vector<std::filesystem::path> instanceFiles(const std::filesystem::path& folder,
                                                 const std::string& prefix) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind(prefix, 0) == 0 && entry.path().extension() == ".json") {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace dfc::test
