// `dfc explain` of a split: shares of the work, parameters, what devices send one another, the bound of all
// splits.
#include "tests/tools/explain/explain_workshop.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;

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

TEST_CASE("dfc explain: every parameter is counted, with its layout and its bytes") {
  const Workshop shop;
  const Json said = explained({wide(shop), "-m", "cpu-2gpu", "--policy", "split", "--quick"});
  REQUIRE(said["parameters"].size() == 1);
  CHECK(said["parameters"][0]["names"] == "w");
  CHECK(said["parameters"][0]["type"] == "f32[4096, 4096]");
  // Columns of w need no sum of partials; all of x is fed to both devices behind the step before.
  // The search may add a replica of the other part, which no op waits for.
  const std::string layout = said["parameters"][0]["layout"];
  const bool hasReplicas = layout == "cut along axis 1 over 2; replicas of the parts on 2";
  CHECK((hasReplicas || layout == "cut along axis 1 over 2"));
  CHECK(said["parameters"][0]["bytesPerDevice"] == 4096 * 2048 * 4 * (hasReplicas ? 2 : 1));
  const Json feeds = rowOf(said["copies"], "kind", "feeds");
  CHECK(feeds["bytesPerDevice"] == 8192 * 4096 * 4);
}

TEST_CASE("dfc explain: where links take no time, each device holds its part alone") {
  const Workshop shop;
  const Json said = explained({wide(shop, 2048), "-m", freeLinks(shop), "--policy", "split"});
  REQUIRE(said["parameters"].size() == 1);
  const std::string layout = said["parameters"][0]["layout"]; // along either axis: that costs the same
  CHECK((layout == "cut along axis 0 over 2" || layout == "cut along axis 1 over 2"));
  CHECK(said["parameters"][0]["bytesPerDevice"] == 4096 * 1024 * 4);
  // Faster links would change nothing.
  CHECK(changesOf(said) == std::vector<std::string>{"one more device like gpu1", "twice their memory"});
}

TEST_CASE("dfc explain: peer reads are those of the plan, not copies without link seconds") {
  const Workshop shop;
  const std::vector<std::string> words = {wide(shop, 2048), "-m",    freeLinks(shop),
                                          "--policy",       "split", "--quick"};
  const Json said = explained(words);
  CHECK(rowOf(said["copies"], "kind", "sum on one")["peerReads"] == 1);
  CHECK(rowOf(said["copies"], "kind", "reduce-scatter")["peerReads"] == 0);
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
