// `dfc explain`: the placements that were considered, and what another machine would give.
#include "tests/tools/explain/explain_workshop.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace dfc::test;

TEST_CASE("dfc explain: where whole ops win, the best split stands beside them") {
  const Json said = explained({mlp, "-m", "cpu-2gpu"}); // far too small to be split
  CHECK(said["split"] == false);
  CHECK(said["scopes"].empty());
  CHECK(said["considered"][0]["split"] == false);
  const auto isSplit = [](const Json& row) { return row["split"] == true; };
  CHECK(std::any_of(said["considered"].begin(), said["considered"].end(), isSplit));
  CHECK(said["efficiency"].is_null());
  CHECK_THAT(runDfc({"explain", mlp, "-m", "cpu-2gpu", "--quick"}).out,
             containing("\nno split: whole ops, placement: "));
}

TEST_CASE("dfc explain: the best candidate of each kind is printed, the others are counted or asked for") {
  const Json said = explained({mlp, "-m", "cpu-8gpu-nvlink", "--quick"});
  const Json& considered = said["considered"];
  REQUIRE(considered.size() > 10);
  std::set<std::string> kinds;
  size_t shown = 0;
  for (size_t i = 0; i < considered.size(); ++i) {
    const std::string kind = considered[i]["kind"];
    const bool isFirst = kinds.insert(kind).second;
    CHECK(considered[i]["notable"] == (i < 2 || isFirst)); // the chosen one, the next, the best of each kind
    shown += considered[i]["notable"] ? 1 : 0;
  }
  CHECK(kinds == std::set<std::string>{"one device", "whole ops", "split", "grid"});
  const std::string few = textOf({mlp, "-m", "cpu-8gpu-nvlink", "--quick"});
  const std::string all = textOf({mlp, "-m", "cpu-8gpu-nvlink", "--quick", "--all-candidates"});
  const auto rowsOf = [](const std::string& text) {
    const size_t begin = text.find("\nconsidered, by predicted seconds\n") + 1;
    std::vector<std::string> rows;
    for (size_t at = text.find('\n', begin) + 1; text.compare(at, 2, "  ") == 0;
         at = text.find('\n', at) + 1) {
      rows.push_back(text.substr(at, text.find('\n', at) - at));
    }
    return rows;
  };
  CHECK(rowsOf(few).size() == shown + 1); // and the count of the others
  CHECK_THAT(few, containing("  and " + std::to_string(considered.size() - shown) +
                             " more, no better than these of their kind: --all-candidates\n"));
  CHECK(few.find("copies counted") == std::string::npos);
  CHECK(rowsOf(all).size() == considered.size() + 2); // and what the counts of copies mean
  CHECK_THAT(all, containing("; cut with copies counted 5-fold\n") &&
                      containing("  The cuts of a split are chosen for the least computation and copies "));
}

TEST_CASE("dfc explain: a placement is considered once") {
  const Json said = explained({mlp, "-m", "cpu", "--quick"});
  REQUIRE(said["considered"].size() == 1);
  CHECK(said["considered"][0]["description"] == "one device: cpu0 alone");
  CHECK(said["considered"][0]["chosen"] == true);
}

TEST_CASE("dfc explain: under pins no device is said to be alone") {
  const Workshop shop;
  const Json alone = explained({twoProducts(shop), "-m", "cpu-2gpu", "--policy", "single"});
  CHECK(alone["oneDeviceSeconds"] == alone["predictedSeconds"]);
  const Json pinned =
      explained({twoProducts(shop), "-m", "cpu-2gpu", "--policy", "single", "--pin", "h=gpu1"});
  CHECK(pinned["oneDeviceSeconds"].is_null());
  const std::string graph = shop.write("pinned.dfg", "graph pinned {\n  input x : f32[8]\n"
                                                     "  y = relu(x) on gpu1\n  fetch y\n}\n");
  CHECK(textOf({graph, "-m", "cpu-2gpu"}).find("one device alone") == std::string::npos);
}

TEST_CASE("dfc explain: links over which transfers are staged count as those of the split") {
  const Workshop shop;
  const std::string staged = changedMachine(shop, [](Json& machine) {
    const auto between = [](const Json& route) { return route["from"] != "cpu0" && route["to"] != "cpu0"; };
    Json kept = Json::array();
    std::copy_if(machine["routes"].begin(), machine["routes"].end(), std::back_inserter(kept),
                 [&](const Json& route) { return !between(route); });
    machine["routes"] = kept;
  });
  // However it is cut, gradients or what stands between the layers have to cross.
  const std::string deep = shop.write("deep.dfg", R"(graph deep {
  input x : f32[2048, 4096]
  parameter w1 : f32[4096, 4096] = glorot(seed=1)
  parameter w2 : f32[4096, 4096] = glorot(seed=2)
  h = relu(matmul(x, w1))
  loss = reduceMean(softmax(matmul(softmax(h), w2)))
  d1, d2 = gradients(loss, w1, w2)
  w1next = assign(w1, sub(w1, mul(d1, 0.1)))
  w2next = assign(w2, sub(w2, mul(d2, 0.1)))
  fetch loss
})");
  const Json said = explained({deep, "-m", staged, "--policy", "split"});
  const Json faster = rowOf(said["changes"], "change", "links between devices of the split twice as fast");
  CHECK(faster["predictedSeconds"].get<double>() < 0.95 * said["predictedSeconds"].get<double>());
}

TEST_CASE("dfc explain: where copies were measured, faster links are no change") {
  const Workshop shop;
  const std::string table = shop.write("copies.json", R"({"tables": [
  {"device": "16 cores of a server", "ops": [], "copies": [
    {"to": "NVIDIA H200", "bytes": 4, "seconds": 8e-6}, {"to": "NVIDIA H200", "bytes": 67108864, "seconds": 1.2e-3}]},
  {"device": "NVIDIA H200", "ops": [], "copies": [
    {"to": "16 cores of a server", "bytes": 4, "seconds": 8e-6},
    {"to": "16 cores of a server", "bytes": 67108864, "seconds": 1.2e-3},
    {"to": "NVIDIA H200", "bytes": 4, "seconds": 8e-6}, {"to": "NVIDIA H200", "bytes": 67108864, "seconds": 2e-4}]}]})");
  const Json said = explained({wide(shop), "-m", "cpu-2gpu", "--policy", "split", "--calibration", table});
  CHECK(changesOf(said) == std::vector<std::string>{"one more device like gpu1", "twice their memory"});
}

TEST_CASE("dfc explain: a device without routes gets no copy, and memory has a largest size") {
  const Workshop shop;
  CHECK(changesOf(explained({mlp, "-m", "cpu"})) == std::vector<std::string>{"twice its memory"});
  const Json huge = explained({mlp, "-m", "cpu", "--memory", "cpu0=8000000TB"});
  CHECK(huge["changes"][0]["predictedSeconds"] == huge["predictedSeconds"]);
}
