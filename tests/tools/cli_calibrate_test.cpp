// `dfc calibrate` and `--calibration`: tables of this host's cpu and of an emulated gpu, and plans made with
// them.
#include "ir/machine/calibration.h"
#include "ir/machine/machine.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;

namespace {

const std::string net = "graph net {\n"
                        "  input x : f32[64, 32]\n"
                        "  parameter w : f32[32, 16] = glorot(seed=1)\n"
                        "  y = softmax(matmul(x, w))\n"
                        "  z = softmax(matmul(x, w) * 2)\n"
                        "  fetch y\n"
                        "  fetch z\n"
                        "}\n";

/// This host with a gpu of `model`, as here.json.
void writeMachine(const Workshop& shop, const std::string& model) {
  REQUIRE(shop.dfc({"machine", "--estimate", "-o", "here.json"}).status == 0);
  auto machine = nlohmann::ordered_json::parse(readText(shop.file("here.json")));
  while (machine["devices"].size() > 1) { // real gpus of this host
    machine["devices"].erase(1);
  }
  machine["devices"].push_back({{"id", "gpu0"}, {"model", model}, {"flops", 1e9}, {"memoryBandwidth", 1e9}});
  machine["devices"].push_back({{"id", "gpu1"}, {"model", model}, {"flops", 1e9}, {"memoryBandwidth", 1e9}});
  machine["links"] = nlohmann::ordered_json::array({{{"id", "bus"}, {"latency", 1e-6}, {"bandwidth", 1e10}}});
  machine["routes"] = nlohmann::ordered_json::array();
  for (const char* gpu : {"gpu0", "gpu1"}) {
    machine["routes"].push_back({{"from", "cpu0"}, {"to", gpu}, {"links", {"bus"}}});
    machine["routes"].push_back({{"from", gpu}, {"to", "cpu0"}, {"links", {"bus"}}});
  }
  shop.write("here.json", machine.dump());
}

std::vector<dfc::Calibration> tablesIn(const Workshop& shop, const std::string& file) {
  auto tables = dfc::readCalibrations(shop.file(file));
  REQUIRE(tables.ok());
  return *std::move(tables);
}

std::string table(const std::string& device, const std::string& rows) {
  return "{\"tables\": [{\"device\": \"" + device + "\", \"ops\": [" + rows + "]}]}";
}

} // namespace

TEST_CASE("dfc calibrate: a table for each model, each distinct op once, wherever it is placed") {
  const Workshop shop;
  writeMachine(shop, "emulated gpu");
  shop.write("net.dfg", net);
  const Outcome outcome = shop.dfc(
      {"calibrate", "net.dfg", "-m", "here.json", "-o", "t.json", "--backend", "gpu=emulated", "--json"});
  REQUIRE(outcome.status == 0);
  const auto object = nlohmann::json::parse(outcome.out);
  CHECK(object["output"] == "t.json");
  REQUIRE(object["devices"].size() == 2); // gpu1 is as gpu0
  CHECK(object["devices"][0]["device"] == "cpu0");
  CHECK(object["devices"][1]["device"] == "gpu0");
  CHECK(object["devices"][1]["model"] == "emulated gpu");
  const auto tables = tablesIn(shop, "t.json");
  REQUIRE(tables.size() == 2);
  const dfc::Calibration* gpu = dfc::tableOf(tables, "emulated gpu");
  REQUIRE(gpu != nullptr);
  CHECK(gpu->ops.size() == object["ops"].get<size_t>());
  CHECK(gpu->find("matmul(f32[64, 32], f32[32, 16])") != nullptr); // both softmaxes read one product
  CHECK(gpu->find("softmax(f32[64, 16])") != nullptr);             // both are it
  for (const dfc::Calibration& each : tables) {
    REQUIRE(each.ops.size() == gpu->ops.size());
    for (size_t i = 0; i < each.ops.size(); ++i) {
      CHECK(each.ops[i].signature == gpu->ops[i].signature);
    }
  }
}

