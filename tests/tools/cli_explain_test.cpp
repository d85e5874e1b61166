// `dfc explain`: what a plan over many devices does, and why it was chosen.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <set>

using namespace dfc::test;

namespace {

using Json = nlohmann::json;

const std::string mlp = dfc::shippedFile("samples/02_train_mlp/mlp.dfg").string();

/// A host and so many GPUs in hosts of eight, by links that every copy has for itself.
std::string machineOf(int gpus) {
  Json machine{{"name", "pod"},
               {"devices", Json::array()},
               {"links", Json::array()},
               {"routes", Json::array()},
               {"default_comm", {{"latency", 1e-5}, {"bandwidth", 5e10}}}};
  machine["devices"].push_back(
      {{"id", "cpu0"}, {"class", "cpu"}, {"flops", 1e12}, {"memoryBandwidth", 1e11}});
  for (int i = 0; i < gpus; ++i) {
    machine["devices"].push_back({{"id", "gpu" + std::to_string(i)},
                                  {"class", "gpu"},
                                  {"flops", 1e13},
                                  {"memoryBandwidth", 1e12},
                                  {"mem", 80000000000},
                                  {"launch", 2e-6}});
    machine["links"].push_back({{"id", "in" + std::to_string(i)}, {"latency", 1e-6}, {"bandwidth", 4e11}});
  }
  for (int from = 0; from < gpus; ++from) {
    for (int to = from / 8 * 8; to < std::min(gpus, from / 8 * 8 + 8); ++to) {
      if (from != to) {
        machine["routes"].push_back({{"from", "gpu" + std::to_string(from)},
                                     {"to", "gpu" + std::to_string(to)},
                                     {"links", Json::array({"in" + std::to_string(to)})}});
      }
    }
  }
  return machine.dump();
}

Json explained(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"explain"};
  all.insert(all.end(), words.begin(), words.end());
  all.push_back("--json");
  const Outcome outcome = runDfc(all);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

std::string textOf(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"explain"};
  all.insert(all.end(), words.begin(), words.end());
  const Outcome outcome = runDfc(all);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return outcome.out;
}

/// The row whose `key` is `value`.
Json rowOf(const Json& rows, const std::string& key, const std::string& value) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Json& row) { return row[key] == value; });
  INFO(rows.dump());
  REQUIRE(found != rows.end());
  return *found;
}

std::vector<std::string> changesOf(const Json& said) {
  std::vector<std::string> changes;
  for (const Json& row : said["changes"]) {
    changes.push_back(row["change"]);
  }
  return changes;
}

/// cpu-2gpu with these links changed.
template <class Change>
std::string changedMachine(const Workshop& shop, Change change) {
  Json machine = Json::parse(std::ifstream(machineFile("cpu-2gpu")));
  change(machine);
  return shop.write("changed.json", machine.dump());
}

/// Its links take no time.
std::string freeLinks(const Workshop& shop) {
  return changedMachine(shop, [](Json& machine) {
    for (Json& link : machine["links"]) {
      link["latency"] = 0;
      link.erase("bandwidth");
    }
  });
}

/// A device with three times the rate of another. Nothing but products takes time on them.
std::string threeToOne(const Workshop& shop) {
  return shop.write("three-to-one.json", R"({"name": "three-to-one",
 "devices": [{"id": "cpu0", "class": "cpu", "flops": 1e6},
             {"id": "gpu0", "class": "gpu", "flops": 3e12},
             {"id": "gpu1", "class": "gpu", "flops": 1e12}],
 "links": [{"id": "bus", "slots": 0, "bandwidth": 1e13}],
 "routes": [{"from": "cpu0", "to": "gpu0", "links": ["bus"]}, {"from": "gpu0", "to": "cpu0", "links": ["bus"]},
            {"from": "cpu0", "to": "gpu1", "links": ["bus"]}, {"from": "gpu1", "to": "cpu0", "links": ["bus"]},
            {"from": "gpu0", "to": "gpu1", "links": ["bus"]}, {"from": "gpu1", "to": "gpu0", "links": ["bus"]}]}
)");
}

