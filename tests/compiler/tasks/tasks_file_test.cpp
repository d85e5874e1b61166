// Task files: what they may say, and what is said of a bad one: the place, the JSON path, the way out.
#include "compiler/tasks/file/tasks_file.h"
#include "compiler/tasks/plan_tasks.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace dfc::test {
namespace {

TaskMachine machineOfTwo() {
  return *parseTaskMachine(
      R"({"devices": [{"id": "c0", "class": "cpu", "slots": 2}, {"id": "g0", "class": "gpu"}],
    "links": [{"id": "down", "latency": 1, "bandwidth": 4}, {"id": "up", "latency": 1, "bandwidth": 4}],
    "routes": [{"from": "c0", "to": "g0", "links": ["down"]}, {"from": "g0", "to": "c0", "links": ["up"]}]})",
      "machine.json");
}

TaskProblem parsedTasks(const std::string& text) {
  auto problem = parseTasks(text, "tasks.json", machineOfTwo());
  INFO((problem.ok() ? "" : render(problem.errors())));
  REQUIRE(problem.ok());
  return *std::move(problem);
}

std::string tasksError(const std::string& text) {
  const auto problem = parseTasks(text, "tasks.json", machineOfTwo());
  return problem.ok() ? "" : render(problem.errors());
}

/// A file with these tasks and edges.
std::string rows(const std::string& tasks, const std::string& edges = "") {
  return "{\"tasks\": [" + tasks + "],\n \"edges\": [" + edges + "]}";
}

const std::string twoTasks = R"({"id": "a", "dur": {"cpu": 1}}, {"id": "b", "dur": {"gpu": 2}})";

std::string machineError(const std::string& text) {
  const auto machine = parseTaskMachine(text, "machine.json");
  return machine.ok() ? "" : render(machine.errors());
}

} // namespace

TEST_CASE("task files: durations by device go before those of the class, pins leave one device") {
  const TaskProblem problem = parsedTasks(rows(
      R"({"id": "a", "dur": {"cpu": 1, "c0": 3, "gpu": 2}}, {"id": 7, "dur": [4, null]},
         {"id": "7", "dur": {"cpu": 1, "gpu": 2}, "pin": "g0"}, {"id": "d", "dur": {"cpu": 1, "c0": null, "gpu": 5}})"));
  const auto seconds = [&](uint32_t task) { return problem.graph.tasks[TaskId(task)].seconds; };
  CHECK(seconds(0) == llvm::SmallVector<double, 4>{3, 2});
  CHECK(seconds(1) == llvm::SmallVector<double, 4>{4, infiniteSeconds});
  CHECK(seconds(2) == llvm::SmallVector<double, 4>{infiniteSeconds, 2});
  CHECK(seconds(3) == llvm::SmallVector<double, 4>{infiniteSeconds, 5});
  CHECK(problem.tasks == std::vector<std::string>{"\"a\"", "7", "\"7\"", "\"d\""});
  CHECK(problem.graph.queues[0] == 2);
}

TEST_CASE("task files: edges of one tensor are one item; tasks may come in any order") {
  const TaskProblem problem = parsedTasks(
      R"({"edges": [{"src": "a", "dst": "b", "bytes": 6, "tensor": "t"}, {"src": "a", "dst": "c", "bytes": 6, "tensor": "t"},
                    {"src": "a", "dst": "b", "bytes": 1}, {"src": "a", "dst": "b", "bytes": 2}, {"src": "b", "dst": "c", "bytes": 0}],
          "tasks": [{"id": "c", "dur": [1, 1]}, {"id": "b", "dur": [1, 1]}, {"id": "a", "dur": [1, 1]}]})");
  const TaskGraph& graph = problem.graph;
  CHECK(problem.tasks == std::vector<std::string>{"\"a\"", "\"b\"", "\"c\""});
  REQUIRE(graph.items.size() == 3); // t of a, the edge a to b, the edge b to c
  CHECK(graph.items[ItemId(0)].bytes == 6);
  CHECK(graph.items[ItemId(1)].bytes == 2);
  CHECK(problem.items[ItemId(0)] == "\"tensor\":\"t\"");
  CHECK(problem.items[ItemId(1)] == "\"dst\":\"b\"");
  CHECK(graph.tasks[TaskId(0)].successors.size() == 3);
}

