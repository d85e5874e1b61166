// TaskMachine: devices, links and routes as a task file needs them. Any classes of device, and no host: the
// form that shared/check/score_schedule.py documents, which machine files of dfc extend.
#pragma once

#include "compiler/tasks/task_graph.h"
#include "ir/base/json/json_document.h"

#include <string>

namespace dfc {

struct TaskMachine {
  struct Device {
    std::string name, kind; ///< kind: the "class", of which durations may be given; its name where left out
    uint32_t queues = 1;
    double bytes = std::numeric_limits<double>::infinity(); ///< capacity
  };
  struct Link {
    std::string name;
    LinkCost cost;
    uint32_t slots = 1; ///< 0: any number of copies at once
  };
  struct Route {
    uint32_t from = 0, to = 0;
    std::vector<uint32_t> links;
  };
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<Route> routes;
  bool implicitCopies = false; ///< no link is contended, and schedules list no copies
  bool hasDefault = false;     ///< devices without a route are joined by `defaultCost`
  LinkCost defaultCost;
};

/// Reads a machine at `path` of the document ("" for the whole, or "machine"). Errors go to the document.
TaskMachine taskMachineFrom(JsonDocument& document, const std::string& path);
/// The machine of a textbook file: "processors" by name, and "comm" with matrices of latency and bandwidth.
TaskMachine textbookMachineFrom(JsonDocument& document);

/// Gives a graph the devices, routes and paths of the machine. `bytes`: the size for which paths over several
/// routes are chosen; a direct route goes first.
void addMachine(TaskGraph& graph, const TaskMachine& machine, double bytes);

} // namespace dfc