/// The second product takes three times as long as the first.
std::string twoProducts(const Workshop& shop) {
  return shop.write("two.dfg", R"(graph two {
  input x : f32[1024, 1024]
  parameter w1 : f32[1024, 1024] = glorot(seed=1)
  parameter w2 : f32[1024, 3072] = glorot(seed=2)
  scope "first" { h = matmul(x, w1) }
  scope "second" { y = matmul(h, w2) }
  fetch y
}
)");
}

/// Products so large that a split is quicker than one device.
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

TEST_CASE("dfc explain: shares follow from the rates of the devices and the work of the scopes") {
  const Workshop shop;
  const Json said = explained({twoProducts(shop), "-m", threeToOne(shop), "--policy", "split", "--quick"});
  REQUIRE(said["devices"].size() == 3); // the host, too: it holds what is fed and fetched
  CHECK(rowOf(said["devices"], "name", "cpu0")["share"] == 0);
  CHECK(rowOf(said["devices"], "name", "cpu0")["memoryBytes"] > 0);
  CHECK(rowOf(said["devices"], "name", "gpu0")["share"].get<double>() == Approx(0.75));
  CHECK(rowOf(said["devices"], "name", "gpu1")["share"].get<double>() == Approx(0.25));
  REQUIRE(said["scopes"].size() == 2);
  CHECK(said["scopes"][0]["scope"] == "second");
  CHECK(said["scopes"][0]["share"].get<double>() == Approx(0.75));
  CHECK(said["scopes"][1]["share"].get<double>() == Approx(0.25));
  for (const Json& scope : said["scopes"]) {
    REQUIRE(scope["ways"].size() == 1);
    CHECK(scope["ways"][0]["how"] == "parts along axis 0 of the result");
    CHECK(scope["ways"][0]["ops"] == 1);
    CHECK(scope["ways"][0]["share"].get<double>() == Approx(1));
  }
  REQUIRE(said["copies"].size() == 2);
  const Json feeds = rowOf(said["copies"], "kind", "feeds");
  CHECK(feeds["transfers"] == 2);
  CHECK(feeds["bytesPerDevice"] == 768 * 1024 * 4); // three quarters of x
  CHECK(feeds["linkSeconds"].get<double>() == Approx(1024 * 1024 * 4 / 1e13));
  const Json results = rowOf(said["copies"], "kind", "gather on one");
  CHECK(results["transfers"] == 2);
  CHECK(results["bytesPerDevice"] == 1024 * 3072 * 4); // y, on the host
  CHECK(results["hidden"] == 0);                       // nothing is left to compute
  CHECK_THAT(textOf({twoProducts(shop), "-m", threeToOne(shop), "--policy", "split", "--quick"}),
             containing("\nsplit over 2 devices; ") && containing("\n  cpu0     outside of the split, "));
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

TEST_CASE("dfc explain: what no split stays below") {
  const Workshop shop;
  const Json said = explained({wide(shop), "-m", "cpu-2gpu", "--policy", "split", "--quick"});
  CHECK(said["boundOfSplitsSeconds"].get<double>() <= said["predictedSeconds"].get<double>());
  CHECK(said["boundOfSplitsSeconds"].get<double>() >= 0.75 * said["predictedSeconds"].get<double>());
  CHECK_THAT(textOf({wide(shop), "-m", "cpu-2gpu", "--policy", "split", "--quick"}),
             containing("  of every split along one axis over alike devices (") &&
                 containing("  of this placement, in any order of its ops\n") &&
                 containing(" % of this step), by its products, convolutions, attention and copies alone, "
                            "without launches\n"));
  const std::string small = textOf({mlp, "-m", "cpu-2gpu", "--quick"}); // whole ops win: all is launches
  CHECK_THAT(small, containing("alone, without launches; it does not hold for whole ops, as here\n"));
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

TEST_CASE("dfc explain: every parameter is counted, with its layout and its bytes") {
  const Workshop shop;
  const Json said = explained({wide(shop), "-m", "cpu-2gpu", "--policy", "split", "--quick"});
  REQUIRE(said["parameters"].size() == 1);
  CHECK(said["parameters"][0]["names"] == "w");
  CHECK(said["parameters"][0]["type"] == "f32[4096, 4096]");
  // Columns of w need no sum of partials; all of x is fed to both devices behind the step before.
  CHECK(said["parameters"][0]["layout"] == "cut along axis 1 over 2");
  CHECK(said["parameters"][0]["bytesPerDevice"] == 4096 * 2048 * 4);
  const Json feeds = rowOf(said["copies"], "kind", "feeds");
  CHECK(feeds["bytesPerDevice"] == 8192 * 4096 * 4);
}

TEST_CASE("dfc explain: where links take no time, each device holds its part and a replica of the other") {
  const Workshop shop;
  const Json said = explained({wide(shop), "-m", freeLinks(shop), "--policy", "split"});
  REQUIRE(said["parameters"].size() == 1);
  CHECK_THAT(said["parameters"][0]["layout"].get<std::string>(), // along either axis: that costs the same
             containing(" over 2; replicas of the parts on 2"));
  CHECK(said["parameters"][0]["bytesPerDevice"] == 4096 * 4096 * 4);
  // Faster links would change nothing.
  CHECK(changesOf(said) == std::vector<std::string>{"one more device like gpu1", "twice their memory"});
}

TEST_CASE("dfc explain: peer reads are those of the plan, not copies without link seconds") {
  const Workshop shop;
  const std::vector<std::string> words = {wide(shop), "-m", freeLinks(shop), "--policy", "split", "--quick"};
  const Json said = explained(words);
  CHECK(rowOf(said["copies"], "kind", "sum on one")["peerReads"] == 1);
  CHECK(rowOf(said["copies"], "kind", "parameters to replicas")["peerReads"] == 0);
  CHECK_THAT(textOf(words), containing("\n  sum on one: 1, 1 transfer; 4 B reach a device; read in the "
                                       "senders' memory by the kernels that need it\n"));
  std::vector<std::string> copied = words;
  copied.emplace_back("--no-peer-reads");
  const std::string text = textOf(copied);
  CHECK_THAT(text, containing("\n  sum on one: 1, 1 transfer; 4 B reach a device; no time on a link\n"));
  CHECK(text.find("senders' memory") == std::string::npos);
}

TEST_CASE("dfc explain: feeds that a session prefetches are told") {
  const Workshop shop;
  const Json large = explained({wide(shop), "-m", "cpu-2gpu", "--policy", "single", "--quick"});
  CHECK(rowOf(large["copies"], "kind", "feeds")["prefetched"] == 1);
  CHECK(rowOf(large["copies"], "kind", "fetches")["prefetched"] == 0);
  CHECK_THAT(textOf({wide(shop), "-m", "cpu-2gpu", "--policy", "single", "--quick"}),
             containing("; with steps before it 100.0 % of it is prefetched\n"));
  const Json small = explained({mlp, "-m", "cpu-2gpu", "--policy", "split", "--quick"});
  CHECK(rowOf(small["copies"], "kind", "feeds")["prefetched"] == 0);
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

TEST_CASE("dfc explain: a device without routes gets no copy, and memory has a largest size") {
  const Workshop shop;
  CHECK(changesOf(explained({mlp, "-m", "cpu"})) == std::vector<std::string>{"twice their memory"});
  const Json huge = explained({mlp, "-m", "cpu", "--memory", "cpu0=8000000TB"});
  CHECK(huge["changes"][0]["predictedSeconds"] == huge["predictedSeconds"]);
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

TEST_CASE("dfc explain: a placement is considered once") {
  const Json said = explained({mlp, "-m", "cpu", "--quick"});
  REQUIRE(said["considered"].size() == 1);
  CHECK(said["considered"][0]["description"] == "one device: cpu0 alone");
  CHECK(said["considered"][0]["chosen"] == true);
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
  CHECK_THAT(runDfc({"explain", "--help"}).out, containing("(default auto): ") && containing("split"));
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", mlp, "-m", "cpu", "-o", "a.plan"}).status == 0);
  CHECK_THAT(shop.dfc({"explain", "a.plan", "-m", "cpu"}).err,
             containing("dfc compile and dfc explain take a graph file (.dfg)"));
  CHECK(runDfc({"explain", mlp}).status == 1);
  CHECK(runDfc({"explain", "none.dfg", "-m", "cpu-2gpu"}).status == 1);
  CHECK(runDfc({"explain", mlp, "-m", "cpu-2gpu", "--depth", "0"}).status == 1);
}

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
