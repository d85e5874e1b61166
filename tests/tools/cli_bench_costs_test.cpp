// `dfc-bench` alone: the cost table runs, names the reference of each row, and takes its options. No time is
// asserted.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/bench_rows.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <set>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

/// Arguments for a quick cost table beside the workshop's scripts, on a machine whose GPUs it does not use.
std::vector<std::string> costs(const Workshop& shop, const std::vector<std::string>& more) {
  shop.write("baseline.py", "");
  std::vector<std::string> words = {"--quick", "--scripts", shop.path().string(), "-m", "cpu-2gpu"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The references of a row.
std::set<std::string> references(const Json& row) {
  std::set<std::string> names;
  for (const Json& check : row["checks"]) {
    names.insert(check["against"]);
  }
  return names;
}

} // namespace

TEST_CASE("dfc-bench: a part of the cost table, a row of each kind") {
  const Workshop shop;
  shop.write("torch_cpu.py", baselineScript());
  const std::vector<std::string> keys = {"overhead/chain", "compile/parse/2000", "tasks/heft/ideal/2000",
                                         "infer/gpt/4x256"};
  std::vector<std::string> words = {"-o", "results.json"};
  for (const std::string& key : keys) {
    words.insert(words.end(), {"--only", key});
  }
  const Outcome outcome = shop.bench(costs(shop, words));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const auto rows = rowsOf(shop.file("results.json"));
  for (const std::string& key : keys) {
    INFO(key);
    REQUIRE(rows.count(key) == 1);
    CHECK(rows.at(key).contains("seconds"));
  }
}

TEST_CASE("dfc-bench: alone it gives the cost table", "[heavy]") {
  const Workshop shop;
  const bool python = pythonIsHere();
  shop.write("torch_cpu.py", baselineScript());
  const Outcome outcome = shop.bench(costs(shop, {"--python", "python3", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const auto rows = rowsOf(shop.file("results.json"));
  for (const char* key :
       {"train/64", "train/8192", "train/gpt/4x256", "train/resnet18/8x112", "infer/gpt/4x256",
        "infer/resnet18/8x112", "block/forward", "block/train", "overhead/chain", "overhead/wavefront/called",
        "overhead/layered/build", "compile/1000", "compile/parse/2000", "tasks/heft/ideal/2000",
        "tasks/auto/all", "split/families/llama/f32"}) {
    INFO(key);
    REQUIRE(rows.count(key) == 1);
    CHECK(rows.at(key).contains("seconds"));
  }
  const auto bare = rowsOf(shop.file("results.json"), "bare executor");
  CHECK(bare.size() == 8); // four graphs, built and run
  for (const char* key : {"overhead/chain", "overhead/chain/called", "overhead/layered/build"}) {
    CHECK(references(rows.at(key)).count("bare executor") == 1);
  }
  CHECK(references(rows.at("overhead/chain")) == references(rows.at("overhead/chain/called")));
  CHECK(Json::parse(readText(shop.file("results.json"))).back()["gpus"] == "none"); // only the CPU is used
  CHECK_THAT(outcome.out, !containing("EMULATED"));
  if (python) {
    CHECK(rows.at("train/64")["checks"][0]["against"] == "fast");
  }
  for (const char* key : {"savings/net/fusion", "savings/net/in-place", "savings/block/both"}) {
    INFO(key);
    const Json checks = rows.at(key)["checks"];
    REQUIRE(checks.size() == 2);
    CHECK(checks[0]["ratio"].get<double>() < 1); // fewer bytes are moved
    CHECK(checks[1]["ratio"].get<double>() <= 1);
  }
}

namespace {

/// Without the row that says that dfc_executors is missing, as in a bundle.
auto measuredIn(const std::string& results) {
  auto rows = rowsOf(results);
  rows.erase("overhead");
  return rows;
}

} // namespace

TEST_CASE("dfc-bench: --samples counts in the cost table, before --quick") {
  const Workshop shop;
  shop.write("torch_cpu.py", baselineScript());
  const Outcome outcome =
      shop.bench(costs(shop, {"--samples", "5", "--steps", "2", "--only", "train/64", "--only",
                              "compile/1000", "--only", "overhead/chain", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const auto rows = measuredIn(shop.file("results.json"));
  for (const char* key : {"train/64", "compile/1000", "overhead/chain", "overhead/chain/called"}) {
    CHECK(rows.at(key)["samples"] == 5);
  }
  CHECK(rows.size() == 5); // and overhead/chain/build
}

TEST_CASE("dfc-bench: samples of PyTorch and dfc alternate") {
  if (!pythonIsHere()) {
    DFC_SKIP("baselines are scripts, and there is no python3");
  }
  const Workshop shop;
  shop.write("torch_cpu.py", R"(import json, sys
key = sys.argv[sys.argv.index("--keys") + 1]
print("ready", flush=True)
turns = 0
for line in sys.stdin:
    assert line == "sample\n"
    turns += 1
    if turns == 3 and key == "train/1024":
        sys.exit("has had enough")
    print("a remark\nsampled", flush=True)
print(json.dumps({"key": key, "program": "in turn", "seconds": 1, "least": 1, "most": 1, "samples": turns}))
)");
  const Outcome outcome =
      shop.bench(costs(shop, {"--python", "python3", "--samples", "4", "--steps", "1", "--only", "train/64",
                              "--only", "train/1024", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const auto rows = rowsOf(shop.file("results.json"));
  CHECK(rows.at("train/64")["samples"] == 4);
  CHECK(rows.at("train/1024")["samples"] == 4); // dfc goes on without it
  const auto theirs = rowsOf(shop.file("results.json"), "in turn");
  REQUIRE(theirs.size() == 1);
  CHECK(theirs.at("train/64")["samples"] == 4);
  const auto missing = rowsOf(shop.file("results.json"), "torch_cpu.py");
  CHECK_THAT(missing.at("train/1024")["notMeasured"].get<std::string>(), containing("has had enough"));
}

TEST_CASE("dfc-bench: a baseline that keeps dfc waiting is ended at its time limit") {
  if (!pythonIsHere()) {
    DFC_SKIP("baselines are scripts, and there is no python3");
  }
  const Workshop shop;
  shop.write("torch_cpu.py", baselineScript("import time\ntime.sleep(600)"));
  const Outcome outcome = shop.bench(costs(shop, {"--python", "python3", "--samples", "2", "--only",
                                                  "train/64", "--script-limit", "1", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(rowsOf(shop.file("results.json")).at("train/64")["samples"] == 2);
  const auto missing = rowsOf(shop.file("results.json"), "torch_cpu.py");
  CHECK_THAT(missing.at("train/64")["notMeasured"].get<std::string>(), containing("took more than 1 s"));
}

TEST_CASE("dfc-bench: one row of a task graph alone, beside all programs that did that work") {
  const Workshop shop;
  const auto rowsOnly = [&](const std::string& key) {
    REQUIRE(shop.bench(costs(shop, {"--only", key, "-o", "results.json"})).status == 0);
    return measuredIn(shop.file("results.json"));
  };
  for (const std::string key : {"overhead/chain/called", "overhead/independent/build"}) {
    const auto rows = rowsOnly(key);
    REQUIRE(rows.size() == 1);
    CHECK(references(rows.at(key)).count("bare executor") == 1);
  }
}

TEST_CASE("dfc-bench: small pieces are held against plain code, where Google Benchmark was found") {
  const Workshop shop;
  const Outcome outcome =
      shop.bench(costs(shop, {"--samples", "2", "--only", "micro", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const auto rows = rowsOf(shop.file("results.json"));
  if (!std::filesystem::exists(dfc::executableFolder() / "dfc_micro")) {
    CHECK_THAT(rows.at("micro")["notMeasured"].get<std::string>(), containing("not installed"));
    DFC_SKIP("dfc_micro is not beside dfc");
  }
  for (const char* key :
       {"micro/kernel/add", "micro/kernel/matmul", "micro/pass/gradients", "micro/pass/drop_dead_ops",
        "micro/stage/memory", "micro/plan/load", "micro/step"}) {
    INFO(key);
    REQUIRE(rows.count(key) == 1);
    CHECK(rows.at(key)["samples"] == 2);
  }
  for (const auto& [key, row] : rows) { // none failed, and each has its baseline
    INFO(key);
    CHECK(row.contains("seconds"));
    CHECK_FALSE(row["description"].get<std::string>().empty());
    CHECK(row["checks"].size() == 1);
  }
  CHECK(references(rows.at("micro/kernel/add")).count("memcpy of as many bytes") == 1);
}

TEST_CASE("dfc-bench: without the programs beside it a row says so") {
  const Workshop shop;
  const std::filesystem::path bin = dfc::executableFolder();
  std::filesystem::create_directories(shop.path() / "here/bin");
  std::filesystem::copy_file(bin / "dfc-bench", shop.path() / "here/bin/dfc-bench");
  for (const char* beside : {"lib", "share"}) { // what an installed dfc reads and is linked with
    if (std::filesystem::is_directory(bin.parent_path() / beside)) {
      std::filesystem::create_directory_symlink(bin.parent_path() / beside, shop.path() / "here" / beside);
    }
  }
  std::string command = "cd '" + shop.path().string() + "' && here/bin/dfc-bench";
  for (const std::string& word :
       costs(shop, {"--only", "overhead/chain/called", "--only", "micro/step", "-o", "results.json"})) {
    command += " '" + word + "'";
  }
  REQUIRE(std::system((command + " >out 2>&1").c_str()) == 0);
  const Json results = Json::parse(readText(shop.file("results.json")));
  CHECK(results[0]["rows"][0]["description"] == "other task executors");
  CHECK_THAT(results[0]["rows"][0]["notMeasured"].get<std::string>(), containing("not installed"));
  const auto rows = rowsOf(shop.file("results.json"));
  CHECK(rows.count("overhead/chain/called") == 1);
  CHECK_THAT(rows.at("micro")["notMeasured"].get<std::string>(), containing("dfc_micro is not beside dfc"));
}

TEST_CASE(
    "dfc-bench: the Python of make_venv is taken from the user's cache, an empty variable is as unset") {
  const Workshop shop;
  shop.write("torch_cpu.py", baselineScript());
  const std::string bin = "home/.cache/dfc/bench-venv/bin/";
  std::filesystem::create_directories(shop.path() / bin);
  shop.write(bin + "python",
             "#!/bin/sh\necho '{\"key\": \"train/64\", \"program\": \"its own\", \"seconds\": 1}'\n");
  std::filesystem::permissions(shop.path() / bin / "python", std::filesystem::perms::owner_all);
  for (const std::string cache : {"", "relative"}) {
    const Outcome outcome = shop.bench(costs(shop, {"--only", "train/64", "-o", "results.json"}),
                                       {{"XDG_CACHE_HOME", cache}, {"HOME", shop.file("home")}});
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(references(rowsOf(shop.file("results.json")).at("train/64")) == std::set<std::string>{"its own"});
  }
}

TEST_CASE("dfc-bench: where no row is selected, the keys of the cost table are named") {
  const Workshop shop;
  const Outcome outcome = shop.bench(costs(shop, {"--only", "products_on_gpus"}));
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, containing("keys of cost look like train/64 and compile/1000"));
}