TEST_CASE("task files: a schedule is printed with the ids, devices and items of the file") {
  const TaskProblem problem =
      parsedTasks(rows(R"({"id": "\"q", "dur": {"cpu": 1}}, {"id": 2, "dur": {"gpu": 0.5}})",
                       R"({"src": "\"q", "dst": 2, "bytes": 8})"));
  TaskSchedule schedule;
  schedule.tasks = SideTable<TaskId, TaskPlacement>(2);
  schedule.tasks[TaskId(0)] = {0, 0, 1};
  schedule.tasks[TaskId(1)] = {1, 4, 4.5};
  schedule.transfers.push_back({ItemId(0), 0, 1, 4}); // 1 + 8 / 4
  schedule.makespan = 4.5;
  const auto json = nlohmann::json::parse(printTaskSchedule(problem, schedule, {4.5, "heft"}));
  CHECK(json["makespan"] == 4.5);
  CHECK(json["policy"] == "heft");
  CHECK(json["tasks"][0] == nlohmann::json({{"id", "\"q"}, {"device", "c0"}, {"start", 0.0}, {"end", 1.0}}));
  CHECK(json["transfers"][0] ==
        nlohmann::json(
            {{"src", "\"q"}, {"dst", 2}, {"from", "c0"}, {"to", "g0"}, {"start", 1.0}, {"end", 4.0}}));
}

TEST_CASE("task files: a mistake is told by line, column and path, with the way out") {
  CHECK(tasksError("{\"tasks\": [{\"id\": \"a\", \"dur\": {\"cpu\": -1}}],\n \"edges\": []}") ==
        "tasks.json:1:39: error: tasks[0].dur.cpu: -1 is negative\n"
        "  {\"tasks\": [{\"id\": \"a\", \"dur\": {\"cpu\": -1}}],\n"
        "                                        ^~\n"
        "  hint: write 0 or more seconds, or null where the task cannot run\n");
}

