// `dfc-bench`: every experiment runs on emulated GPUs and says what it found, as a table and as JSON; scripts
// of baselines are run, read and held against. No time is asserted.
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/bench_rows.h"
#include "tests/tools/run_dfc.h"
#include "tools/bench/names.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

const std::vector<std::string> emulated = {"--quick", "--backend", "gpu=emulated"};

std::vector<std::string> bench(const std::string& description, const std::vector<std::string>& more) {
  std::vector<std::string> words = {description};
  words.insert(words.end(), emulated.begin(), emulated.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

} // namespace

TEST_CASE("dfc-bench: all experiments on emulated GPUs") {
  const Workshop shop;
  const Outcome outcome = shop.bench(bench("experiments", {"-o", "results.json", "--traces", "traces"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, containing("EMULATED"));

  const auto rows = rowsOf(shop.file("results.json"));
  std::set<std::string> measured, names;
  for (const dfc::bench::BenchmarkName& benchmark : dfc::bench::benchmarkNames()) {
    if (!benchmark.cost) {
      names.emplace(benchmark.name);
    }
  }
  for (const auto& [key, row] : rows) {
    CHECK_THAT(outcome.out, containing(key));
    if (row.contains("seconds") || !row["checks"].empty()) {
      measured.insert(key.substr(0, key.find('/')));
    }
    if (row.contains("seconds")) {
      CHECK(row["least"] <= row["seconds"]);
      CHECK(row["seconds"] <= row["most"]);
    }
    CHECK_FALSE(row.contains("failure"));
    CHECK(row.value("book", "") == dfc::bench::bookNumberOf(key));
  }
  CHECK(measured == names);
  CHECK(rows.at("random_dags")["checks"][0]["holds"] == true);
  for (const char* way : {"1gpu", "2gpu", "2gpu-exchange", "update_on_cpu"}) {
    CHECK(rows.at(std::string("mlp_results/") + way + "/f32")["checks"][0]["holds"] == true);
  }
  CHECK(rows.at("update_on_cpu/mlp/64")["checks"][1]["holds"] ==
        true); // fc2 beside fc1 backward, in the plan
  CHECK(Json::parse(readText(shop.path() / "traces" / "tracing-1gpu.trace.json"))["traceEvents"].size() > 10);
}

TEST_CASE("dfc-bench: a results file keeps the newest measurement of a row, --json prints the run") {
  const Workshop shop;
  const auto words = [](const std::string& only) {
    return bench("experiments", {"--only", only, "-o", "results.json", "--json"});
  };
  const auto kept = [&] { return Json::parse(readText(shop.file("results.json"))); };
  const Outcome both = shop.bench(words("mlp_training/1gpu/f32/*"));
  INFO(both.err);
  REQUIRE(both.status == 0);
  CHECK(kept().size() == 1);
  const Outcome again = shop.bench(words("mlp_training/1gpu/*/16"));
  REQUIRE(again.status == 0);
  const Json printed = Json::parse(again.out);
  REQUIRE(printed["rows"].size() == 1);
  CHECK(printed["gpus"] == "emulated");
  CHECK(printed["devices"].size() == 3);
  REQUIRE(kept().size() == 2); // batch 64 of the first run, batch 16 of the second
  REQUIRE(kept()[0]["rows"].size() == 1);
  CHECK(kept()[0]["rows"][0]["key"] == "mlp_training/1gpu/f32/64");
  CHECK(kept()[1]["rows"] == printed["rows"]);
  REQUIRE(shop.bench(words("mlp_training/1gpu/f32/*")).status == 0);
  CHECK(kept().size() == 1);
}

TEST_CASE("dfc-bench: the book's numbers are a column, a key of rows, and patterns of --only") {
  const Workshop shop;
  const Outcome outcome =
      shop.bench(bench("experiments", {"--only", "A2", "--only", "B1", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  std::set<std::string> books;
  for (const auto& [key, row] : rowsOf(shop.file("results.json"))) {
    books.insert(row["book"].get<std::string>());
  }
  CHECK(books == std::set<std::string>{"A1", "A2", "B1"}); // A2 is held against A1
  CHECK_THAT(outcome.out, containing("benchmark") && containing("book"));
  CHECK(rowsOf(shop.file("results.json")).count("early_fetch") == 1);
  const Outcome list = shop.bench({"--list"});
  CHECK(list.status == 0);
  CHECK_THAT(list.out, containing("mlp_training") && containing("B3") && containing("overhead"));
}

TEST_CASE("dfc-bench: rows that a machine has no devices for say so, and a pattern for no row is named") {
  const Workshop shop;
  for (const char* only :
       {"products_on_gpus", "drain_to_host", "early_fetch", "dependent_adds", "memory_bound/softmax"}) {
    INFO(only);
    const Outcome outcome = shop.bench({"experiments", "--quick", "-m", "cpu", "--only", only});
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.out, containing("not measured: the machine has no"));
    CHECK_THAT(outcome.err, !containing("there is no such row"));
  }
  const Outcome half = shop.bench({"experiments", "--quick", "-m", "cpu", "--only", "A1", "--only", "A11"});
  CHECK(half.status == 0);
  CHECK_THAT(half.err, containing("warning: --only 'A11': there is no such row"));
}

TEST_CASE("dfc-bench: baselines' answers stand beside our rows") {
  if (!pythonIsHere()) {
    DFC_SKIP("baselines are scripts, and there is no python3");
  }
  const Workshop shop;
  shop.write("baseline.py", "");
  shop.write("torch_net.py", baselineScript());
  shop.write("jax_net.py", baselineScript("sys.exit('JAX is not at home')"));
  const Outcome outcome = shop.bench(bench("baselines", {"--scripts", shop.path().string(), "--only",
                                                         "mlp_training/1gpu/f32/16", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const Json ours = rowsOf(shop.file("results.json")).at("mlp_training/1gpu/f32/16");
  REQUIRE(ours["checks"].size() == 2);
  CHECK(ours["checks"][0]["against"] == "fast");
  CHECK(ours["checks"][0]["ratio"].get<double>() == Approx(ours["seconds"].get<double>()));
  CHECK(ours["checks"][1]["ratio"].get<double>() == Approx(ours["seconds"].get<double>() / 2));
  const Json slow = rowsOf(shop.file("results.json"), "slow").at("mlp_training/1gpu/f32/16");
  CHECK(slow["most"] == 3);
  const Json absent = rowsOf(shop.file("results.json"), "jax_net.py").at("mlp_training/1gpu/f32/16");
  CHECK_THAT(absent["notMeasured"].get<std::string>(), containing("JAX is not at home"));
}

TEST_CASE("dfc-bench: training steps of the lessons' models keep their memory, and each key is a script's "
          "own run") {
  if (!pythonIsHere()) {
    DFC_SKIP("baselines are scripts, and there is no python3");
  }
  const Workshop shop;
  shop.write("baseline.py", "");
  for (const char* script : {"torch_gpt.py", "jax_gpt.py", "torch_resnet.py"}) {
    shop.write(script,
               "import json, sys\nkey = sys.argv[sys.argv.index('--keys') + 1]\nassert ',' not in key\n"
               "print(json.dumps({'key': key, 'program': sys.argv[0].split('/')[-1], 'seconds': 1, "
               "'bytes': 5000}))\n");
  }
  shop.write("jax_resnet.py", "import sys\nsys.exit(' '.join(sys.argv[1:]))");
  const Outcome outcome =
      shop.bench(bench("baselines", {"--scripts", shop.path().string(), "--only", "gpt_training", "--only",
                                     "resnet_training", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const auto ours = rowsOf(shop.file("results.json"));
  CHECK(ours.size() == 4); // each model in f32 and bf16
  for (const auto& [key, row] : ours) {
    INFO(key);
    CHECK(row["bytes"].get<double>() > 0);
    CHECK(row["predicted"].get<double>() > 0);
    CHECK(row["checks"].size() == (key.starts_with("gpt_training/") ? 3 : 2));
    CHECK(row["checks"][0]["against"] == "the loss is finite");
  }
  CHECK(rowsOf(shop.file("results.json"), "torch_gpt.py").at("gpt_training/small/bf16/2x64")["bytes"] ==
        5000);
  const auto failed = rowsOf(shop.file("results.json"), "jax_resnet.py");
  CHECK_THAT(failed.at("resnet_training/18/f32/2x32")["notMeasured"].get<std::string>(),
             containing("--width 8 --channels 3 --classes 10 --feed host --quick"));
}

TEST_CASE("dfc-bench: a baseline that takes too long is ended and says so") {
  if (!pythonIsHere()) {
    DFC_SKIP("baselines are scripts, and there is no python3");
  }
  const Workshop shop;
  shop.write("baseline.py", "");
  shop.write("torch_adds.py", baselineScript("import time\ntime.sleep(600)"));
  const Outcome outcome = shop.bench(bench(
      "baselines", {"--scripts", shop.path().string(), "--only", "dependent_adds", "--script-limit", "1"}));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out, containing("took more than 1 s"));
}

TEST_CASE("dfc-bench: calls of cuBLASLt are a program's, and without it or a GPU a row that says why") {
  const Workshop shop;
  shop.write("baseline.py", "");
  const Outcome outcome =
      shop.bench(bench("baselines", {"--scripts", shop.path().string(), "--only", "dense_backward/relu/f32",
                                     "--backend", "gpu=emulated", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(rowsOf(shop.file("results.json")).at("dense_backward/relu/f32")["seconds"].get<double>() > 0);
  const Json results = Json::parse(readText(shop.file("results.json")));
  REQUIRE(results[0]["rows"].size() == 2);
  const Json& calls = results[0]["rows"][0];
  if (calls.contains("notMeasured")) {
    CHECK_THAT(calls["notMeasured"].get<std::string>(), containing("dfc_cublaslt"));
  } else {
    CHECK(calls["program"] == "cuBLASLt DRELU_BGRAD");
  }
}

TEST_CASE("dfc-bench: mistakes are told before anything is measured") {
  const Workshop shop;
  shop.write("other.json", "{\"name\": \"a machine\"}");
  const auto failsWith = [&](const std::vector<std::string>& words, const std::string& message) {
    const Outcome outcome = shop.bench(words);
    INFO(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, containing(message));
  };
  failsWith({"experiment"}, "did you mean 'experiments'?");
  failsWith(bench("experiments", {"--only", "C1"}), "products_on_gpus and mlp_training/1gpu/f32/64");
  failsWith({"peers"}, "dfc-bench baselines");
  failsWith(bench("experiments", {"-o", "other.json"}), "holds no JSON array of results");
  failsWith(bench("experiments", {"-o", "nowhere/results.json"}), "its folder does not exist");
  failsWith(bench("experiments", {"--traces", "other.json"}), "cannot be a folder for traces");
  failsWith(bench("baselines", {"--scripts", "nowhere"}), "is no folder with the baselines' scripts");
  failsWith({"experiments", "--backend", "gpu=cuba"}, "there is no backend 'cuba'");
  failsWith(bench("experiments", {"--no-kernel-cache", "--kernel-cache", "here"}), "kernel-cache excludes");
  CHECK(readText(shop.file("other.json")) == "{\"name\": \"a machine\"}");
}
