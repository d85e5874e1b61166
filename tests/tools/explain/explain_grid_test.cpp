// `dfc explain` where one device of each stage is simulated: on very many devices, and of a grid that is
// asked for.
#include "tests/tools/explain/explain_workshop.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;

TEST_CASE("dfc explain of a thousand devices says the grid; dfc compile plans for fewer") {
  const Workshop shop;
  const std::string machine = shop.write("pod.json", machineOf(1024));
  const std::string text = textOf({mlp, "-m", machine});
  CHECK(text.find("over 1024 devices, of which one a stage was simulated") != std::string::npos);
  CHECK(text.find("one device of each stage stands for the others") != std::string::npos);
  const Json said = explained({mlp, "-m", machine});
  CHECK(text.find("feeds not prefetched; no plan is made\n") != std::string::npos);
  CHECK(said["simulatedDevices"] == 1024);
  CHECK(said["plannedSeconds"].is_null());
  CHECK(said["predictedSeconds"] > 0);
  CHECK(!said["considered"].empty());
  const Outcome pins = runDfc({"explain", mlp, "-m", machine, "--pin", "*=gpu0"});
  CHECK(pins.status == 1);
  CHECK(pins.err.find("pins and cuts are for plans, which are made for at most 128 devices") !=
        std::string::npos);
  const Outcome refused = runDfc({"compile", mlp, "-m", machine, "-o", (shop.path() / "a.plan").string()});
  CHECK(refused.status == 1);
  CHECK(refused.err.find("a plan is made for at most 128 devices, and machine 'pod' has 1025") !=
        std::string::npos);
}

TEST_CASE("dfc explain --grid: the grid that is asked for, and the others, by the same simulation") {
  const Workshop shop;
  const std::string graph = wide(shop);
  const Json best = explained({graph, "-m", "cpu-8gpu-nvlink", "--grid", "1x8x1"});
  CHECK(best["simulatedDevices"] == 8);
  CHECK(best["stages"] == 1);
  CHECK(best["placement"] == "8 groups of 1 device");
  const Json other = explained({graph, "-m", "cpu-8gpu-nvlink", "--grid", "1x2x4"});
  CHECK(other["devicesOfGroup"] == 4);
  CHECK(rowOf(other["considered"], "description", "8 groups of 1 device")["seconds"] ==
        best["predictedSeconds"]);
  CHECK(rowOf(best["considered"], "description", "2 groups of 4 devices")["seconds"] ==
        other["predictedSeconds"]);
  CHECK(best["considered"][0]["verdict"] == "asked for");
  CHECK(explained({graph, "-m", "cpu-8gpu-nvlink", "--grid", "1x8x1x4"})["placement"] ==
        "8 groups of 1 device, 4 micro-batches");
  CHECK_THAT(textOf({graph, "-m", "cpu-8gpu-nvlink", "--grid", "1x8x1"}), containing("asked for"));
}

TEST_CASE("dfc explain --grid: beside the simulation stand the seconds that --policy split predicts") {
  const Workshop shop;
  const std::string graph = shop.write("forward.dfg", R"(graph forward {
  input x : f32[8192, 4096]
  parameter w : f32[4096, 4096] = glorot(seed=1)
  loss = reduceMean(relu(matmul(x, w)))
  fetch loss
})");
  const Json split = explained({graph, "-m", "cpu-8gpu-nvlink", "--policy", "split", "--quick"});
  REQUIRE(split["placement"] == "split over gpu0 to gpu7");
  const Json grid = explained({graph, "-m", "cpu-8gpu-nvlink", "--grid", "1x8x1"});
  CHECK(grid["plannedSeconds"].get<double>() == Approx(split["predictedSeconds"].get<double>()));
  CHECK(grid["predictedSeconds"] != grid["plannedSeconds"]); // which the text tells apart
  CHECK_THAT(textOf({graph, "-m", "cpu-8gpu-nvlink", "--grid", "1x8x1"}),
             containing(", simulated as the grids below: ") && containing("; a plan over this grid takes "));
}

TEST_CASE("dfc explain --grid: a grid that the machine or the graph does not have") {
  const Workshop shop;
  const std::string graph = wide(shop);
  const auto refusal = [&](const std::string& grid) {
    const Outcome outcome = runDfc({"explain", graph, "-m", "cpu-8gpu-nvlink", "--grid", grid});
    INFO(grid << outcome.err);
    CHECK(outcome.status == 1);
    return outcome.err;
  };
  CHECK_THAT(refusal("2x8x1"), containing("has 16 devices, but the machine has 8 alike"));
  CHECK_THAT(refusal("1x8x1x3000"), containing("cannot be split over that grid"));
  for (const char* wrong :
       {"8", "1x8", "1x8x1x", "0x8x1", "1x8x1x2x2", "axbxc", "1x8x-1", "99999999999999999999x1x1"}) {
    CHECK_THAT(refusal(wrong), containing("is no grid") && containing("for example 2x4x8x16"));
  }
  const Outcome both =
      runDfc({"explain", graph, "-m", "cpu-8gpu-nvlink", "--grid", "1x8x1", "--policy", "heft"});
  CHECK(both.status == 1);
  CHECK_THAT(both.err, containing("--policy and --grid exclude one another"));
}