TEST_CASE("task files: each mistake has its words") {
  const std::pair<std::string, std::string> cases[] = {
      {"", "the file is empty"},
      {"[1]", "an array where an object with \"tasks\" and \"edges\" belongs"},
      {"3", "number where an object with \"tasks\" and \"edges\" belongs"},
      {"{}", "\"tasks\" is missing"},
      {R"({"tasks": [], "edges": [], "taks": 1})", "taks: no such key"},
      {R"({"tasks": 1, "edges": []})", "tasks: number where an array belongs"},
      {R"({"tasks": {}, "edges": []})", "tasks: an object where an array belongs"},
      {rows("1"), "tasks[0]: number where an object belongs"},
      {rows(R"([], {"id": "a"})"), "tasks[0]: an array where an object belongs"},
      {rows(R"({"id": "a", "dur": {"cpu": 1}, "pins": "c0"})"), "tasks[0].pins: no such key"},
      {rows(R"({"id": "a"})"), "tasks[0]: \"dur\" is missing"},
      {rows(R"({"dur": [1, 1]})"), "tasks[0]: \"id\" is missing"},
      {rows(R"({"id": 1.5, "dur": [1, 1]})"), "tasks[0].id: number where a text or a whole number belongs"},
      {rows(R"({"id": "a", "id": "b", "dur": [1, 1]})"), "the name is there already"},
      {rows(R"({"id": "a", "dur": {"cpu": 1, "cpu": 2}})"), "the name is there already"},
      {R"({"tasks": [], "edges": [], "tasks": []})", "the name is there already"},
      {R"({"tasks": [], "edges": [})", "unexpected '}'"},
      {R"({"tasks": [], "edges": [] "name": 1})", "is a comma missing before it?"},
      {rows(R"({"id": "a", "dur": [1, 1]}, {"id": "a", "dur": [1, 1]})"),
       "tasks[1].id: tasks[0] has this id already"},
      {rows(R"({"id": "a", "dur": [1]})"), "tasks[0].dur: 1 durations for 2 devices"},
      {rows(R"({"id": "a", "dur": [1, "x"]})"), "tasks[0].dur[1]: string where a number or null belongs"},
      {rows(R"({"id": "a", "dur": {"cpu": true}})"),
       "tasks[0].dur.cpu: boolean where a number or null belongs"},
      {rows(R"({"id": "a", "dur": {"cpu": [1]}})"),
       "tasks[0].dur.cpu: an array where a number or null belongs"},
      {rows(R"({"id": "a", "dur": 1})"),
       "tasks[0].dur: number where an array or an object of numbers belongs"},
      {rows(R"({"id": "a", "dur": {"g1": 1}})"), "tasks[0].dur.g1: no device or class is called 'g1'"},
      {rows(R"({"id": "a", "dur": {"cpu": 1e31}})"), "tasks[0].dur.cpu: 1e+31 is larger than 1e30"},
      {rows(R"({"id": "a", "dur": {"cpu": 1e999}})"), "the number is too large"},
      {rows(R"({"id": "a", "dur": {"cpu": NaN}})"), "hint: JSON has no NaN"},
      {rows(R"({"id": "a", "dur": {}})"), "tasks[0].dur: the task can run nowhere"},
      {rows(R"({"id": "a", "dur": [null, null]})"), "tasks[0].dur: the task can run nowhere"},
      {rows(R"({"id": "a", "dur": {"cpu": 1}, "pin": "g0"})"), "tasks[0].pin: the task can run nowhere"},
      {rows(R"({"id": "a", "dur": {"cpu": 1}, "pin": "g7"})"), "tasks[0].pin: no device is called 'g7'"},
      {rows(R"({"id": "a", "dur": {"cpu": 1}, "pin": 1})"),
       "tasks[0].pin: number where a device's name belongs"},
      {rows(twoTasks, R"({"src": "a", "dst": "z", "bytes": 1})"), "edges[0].dst: no task has the id \"z\""},
      {rows(twoTasks, R"({"src": "a", "dst": "b"})"), "edges[0]: \"bytes\" is missing"},
      {rows(twoTasks, R"({"src": "a", "bytes": 1})"), "edges[0]: \"dst\" is missing"},
      {rows(twoTasks, R"({"src": "a", "dst": "b", "bytes": -3})"), "edges[0].bytes: -3 is negative"},
      {rows(twoTasks, R"({"src": "a", "dst": "b", "bytes": "3"})"),
       "edges[0].bytes: string where a number belongs"},
      {rows(twoTasks, R"({"src": "a", "dst": "b", "bytes": 3, "tensor": 1})"),
       "edges[0].tensor: number where a text belongs"},
      {rows(twoTasks, R"({"src": "a", "dst": "b", "bytes": 3, "tensor": "t"},
                         {"src": "a", "dst": "b", "bytes": 4, "tensor": "t"})"),
       "edges[1].bytes: tensor \"t\" has 4 bytes here and 3 in edges[0] of the same task"},
      {rows(twoTasks, R"({"src": "a", "dst": "b", "bytes": 3, "byte": 1})"), "edges[0].byte: no such key"},
      {rows(twoTasks, R"({"src": "a", "dst": "a", "bytes": 3})"),
       "edges[0]: tasks wait for one another: \"a\" -> \"a\""},
      {rows(twoTasks, R"({"src": "a", "dst": "b", "bytes": 3}, {"src": "b", "dst": "a", "bytes": 3})"),
       "tasks wait for one another: \"a\" -> \"b\" -> \"a\""},
  };
  for (const auto& [text, message] : cases) {
    INFO(text);
    const std::string error = tasksError(text);
    CHECK_THAT(error, startingWith("tasks.json"));
    CHECK_THAT(error, containing(message));
  }
}

TEST_CASE("task files: mistakes are told all at once, but a cycle of many tasks in short") {
  const std::string error =
      tasksError(rows(R"({"id": "a", "dur": {"x": 1}}, {"id": "b", "dur": {"cpu": -1}, "y": 2})"));
  CHECK_THAT(error, containing("tasks[0].dur.x"));
  CHECK_THAT(error, containing("tasks[1].dur.cpu"));
  CHECK_THAT(error, containing("tasks[1].y"));
  std::string tasks, edges;
  for (int i = 0; i < 100; ++i) {
    tasks += std::string(i == 0 ? "" : ",") + R"({"id": )" + std::to_string(i) + R"(, "dur": [1, 1]})";
    edges += std::string(i == 0 ? "" : ",") + R"({"src": )" + std::to_string(i) + R"(, "dst": )" +
             std::to_string((i + 1) % 100) + R"(, "bytes": 1})";
  }
  const std::string cycle = tasksError(rows(tasks, edges));
  CHECK_THAT(cycle, containing(" -> ... -> "));
  CHECK(cycle.find("tasks wait for one another: 0 -> ") != std::string::npos);
}

