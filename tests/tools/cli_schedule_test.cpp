// `dfc schedule`: task files in, schedules out, which the reference scorer accepts where it is there.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"
#include "tools/bench/graphs/task_families.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;

namespace {

const std::string tasksFile = dfc::shippedFile("samples/04_graph_file/tasks.json").string();
constexpr const char* policies[] = {"auto", "heft", "peft", "clusters", "single"};

std::string scorer() {
  const auto path = dfc::shippedFile("shared/check/score_schedule.py");
  const bool there = std::filesystem::exists(path) && std::system("python3 -c '' >/dev/null 2>&1") == 0;
  return there ? path.string() : "";
}

/// What the scorer says of a schedule; null where it is no schedule.
nlohmann::json scored(const Workshop& shop, const std::string& tasks, const std::string& machine,
                      const std::string& schedule) {
  const std::string command = "cd '" + shop.path().string() + "' && python3 '" + scorer() + "' '" + tasks +
                              "' '" + machine + "' '" + schedule + "' --json >score 2>&1";
  INFO(command);
  const int status = std::system(command.c_str());
  INFO(readText(shop.file("score")));
  CHECK(status == 0);
  return status == 0 ? nlohmann::json::parse(readText(shop.file("score"))) : nlohmann::json();
}

} // namespace

TEST_CASE("dfc schedule: makespan, bound and winner on stdout, the schedule in the file") {
  const Workshop shop;
  const Outcome outcome =
      shop.dfc({"schedule", tasksFile, "-m", "cpu-2gpu", "--policy=heft", "-o", "schedule.json"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, startingWith("7 tasks on 3 devices, policy heft: heft\nmakespan "));
  CHECK_THAT(outcome.out, containing("\nlower bound "));
  const auto schedule = nlohmann::json::parse(readText(shop.file("schedule.json")));
  CHECK(schedule["tasks"].size() == 7);
  CHECK(schedule["policy"] == "heft");
  CHECK(schedule["lowerBound"] <= schedule["makespan"]);
}

TEST_CASE("dfc schedule: without -o the schedule goes to stdout, and --json has both") {
  const Workshop shop;
  const Outcome text = shop.dfc({"schedule", tasksFile, "-m", "cpu-2gpu", "--policy=single"});
  REQUIRE(text.status == 0);
  CHECK(nlohmann::json::parse(text.out)["tasks"].size() == 7);
  const Outcome json =
      shop.dfc({"schedule", tasksFile, "-m", "cpu-2gpu", "--policy=exact", "--plan-time=60", "--json"});
  REQUIRE(json.status == 0);
  const auto object = nlohmann::json::parse(json.out);
  CHECK(object["optimal"] == true);
  CHECK(object["makespan"] == object["lowerBound"]);
  CHECK(object["schedule"]["tasks"].size() == 7);
}

TEST_CASE("dfc schedule: the reference scorer accepts every schedule of every policy") {
  if (scorer().empty()) {
    DFC_SKIP("there is no python3, or shared/check is absent");
  }
  const Workshop shop;
  shop.write("ideal.json", dfc::bench::taskMachineText("ideal"));
  shop.write("switch.json", dfc::bench::taskMachineText("switch"));
  bool ideal = false; // in turn, so that every policy and every family meets both machines
  for (const std::string_view family : dfc::bench::taskFamilies()) {
    const std::string tasks = std::string(family) + ".json";
    for (const std::string policy : policies) {
      ideal = !ideal;
      const std::string machine = ideal ? "ideal" : "switch";
      shop.write(tasks, dfc::bench::taskFamilyText({family, machine, 25, 1, 4}));
      INFO(family << " on " << machine << " by " << policy);
      const Outcome outcome = shop.dfc({"schedule", tasks, "-m", machine + ".json", "--policy=" + policy,
                                        "--steps", "100", "-o", "schedule.out.json", "--json"});
      REQUIRE(outcome.status == 0);
      const auto said = nlohmann::json::parse(outcome.out);
      const auto score = scored(shop, tasks, machine + ".json", "schedule.out.json");
      CHECK(score["feasible"] == true);
      CHECK(score["makespan"].get<double>() == Approx(said["makespan"].get<double>()));
    }
  }
}

TEST_CASE("dfc schedule: the reference scorer accepts schedules for machines in the task file") {
  if (scorer().empty()) {
    DFC_SKIP("there is no python3, or shared/check is absent");
  }
  const Workshop shop;
  for (const std::string name : {"contention_staged", "contention_p2p", "contention_tensor_once",
                                 "contention_gather_trap", "contention_shared_switch"}) {
    INFO(name);
    const std::string file = dfc::shippedFile("tests/compiler/instances/" + name + ".json").string();
    const double optimal = nlohmann::json::parse(readText(file))["expected"]["optimal"];
    REQUIRE(shop.dfc({"schedule", file, "--policy=exact", "-o", "s.json"}).status == 0);
    CHECK(scored(shop, file, "-", "s.json")["makespan"] == Approx(optimal));
  }
}

TEST_CASE("dfc schedule: bad input ends with status 1, the place and the way out, and writes nothing") {
  const Workshop shop;
  shop.write("bad.json", R"({"tasks": [{"id": "a", "dur": {"gpu7": 1}}], "edges": []})");
  const Outcome bad = shop.dfc({"schedule", "bad.json", "-m", "cpu-2gpu", "-o", "out.json"});
  CHECK(bad.status == 1);
  CHECK_THAT(bad.err,
             startingWith("bad.json:1:32: error: tasks[0].dur.gpu7: no device or class is called 'gpu7'"));
  CHECK_THAT(bad.err, containing("hint: did you mean \"gpu0\"?"));
  CHECK(!std::filesystem::exists(shop.file("out.json")));
  const Outcome absent = shop.dfc({"schedule", "none.json", "-m", "cpu-2gpu"});
  CHECK(absent.status == 1);
  CHECK_THAT(absent.err, containing("none.json"));
  const Outcome policy = shop.dfc({"schedule", tasksFile, "-m", "cpu-2gpu", "--policy=hefd"});
  CHECK(policy.status == 1);
  CHECK(policy.err == "error: there is no policy 'hefd' for tasks\n  hint: did you mean 'heft'?\n");
  const Outcome time = shop.dfc({"schedule", tasksFile, "-m", "cpu-2gpu", "--plan-time=-1"});
  CHECK(time.status == 1);
  CHECK_THAT(time.err, containing("--plan-time must be 0 or more seconds"));
  const Outcome machine = shop.dfc({"schedule", tasksFile});
  CHECK(machine.status == 1);
  CHECK_THAT(machine.err, containing("name a machine file: -m MACHINE.json"));
}

TEST_CASE("dfc schedule: a route that is missing is an error, not a schedule") {
  const Workshop shop;
  shop.write("m.json", R"({"devices": [{"id": "a"}, {"id": "b"}]})");
  shop.write("t.json", R"({"tasks": [{"id": 1, "dur": [1, null]}, {"id": 2, "dur": [null, 1]}],
                           "edges": [{"src": 1, "dst": 2, "bytes": 1}]})");
  for (const std::string policy : policies) {
    const Outcome outcome = shop.dfc({"schedule", "t.json", "-m", "m.json", "--policy=" + policy});
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, startingWith("t.json: error: no schedule has a route for every copy"));
  }
}
