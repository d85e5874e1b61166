// `dfc-bench`: every experiment runs on emulated GPUs and says what it found, as a table and as JSON; scripts
// of peers are run, read and held against. No time is asserted.
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/bench_rows.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

const std::vector<std::string> emulated = {"--quick", "--backend", "gpu=emulated"};

std::vector<std::string> bench(const std::string& what, const std::vector<std::string>& more) {
  std::vector<std::string> words = {what};
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
  std::set<std::string> measured, wrong;
  for (const auto& [key, row] : rows) {
    CHECK_THAT(outcome.out, containing(key));
    if (row.contains("seconds")) {
      measured.insert(key.substr(0, 2));
      CHECK(row["least"] <= row["seconds"]);
      CHECK(row["seconds"] <= row["most"]);
    }
    CHECK_FALSE(row.contains("failure"));
  }
  CHECK(measured == std::set<std::string>{"A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "B1", "B2",
                                          "B3", "K1", "K2"});
  CHECK(rows.at("A9/dags")["checks"][0]["holds"] == true);
  for (const char* way : {"1gpu", "2gpu", "2gpu-exchange", "figure"}) {
    CHECK(rows.at(std::string("B3/results/") + way + "/f32")["checks"][0]["holds"] == true);
  }
  CHECK(rows.at("A4/net/64")["checks"][1]["holds"] == true); // fc2 beside fc1 backward, in the plan
  CHECK(Json::parse(readText(shop.path() / "traces" / "A8.1gpu.trace.json"))["traceEvents"].size() > 10);
}

TEST_CASE("dfc-bench: results are added to a file, and printed with --json") {
  const Workshop shop;
  const auto words = bench("experiments", {"--only", "B3/1gpu/*/16", "-o", "results.json", "--json"});
  const Outcome first = shop.bench(words);
  INFO(first.err);
  REQUIRE(first.status == 0);
  REQUIRE(shop.bench(words).status == 0);
  const Json kept = Json::parse(readText(shop.file("results.json")));
  CHECK(kept.size() == 2);
  const Json printed = Json::parse(first.out);
  REQUIRE(printed["rows"].size() == 1);
  CHECK(printed["rows"] == kept[0]["rows"]);
  CHECK(printed["gpus"] == "emulated");
  CHECK(printed["devices"].size() == 3);
}

TEST_CASE("dfc-bench: rows that a machine has no devices for say so, and a pattern for no row is named") {
  const Workshop shop;
  for (const char* only : {"A2/both", "A3", "B1/early", "B2/dependent", "K1/softmax"}) {
    INFO(only);
    const Outcome outcome = shop.bench({"experiments", "--quick", "-m", "cpu", "--only", only});
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.out, containing("the machine has no GPU"));
    CHECK_THAT(outcome.err, !containing("there is no such row"));
  }
  const Outcome half = shop.bench({"experiments", "--quick", "-m", "cpu", "--only", "A1", "--only", "A11"});
  CHECK(half.status == 0);
  CHECK_THAT(half.err, containing("warning: --only 'A11': there is no such row"));
}

TEST_CASE("dfc-bench: peers' answers stand beside our rows") {
  if (!pythonIsHere()) {
    DFC_SKIP("peers are scripts, and there is no python3");
  }
  const Workshop shop;
  shop.write("peer.py", "");
  shop.write("torch_net.py", peerScript());
  shop.write("jax_net.py", peerScript("sys.exit('JAX is not at home')"));
  const Outcome outcome = shop.bench(
      bench("peers", {"--scripts", shop.path().string(), "--only", "B3/1gpu/f32/16", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const Json ours = rowsOf(shop.file("results.json")).at("B3/1gpu/f32/16");
  REQUIRE(ours["checks"].size() == 2);
  CHECK(ours["checks"][0]["against"] == "fast");
  CHECK(ours["checks"][0]["ratio"].get<double>() == Approx(ours["seconds"].get<double>()));
  CHECK(ours["checks"][1]["ratio"].get<double>() == Approx(ours["seconds"].get<double>() / 2));
  const Json slow = rowsOf(shop.file("results.json"), "slow").at("B3/1gpu/f32/16");
  CHECK(slow["most"] == 3);
  const Json absent = rowsOf(shop.file("results.json"), "jax_net.py").at("B3/1gpu/f32/16");
  CHECK_THAT(absent["notMeasured"].get<std::string>(), containing("JAX is not at home"));
}

TEST_CASE("dfc-bench: a peer that takes too long is ended and says so") {
  if (!pythonIsHere()) {
    DFC_SKIP("peers are scripts, and there is no python3");
  }
  const Workshop shop;
  shop.write("peer.py", "");
  shop.write("torch_adds.py", peerScript("import time\ntime.sleep(600)"));
  const Outcome outcome = shop.bench(
      bench("peers", {"--scripts", shop.path().string(), "--only", "B2/dependent", "--script-limit", "1"}));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out, containing("took more than 1 s"));
}

TEST_CASE("dfc-bench: calls of cuBLASLt are a program's, and without it or a GPU a row that says why") {
  const Workshop shop;
  shop.write("peer.py", "");
  const Outcome outcome =
      shop.bench(bench("peers", {"--scripts", shop.path().string(), "--only", "K2/relu/f32", "--backend",
                                 "gpu=emulated", "-o", "results.json"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(rowsOf(shop.file("results.json")).at("K2/relu/f32")["seconds"].get<double>() > 0);
  const Json results = Json::parse(readText(shop.file("results.json")));
  REQUIRE(results[0]["rows"].size() == 2);
  const Json& calls = results[0]["rows"][0];
  if (calls.contains("notMeasured")) {
    CHECK_THAT(calls["notMeasured"].get<std::string>(), containing("dfc_cublaslt"));
  } else {
    CHECK(calls["who"] == "cuBLASLt DRELU_BGRAD");
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
  failsWith(bench("experiments", {"--only", "C1"}), "A2/both and B3/1gpu/f32/64");
  failsWith(bench("experiments", {"-o", "other.json"}), "holds no JSON array of results");
  failsWith(bench("experiments", {"-o", "nowhere/results.json"}), "its folder does not exist");
  failsWith(bench("experiments", {"--traces", "other.json"}), "cannot be a folder for traces");
  failsWith(bench("peers", {"--scripts", "nowhere"}), "is no folder with the peers' scripts");
  failsWith({"experiments", "--backend", "gpu=cuba"}, "there is no backend 'cuba'");
  failsWith(bench("experiments", {"--no-kernel-cache", "--kernel-cache", "here"}), "kernel-cache excludes");
  CHECK(readText(shop.file("other.json")) == "{\"name\": \"a machine\"}");
}