TEST_CASE("task files: no task at all is a plan of no length") {
  const TaskProblem problem = parsedTasks(rows(""));
  CHECK(problem.graph.tasks.empty());
  const auto plan = planTasks(problem.graph, {});
  REQUIRE(plan.ok());
  TaskPlanOptions options;
  options.policy = "hefd";
  CHECK_FALSE(planTasks(problem.graph, options).ok());
  CHECK(plan->schedule.makespan == 0);
  CHECK(nlohmann::json::parse(printTaskSchedule(problem, plan->schedule, {}))["tasks"].empty());
}

TEST_CASE("task files: without a machine file the task file needs a machine of its own") {
  const auto none = parseTasks(rows(twoTasks), "tasks.json", std::nullopt);
  REQUIRE(!none.ok());
  CHECK(render(none.errors()) == "tasks.json: error: the task file has no machine of its own\n"
                                 "  hint: name a machine file: -m MACHINE.json\n");
  const auto own =
      parseTasks(R"({"machine": {"devices": [{"id": "P", "slots": 0}]}, "tasks": [], "edges": []})",
                 "tasks.json", std::nullopt);
  REQUIRE(!own.ok());
  CHECK_THAT(render(own.errors()), containing("machine.devices[0].slots: a device runs 1 to"));
}

TEST_CASE("machines of tasks: each mistake has its words") {
  const std::string start = R"({"devices": [{"id": "a"}, {"id": "b"}], )";
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "array where a machine"},
      {"{}", "\"devices\" is missing"},
      {R"({"devices": []})", "0 devices where 1 to"},
      {R"({"devices": [{"id": "a"}, {"id": "a"}]})", "devices[1].id: a device is called 'a' already"},
      {R"({"devices": [{"id": "a", "mem": -1}]})", "devices[0].mem: a number above 0 belongs here"},
      {R"({"devices": [{"id": 1}]})", "devices[0].id: number where a text belongs"},
      {R"({"devices": [{"id": "a", "speed": 1}]})", "devices[0].speed: no such key"},
      {start + R"("links": [{"id": "l", "latency": -1}]})",
       "links[0].latency: a latency is 0 or more seconds"},
      {start + R"("links": [{"id": "l", "bandwidth": 0}]})",
       "links[0].bandwidth: a bandwidth is 1e-30 bytes a second or more"},
      {start + R"("links": [{"id": "l"}], "routes": [{"from": "a", "to": "b", "links": ["l", "l"]}]})",
       "routes[0].links[1]: link 'l' is in the route already"},
      {start + R"("routes": [{"from": "a", "to": "c", "links": []}]})",
       "routes[0].to: no device is called 'c'"},
      {start + R"("routes": [{"from": "a", "to": "b", "links": ["l"]}]})",
       "routes[0].links[0]: no link is called 'l'"},
      {start + R"("routes": [{"from": "a", "to": "a", "links": []}]})",
       "routes[0]: a route from a device to itself"},
      {start + R"("implicit_comm": 1})", "implicit_comm: number where true or false belongs"},
      {start + R"("default_comm": {"latency": 1, "speed": 2}})", "default_comm.speed: no such key"},
  };
  for (const auto& [text, message] : cases) {
    INFO(text);
    CHECK_THAT(machineError(text), containing(message));
  }
}

TEST_CASE("machines of tasks: each entry of a matrix is checked") {
  const auto error = [](const std::string& latency, const std::string& bandwidth) {
    const auto problem =
        parseTasks(R"({"processors": ["a", "b"], "tasks": [{"id": 1, "dur": [1, 1]}],
        "edges": [], "comm": {"latency": [[0, )" +
                       latency + R"(], [0, 0]], "bandwidth": [[0, 1], [)" + bandwidth + R"(, 0]]}})",
                   "tasks.json", std::nullopt);
    return problem.ok() ? "" : render(problem.errors());
  };
  CHECK(error("0", "1") == "");
  CHECK_THAT(error("-1", "1"), containing("comm.latency[0][1]: a latency is 0 or more seconds"));
  CHECK_THAT(error("0", "0"),
             containing("comm.bandwidth[1][0]: a bandwidth is 1e-30 bytes a second or more"));
}

TEST_CASE("machines of tasks: the shipped machine files are read") {
  for (const auto& entry : std::filesystem::directory_iterator(shippedFile("samples/machines"))) {
    if (entry.path().extension() == ".json") {
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      CHECK(machineError(text) == "");
    }
  }
}

} // namespace dfc::test
