// `dfc explain`: what a plan over many devices does, and why it was chosen.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace dfc::test;

namespace {

using Json = nlohmann::json;

const std::string mlp = dfc::shippedFile("samples/02_train_mlp/mlp.dfg").string();

Json explained(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"explain"};
  all.insert(all.end(), words.begin(), words.end());
  all.push_back("--json");
  const Outcome outcome = runDfc(all);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

double sumOf(const Json& rows, const std::string& key) {
  double sum = 0;
  for (const Json& row : rows) {
    sum += row[key].get<double>();
  }
  return sum;
}

/// Both products are cut along the 8192 rows: only these are so large that a split is quicker than one
/// device.
std::string wide(const Workshop& shop) {
  return shop.write("wide.dfg", R"(graph wide {
  input x : f32[8192, 4096]
  parameter w : f32[4096, 4096] = glorot(seed=1)
  loss = reduceMean(matmul(x, w))
  dw = gradients(loss, w)
  wnext = assign(w, sub(w, mul(dw, 0.1)))
  fetch loss
}
)");
}

} // namespace

TEST_CASE("dfc explain: the text has every part, and --quick leaves out what is planned again") {
  const Outcome all = runDfc({"explain", mlp, "-m", "cpu-2gpu", "--policy", "split"});
  INFO(all.err);
  REQUIRE(all.status == 0);
  CHECK_THAT(all.out,
             startingWith("mlp for cpu-2gpu, policy split over gpu0 to gpu1\nsplit over 2 devices; "));
  for (const char* part :
       {"one device alone ", ", efficiency ", "\nops, by share", "\nparameters, and", "\ncopies, by kind\n",
        "\nconsidered, ", ": chosen\n", ": slower by ", "\nwith another machine\n",
        "one more device like gpu1", "twice as fast", "twice their memory"}) {
    CHECK_THAT(all.out, containing(part));
  }
  const Outcome quick = runDfc({"explain", mlp, "-m", "cpu-2gpu", "--policy", "split", "--quick"});
  CHECK(quick.status == 0);
  CHECK(quick.out.find("with another machine") == std::string::npos);
  CHECK(quick.out.find("one device alone") == std::string::npos);
}

TEST_CASE("dfc explain: shares add up, and the seconds are those of the plan") {
  const Json said = explained({mlp, "-m", "cpu-2gpu", "--policy", "split"});
  CHECK(said["split"] == true);
  CHECK(sumOf(said["devices"], "share") == Approx(1));
  CHECK(sumOf(said["scopes"], "share") == Approx(1));
  for (const Json& scope : said["scopes"]) {
    CHECK(sumOf(scope["ways"], "share") == Approx(1));
  }
  const Outcome compiled = runDfc({"compile", mlp, "-m", "cpu-2gpu", "--policy", "split", "--json"});
  CHECK(said["predictedSeconds"] == Json::parse(compiled.out)["predictedSeconds"]);
  CHECK(said["lowerBoundSeconds"] <= said["predictedSeconds"]);
  // Two alike devices: the ideal is half of one device's seconds.
  CHECK(said["idealSeconds"].get<double>() == Approx(said["oneDeviceSeconds"].get<double>() / 2));
  const Json& considered = said["considered"];
  CHECK(considered.size() >= 2);
  CHECK(considered[0]["chosen"] == true);
  CHECK(std::count_if(considered.begin(), considered.end(),
                      [](const Json& row) { return row["chosen"] == true; }) == 1);
}

TEST_CASE("dfc explain: where whole ops win, the best split stands beside them") {
  const Json said = explained({mlp, "-m", "cpu-2gpu"}); // far too small to be split
  CHECK(said["split"] == false);
  CHECK(said["scopes"].empty());
  CHECK(said["considered"][0]["split"] == false);
  const auto isSplit = [](const Json& row) { return row["split"] == true; };
  CHECK(std::any_of(said["considered"].begin(), said["considered"].end(), isSplit));
  CHECK(said["efficiency"].is_null());
  CHECK_THAT(runDfc({"explain", mlp, "-m", "cpu-2gpu", "--quick"}).out,
             containing("\nno split: whole ops, "));
}

TEST_CASE("dfc explain: every parameter is counted, with its layout and what reaches the devices") {
  const Workshop shop;
  const Json said = explained({wide(shop), "-m", "cpu-2gpu", "--policy", "split", "--quick"});
  REQUIRE(said["parameters"].size() == 1);
  CHECK(said["parameters"][0]["names"] == "w");
  CHECK(said["parameters"][0]["type"] == "f32[4096, 4096]");
  for (const Json& row : said["copies"]) {
    INFO(row.dump());
    CHECK(row["kind"] != "other copies");
    CHECK(row["hidden"] >= 0);
    CHECK(row["hidden"] <= 1 + 1e-9);
  }
}

TEST_CASE("dfc explain: a graph that nothing can be split of says so") {
  const Outcome one = runDfc({"explain", mlp, "-m", "cpu", "--quick"});
  CHECK(one.status == 0);
  CHECK_THAT(one.out, containing("no split was tried: "));
  const Outcome fixed = runDfc({"explain", mlp, "-m", "cpu-2gpu", "--policy", "heft", "--quick"});
  CHECK(fixed.status == 0);
  CHECK(fixed.out.find("considered") == std::string::npos);
}

TEST_CASE("dfc explain: bad words end with status 1 and the way out") {
  const Outcome policy = runDfc({"explain", mlp, "-m", "cpu-2gpu", "--policy", "splitt"});
  CHECK(policy.status == 1);
  CHECK_THAT(policy.err, containing("did you mean 'split'?"));
  CHECK(runDfc({"explain", mlp}).status == 1);
  CHECK(runDfc({"explain", "none.dfg", "-m", "cpu-2gpu"}).status == 1);
  CHECK(runDfc({"explain", mlp, "-m", "cpu-2gpu", "--depth", "0"}).status == 1);
}