TEST_CASE("dfc calibrate: a table that is there keeps what is not measured anew") {
  const Workshop shop;
  shop.write("net.dfg", net);
  REQUIRE(shop.dfc({"calibrate", "net.dfg", "-o", "t.json"}).status == 0);
  auto tables = tablesIn(shop, "t.json");
  REQUIRE(tables.size() == 1);
  tables[0].keep({{"exp(f32[3])", 5, "kept"}, {"softmax(f32[64, 16])", 1e9, "replaced"}});
  tables.push_back({"some other device", {{"neg(f32[2])", 6, ""}}});
  shop.write("t.json", dfc::printCalibrations(tables));
  REQUIRE(shop.dfc({"calibrate", "net.dfg", "-o", "t.json"}).status == 0);
  const auto merged = tablesIn(shop, "t.json");
  REQUIRE(merged.size() == 2);
  const dfc::Calibration* mine = dfc::tableOf(merged, tables[0].device);
  REQUIRE(mine != nullptr);
  CHECK(mine->ops.size() == tables[0].ops.size());
  CHECK(mine->find("exp(f32[3])")->choice == "kept");
  CHECK(mine->find("softmax(f32[64, 16])")->choice.empty());
  CHECK(dfc::tableOf(merged, "some other device")->ops == tables[1].ops);
  shop.write("t.json", "{\"tables\": 7}"); // no table: left as it is
  const Outcome broken = shop.dfc({"calibrate", "net.dfg", "-o", "t.json"});
  CHECK(broken.status == 1);
  CHECK_THAT(broken.err, startingWith("t.json:1:12: error: tables: number where an array belongs\n"));
  CHECK(readText(shop.file("t.json")) == "{\"tables\": 7}");
}

TEST_CASE("dfc calibrate: devices that are not here are left out, and said") {
  const Workshop shop;
  writeMachine(shop, "Imaginary 9000");
  shop.write("net.dfg", net);
  const Outcome some =
      shop.dfc({"calibrate", "net.dfg", "-m", "here.json", "--backend", "gpu=emulated", "-o", "t.json"});
  CHECK(some.status == 0);
  CHECK(some.err == "gpu0 was not timed: 'Imaginary 9000', where this host has 'emulated gpu'\n"
                    "gpu1 was not timed: 'Imaginary 9000', where this host has 'emulated gpu'\n");
  const Outcome none = shop.dfc({"calibrate", "net.dfg", "-m", "here.json", "--backend", "gpu=emulated",
                                 "--device", "gpu0", "-o", "none.json"});
  CHECK(none.status == 1);
  CHECK(none.err == "error: gpu0 of machine 'this-host' cannot be timed: 'Imaginary 9000', where this host "
                    "has 'emulated gpu'\n"
                    "  hint: dfc machine -o here.json describes this host; use it with -m here.json\n");
  CHECK_FALSE(std::filesystem::exists(shop.file("none.json")));
  const Outcome null = shop.dfc({"calibrate", "net.dfg", "--backend", "cpu=null"});
  CHECK(null.status == 1);
  CHECK_THAT(null.err, containing("cpu0"));
  const Outcome slip = shop.dfc({"calibrate", "net.dfg", "-m", "here.json", "--device", "gpu9"});
  CHECK(slip.status == 1);
  CHECK_THAT(slip.err, startingWith("error: "));
  CHECK_THAT(slip.err, containing("'gpu9'"));
  CHECK(shop.dfc({"calibrate", "net.dfg", "-o", "table.txt"}).status == 1);
}

TEST_CASE("dfc --calibration: planning believes the table") {
  const Workshop shop;
  writeMachine(shop, "X");
  shop.write("net.dfg", "graph net {\n  input x : f32[64, 64]\n  y = softmax(x)\n  fetch y\n}\n");
  // 3 s on the gpu and 5 s on the cpu, where the input is: 3 s and two copies of 16 KB on a quick bus win.
  const auto machine = nlohmann::json::parse(readText(shop.file("here.json")));
  const auto cpu = machine["devices"][0]["model"].get<std::string>();
  shop.write("gpu.json", table("X", "{\"signature\": \"softmax(f32[64, 64])\", \"seconds\": 3}"));
  shop.write("cpu.json", table(cpu, "{\"signature\": \"softmax(f32[64, 64])\", \"seconds\": 5}"));
  const Outcome both = shop.dfc({"simulate", "net.dfg", "-m", "here.json", "--policy", "heft",
                                 "--calibration", "gpu.json", "--calibration", "cpu.json", "--json"});
  REQUIRE(both.status == 0);
  const auto makespan = nlohmann::json::parse(both.out)["makespanSeconds"].get<double>();
  CHECK(makespan > 3);
  CHECK(makespan < 3.01);
  const Outcome plain = shop.dfc({"simulate", "net.dfg", "-m", "here.json", "--json"});
  CHECK(nlohmann::json::parse(plain.out)["makespanSeconds"].get<double>() < 0.01);
  CHECK(shop.dfc({"compile", "net.dfg", "-m", "here.json", "--calibration", "gpu.json", "-o", "net.plan"})
            .status == 0);
  const Outcome half =
      shop.dfc({"compile", "net.dfg", "-m", "here.json", "--calibration", "gpu.json", "--json"});
  const auto warnings = nlohmann::json::parse(half.out)["warnings"];
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0]["message"].get<std::string>(),
             startingWith("no calibration table describes cpu0: its times are estimated"));
  CHECK(nlohmann::json::parse(both.out)["warnings"].empty());
  // A plan's times are settled; a run passes the table on to the backends all the same.
  CHECK(shop.dfc({"simulate", "net.plan", "--calibration", "gpu.json"}).status == 1);
  CHECK(shop.dfc({"compile", "net.dfg", "-m", "here.json", "--calibration", "gpu.json", "-o", "gpu.json"})
            .status == 1);
}

