// `dfc explain`: the parts of the text, the seconds of the plan, which devices are used, wrong words.
#include "tests/tools/explain/explain_workshop.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;

TEST_CASE("dfc explain: the text has every part, and --quick leaves out what is planned again") {
  const Outcome all = runDfc({"explain", mlp, "-m", "cpu-2gpu", "--policy", "split"});
  INFO(all.err);
  REQUIRE(all.status == 0);
  CHECK_THAT(all.out, startingWith("mlp for cpu-2gpu\nsplit over 2 devices; "));
  for (const char* part :
       {"one device alone ", ", efficiency ", "\nops of the graph, by share", "\nparameters, and",
        "\ncopies of a step by itself, by kind\n", "\nconsidered, ", ": chosen\n", ": slower by ",
        "\nwith another machine\n", "one more device like gpu1", "twice as fast", "twice their memory"}) {
    CHECK_THAT(all.out, containing(part));
  }
  const Outcome quick = runDfc({"explain", mlp, "-m", "cpu-2gpu", "--policy", "split", "--quick"});
  CHECK(quick.status == 0);
  CHECK(quick.out.find("with another machine") == std::string::npos);
  CHECK(quick.out.find("one device alone") == std::string::npos);
}

TEST_CASE("dfc explain: the seconds are those of the plan") {
  const Json said = explained({mlp, "-m", "cpu-2gpu", "--policy", "split"});
  CHECK(said["split"] == true);
  const Outcome compiled = runDfc({"compile", mlp, "-m", "cpu-2gpu", "--policy", "split", "--json"});
  CHECK(said["predictedSeconds"] == Json::parse(compiled.out)["predictedSeconds"]);
  CHECK(said["lowerBoundSeconds"] <= said["predictedSeconds"]);
  for (const Json& row : said["changes"]) { // the present plan runs on every better machine
    CHECK(row["predictedSeconds"].get<double>() <= said["predictedSeconds"].get<double>());
  }
  // Two alike devices: the ideal is half of one device's seconds.
  CHECK(said["idealSeconds"].get<double>() == Approx(said["oneDeviceSeconds"].get<double>() / 2));
  const Json& considered = said["considered"];
  CHECK(considered.size() >= 2);
  CHECK(considered[0]["chosen"] == true);
  CHECK(std::count_if(considered.begin(), considered.end(),
                      [](const Json& row) { return row["chosen"] == true; }) == 1);
}

TEST_CASE("dfc explain: devices that are used are told from those that the machine has and the policy took") {
  const std::string text = textOf({mlp, "-m", "cpu-8gpu-nvlink", "--quick"});
  const Json said = explained({mlp, "-m", "cpu-8gpu-nvlink", "--quick"});
  CHECK(said["machineDevices"] == 9);
  REQUIRE(said["devices"].size() < 9);
  CHECK_THAT(text, containing("\nuses " + std::to_string(said["devices"].size()) + " of the 9 devices:\n"));
  const Json chosen = said["considered"][0];
  REQUIRE(chosen["kind"] == "whole ops");
  CHECK_THAT(chosen["description"].get<std::string>(), startingWith("whole ops on cpu0, gpu0"));
}

TEST_CASE("dfc explain: a graph without bytes, and one without work") {
  const Workshop shop;
  const std::string zero = shop.write("zero.dfg", "graph zero {\n  input x : f32[0, 4]\n"
                                                  "  y = relu(x)\n  fetch y\n}\n");
  const Json said = explained({zero, "-m", "cpu-2gpu"});
  REQUIRE(said["devices"].size() == 1);
  CHECK(said["devices"][0]["name"] == "cpu0");
  CHECK(said["devices"][0]["memoryBytes"] == 0);
  const std::string none = shop.write("none.dfg", "graph none {\n  input x : f32[4]\n  fetch x\n}\n");
  CHECK(explained({none, "-m", "cpu-2gpu"})["changes"].empty());
}

TEST_CASE("dfc explain: a graph that nothing can be split of says so") {
  const Workshop shop;
  const std::string pinned = shop.write("pinned.dfg", "graph pinned {\n  input x : f32[8]\n"
                                                      "  y = relu(x) on gpu1\n  fetch y\n}\n");
  const Outcome one = runDfc({"explain", pinned, "-m", "cpu-2gpu", "--quick"});
  CHECK(one.status == 0);
  CHECK_THAT(one.out, containing("no split was tried: "));
  const Outcome fixed = runDfc({"explain", mlp, "-m", "cpu-2gpu", "--policy", "heft", "--quick"});
  CHECK(fixed.status == 0);
  CHECK(fixed.out.find("considered") == std::string::npos);
}

TEST_CASE(
    "dfc explain, dfc compile: a machine of one device leaves nothing to choose, and nothing is said of it") {
  const Outcome one = runDfc({"explain", mlp, "-m", "cpu"});
  REQUIRE(one.status == 0);
  CHECK_THAT(one.out, startingWith("mlp for cpu\nall ops on cpu0, the machine's one device: "));
  CHECK_THAT(one.out, containing(" between steps\nstep ") && containing(" x f32[784, 256]: w1"));
  for (const char* part : {"split", "1 of the 1", "one device alone", "lower bound", "considered",
                           "another machine", "in any order"}) {
    INFO(part << " in " << one.out);
    CHECK(one.out.find(part) == std::string::npos);
  }
  const std::string plan = runDfc({"compile", mlp, "-m", "cpu"}).out;
  CHECK_THAT(plan,
             containing("26 ops of the plan (24 computations, 2 inputs), placement: cpu0 alone\npredicted "));
  CHECK(plan.find("lower bound") == std::string::npos);
  // Sums of the same seconds in two orders: not above the step, either.
  const Json said = explained({mlp, "-m", "cpu", "--quick"});
  CHECK(said["lowerBoundSeconds"].get<double>() <= said["predictedSeconds"].get<double>());
}

TEST_CASE("dfc explain: bad words end with status 1 and the way out") {
  const Outcome policy = runDfc({"explain", mlp, "-m", "cpu-2gpu", "--policy", "splitt"});
  CHECK(policy.status == 1);
  CHECK_THAT(policy.err, containing("did you mean 'split'?"));
  CHECK_THAT(runDfc({"explain", "--help"}).out, containing("(default auto): ") && containing("split"));
  CHECK_THAT(runDfc({"explain", "--help"}).out, containing("  --depth N ") && containing("(default 2)"));
  CHECK_THAT(runDfc({"explain", mlp, "--depth", "many"}).err,
             startingWith("error: --depth: 'many' is not a whole number from 1 to 100\n"));
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", mlp, "-m", "cpu", "-o", "a.plan"}).status == 0);
  CHECK_THAT(shop.dfc({"explain", "a.plan", "-m", "cpu"}).err,
             containing("dfc compile and dfc explain take a graph file (.dfg)"));
  CHECK(runDfc({"explain"}).status == 1);
  CHECK(runDfc({"explain", "none.dfg", "-m", "cpu-2gpu"}).status == 1);
  CHECK(runDfc({"explain", mlp, "-m", "cpu-2gpu", "--depth", "0"}).status == 1);
}
