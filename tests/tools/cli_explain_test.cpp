// `dfc explain`: what a plan does on its devices and what was considered in its place, as text and as JSON.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

const std::string mlp = dfc::shippedFile("samples/02_train_mlp/mlp.dfg").string();

} // namespace

TEST_CASE("dfc explain: a split, its parameters, its copies and the plans that it was chosen from") {
  const Workshop shop;
  const Outcome said =
      shop.dfc({"explain", mlp, "-m", machineFile("cpu-2gpu"), "--policy", "split", "--quick"});
  INFO(said.out);
  INFO(said.err);
  REQUIRE(said.status == 0);
  CHECK_THAT(said.out, containing(" for cpu-2gpu, policy split over "));
  for (const char* part : {" of the work, ", "\nstep ", "\nops, by share of their seconds\n",
                           "\nparameters, and their bytes on a device\n", "\ncopies, by kind\n",
                           "\nconsidered, by the seconds of a step by itself\n", ": chosen\n"}) {
    CHECK_THAT(said.out, containing(part));
  }
}

TEST_CASE("dfc explain --json: the seconds and the memory of the plan that dfc compile makes") {
  const Workshop shop;
  const std::string machine = machineFile("cpu-2gpu");
  const Outcome said = shop.dfc({"explain", mlp, "-m", machine, "--policy", "split", "--json"});
  const Outcome made = shop.dfc({"compile", mlp, "-m", machine, "--policy", "split", "--json"});
  INFO(said.err);
  REQUIRE(said.status == 0);
  REQUIRE(made.status == 0);
  const Json explained = Json::parse(said.out), plan = Json::parse(made.out);
  CHECK(explained["predictedSeconds"] == plan["predictedSeconds"]);
  CHECK(explained["lowerBoundSeconds"] == plan["lowerBoundSeconds"]);
  for (const Json& device : explained["devices"]) {
    size_t found = 0;
    for (const Json& other : plan["devices"]) {
      found += other["name"] == device["name"] && other["memoryBytes"] == device["memoryBytes"] ? 1 : 0;
    }
    INFO(device.dump());
    CHECK(found == 1);
  }
  CHECK(explained["considered"][0]["chosen"] == true);
  CHECK(explained["oneDeviceSeconds"] > 0.0);
  const double ideal = explained["idealSeconds"], step = explained["predictedSeconds"];
  CHECK(explained["efficiency"] == ideal / step);
  CHECK(explained["changes"].size() >= 2);
}

TEST_CASE("dfc explain: a policy of whole ops compares nothing, and says so by leaving it out") {
  const Workshop shop;
  const Outcome said =
      shop.dfc({"explain", mlp, "-m", machineFile("cpu-2gpu"), "--policy", "single", "--quick"});
  INFO(said.err);
  REQUIRE(said.status == 0);
  CHECK_THAT(said.out, containing("no split: whole ops, "));
  CHECK(said.out.find("considered") == std::string::npos);
}

TEST_CASE("dfc explain: what dfc compile refuses is refused") {
  const Workshop shop;
  const Outcome said = shop.dfc({"explain", "none.dfg", "-m", machineFile("cpu-2gpu")});
  CHECK(said.status == 1);
  CHECK(said.out.empty());
}