TEST_CASE("dfc calibrate: copies over a link of each class, into the tables, for planning") {
  const Workshop shop;
  writeMachine(shop, "emulated gpu");
  shop.write("net.dfg", net);
  const std::vector<std::string> words = {"calibrate", "net.dfg", "-m",        "here.json",
                                          "-o",        "t.json",  "--backend", "gpu=emulated"};
  const Outcome text = shop.dfc(words);
  REQUIRE(text.status == 0);
  CHECK_THAT(text.out, containing("cpu0 to gpu0: 5 sizes timed, "));
  CHECK_THAT(text.out, containing("gpu0 to cpu0: 5 sizes timed, "));
  const auto tables = tablesIn(shop, "t.json");
  const dfc::Calibration* gpu = dfc::tableOf(tables, "emulated gpu");
  REQUIRE(gpu != nullptr);
  REQUIRE(gpu->copies.size() == 5); // gpu1's are of the same class
  CHECK(dfc::hasCopies(tables, gpu->copies[0].to, "emulated gpu"));
  const Outcome planned =
      shop.dfc({"compile", "net.dfg", "-m", "here.json", "--calibration", "t.json", "--json"});
  REQUIRE(planned.status == 0);
  CHECK(nlohmann::json::parse(planned.out)["warnings"].empty());
}

TEST_CASE(
    "dfc --calibration: measured copies count where all links were measured, and it is said where not") {
  const Workshop shop;
  writeMachine(shop, "X");
  const auto machine = nlohmann::json::parse(readText(shop.file("here.json")));
  const auto cpu = machine["devices"][0]["model"].get<std::string>();
  shop.write("sum.dfg", "graph sum {\n  input x : f32[64, 64]\n  scope \"s\" on gpu0 {\n    y = softmax(x)\n"
                        "  }\n  fetch y\n}\n");
  const auto copies = [](const std::string& device, const std::string& to) {
    return "{\"device\": \"" + device + "\", \"ops\": [], \"copies\": [{\"to\": \"" + to +
           "\", \"bytes\": 4, \"seconds\": 5}, {\"to\": \"" + to + "\", \"bytes\": 65536, \"seconds\": 5}]}";
  };
  shop.write("down.json", "{\"tables\": [" + copies(cpu, "X") + "]}");
  shop.write("up.json", "{\"tables\": [" + copies("X", cpu) + "]}");
  const auto simulated = [&](std::vector<std::string> tables) {
    std::vector<std::string> words = {"simulate", "sum.dfg", "-m", "here.json", "--json"};
    for (std::string& table : tables) {
      words.insert(words.end(), {"--calibration", std::move(table)});
    }
    const Outcome outcome = shop.dfc(words);
    REQUIRE(outcome.status == 0);
    return nlohmann::json::parse(outcome.out);
  };
  CHECK(simulated({"down.json", "up.json"})["makespanSeconds"].get<double>() == Approx(10).epsilon(0.01));
  const auto half = simulated({"down.json"});
  CHECK(half["makespanSeconds"].get<double>() < 0.01);
  const std::string warning = half["warnings"].back()["message"];
  CHECK_THAT(warning, startingWith("no calibration table has copies from gpu0 to cpu0: all transfers are "
                                   "predicted by the machine file"));
}

TEST_CASE("dfc run --calibration: with a graph, and tables that do not serve it") {
  const Workshop shop;
  shop.write("net.dfg",
             "graph net {\n  parameter w : f32[8] = uniform(0, 1, seed=1)\n  y = softmax(w)\n  fetch y\n}\n");
  REQUIRE(shop.dfc({"calibrate", "net.dfg", "-o", "t.json"}).status == 0);
  CHECK(shop.dfc({"run", "net.dfg", "--calibration", "t.json"}).status == 0);
  shop.write("other.json", table("NVIDIA H200", ""));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "net.dfg", "-m", "cpu"}, {"compile", "net.dfg", "-m", "cpu"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--calibration", "other.json"});
    const Outcome wrong = shop.dfc(all);
    CHECK(wrong.status == 1);
    CHECK(wrong.err ==
          "other.json: error: this table is of 'NVIDIA H200'; the machine's cpu0 is 'a laptop of 8 cores'\n"
          "  hint: a table is of the model that the machine file says; make one there: dfc calibrate GRAPH "
          "-m MACHINE -o TABLE.json\n");
  }
  CHECK(shop.dfc({"run", "net.dfg", "--calibration", "none.json"}).status == 1);
  CHECK(shop.bench({"experiments", "--quick", "--calibration", "none.json"}).status == 1);
}
