// Numbers of the command line: legal ranges said in words, time limits, and counts with the right noun.
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

const std::string counter = "graph counter {\n  parameter seen : f32[] = zeros()\n  next = seen + 1\n"
                            "  assign(seen, next)\n  fetch seen = next\n}\n";

struct Case {
  std::vector<std::string> words;
  std::string error;
};

} // namespace

TEST_CASE("dfc run: a number out of its range is told the range, shortly") {
  const Workshop shop;
  shop.write("counter.dfg", counter);
  const std::string counts = "is not a whole number from 1 to 1000000000000";
  const std::string limits = "is not a number of seconds from 0 to 1000000000";
  const std::vector<Case> cases = {
      {{"--steps", "0"}, "--steps: '0' " + counts},
      {{"--steps", "abc"}, "--steps: 'abc' " + counts},
      {{"--steps", "1e3"}, "--steps: '1e3' " + counts},
      {{"--steps", "99999999999999999999"}, "--steps: '99999999999999999999' " + counts},
      {{"--epochs=-3"}, "--epochs: '-3' " + counts},
      {{"--shuffle=-1"}, "--shuffle: '-1' is not a whole number from 0 to 18446744073709551615"},
      {{"--timeout=-1"}, "--timeout: '-1' " + limits},
      {{"--timeout", "inf"}, "--timeout: 'inf' " + limits},
      {{"--timeout", "nan"}, "--timeout: 'nan' " + limits},
  };
  for (const Case& wrong : cases) {
    std::vector<std::string> words = {"run", "counter.dfg"};
    words.insert(words.end(), wrong.words.begin(), wrong.words.end());
    const Outcome outcome = shop.dfc(words);
    CHECK(outcome.status == 1);
    CHECK(outcome.err == "error: " + wrong.error + "\n  hint: see dfc run --help\n");
  }
}

TEST_CASE("dfc run: the smallest time limit stops the first step, as the machine's failure") {
  const Workshop shop;
  shop.write("counter.dfg", counter);
  const Outcome late = shop.dfc({"run", "counter.dfg", "--timeout", "0.0000001"});
  CHECK(late.status == 2);
  CHECK_THAT(late.err, startingWith("error: step 0 took longer than its limit of 1e-07 s; "));
  CHECK(shop.dfc({"run", "counter.dfg", "--timeout", "1000"}).status == 0);
  CHECK(shop.dfc({"run", "counter.dfg", "--timeout", "0"}).status == 0); // no limit
}

TEST_CASE("dfc run: one step, two steps; inputs and copies are no computations") {
  const Workshop shop;
  shop.write("counter.dfg", counter);
  CHECK_THAT(shop.dfc({"run", "counter.dfg"}).out, containing("\n1 step in "));
  CHECK_THAT(shop.dfc({"run", "counter.dfg", "--steps", "2"}).out, containing("\n2 steps in "));
  shop.write("product.dfg", "graph product {\n  input x : f32[4, 4]\n  input y : f32[4, 4]\n"
                            "  z = matmul(x, y)\n  fetch z\n}\n");
  // The operands go to gpu1 and the product comes back.
  const std::vector<std::string> words = {"compile", "product.dfg", "-m", machineFile("cpu-2gpu"),
                                          "--pin",   "z=gpu1"};
  CHECK_THAT(shop.dfc(words).out,
             startingWith("product for cpu-2gpu: 6 ops of the plan (1 computation, 3 transfers of "));
  std::vector<std::string> json = words;
  json.emplace_back("--json");
  CHECK(Json::parse(shop.dfc(json).out)["computations"] == 1);
}

TEST_CASE("dfc: the ops of a plan are counted alike by every verb, and told from those of the graph") {
  const Workshop shop;
  // A plan has fewer ops than its graph: mul and add become one computation.
  shop.write("g.dfg", "graph g {\n  input x : f32[4096, 64]\n  h = add(mul(x, 3), x) on gpu1\n"
                      "  y = matmul(transpose(h), h) on gpu1\n  fetch y\n}\n");
  const Outcome compiled = shop.dfc({"compile", "g.dfg", "-m", "cpu-2gpu", "-o", "g.plan", "--json"});
  REQUIRE(compiled.status == 0);
  const Json plan = Json::parse(compiled.out);
  const int all = plan["opsOfPlan"], inputs = 1;
  CHECK(all == plan["computations"].get<int>() + plan["transfers"].get<int>() + inputs);
  int queued = 0;
  const Json simulated = Json::parse(shop.dfc({"simulate", "g.plan", "--json"}).out);
  for (const Json& queue : simulated["queues"]) {
    queued += queue["ops"].get<int>();
  }
  CHECK(queued == all);
  const std::string counted = std::to_string(all) + " ops of the plan (";
  CHECK_THAT(shop.dfc({"compile", "g.dfg", "-m", "cpu-2gpu"}).out, containing(counted));
  CHECK_THAT(shop.dfc({"simulate", "g.plan"}).out, containing("ops of plan "));
  shop.write("free.dfg", "graph free {\n  input x : f32[4096, 64]\n  y = matmul(x, transpose(x))\n"
                         "  fetch y\n}\n");
  CHECK_THAT(shop.dfc({"explain", "free.dfg", "-m", "cpu-2gpu", "--policy", "split", "--quick"}).out,
             containing("\nops of the graph, by share of their seconds\n"));
  REQUIRE(shop.dfc({"view", "g.dfg", "--what=graph", "-o", "g.dot"}).status == 0);
  CHECK_THAT(readText(shop.file("g.dot")), containing(" ops of the graph, 1 fetch"));
  REQUIRE(shop.dfc({"view", "g.plan", "--what=graph", "-o", "p.dot"}).status == 0);
  CHECK_THAT(readText(shop.file("p.dot")), containing(" of the compiled graph, 1 fetch"));
}

TEST_CASE("dfc: what placed the ops is told as a placement, not as a policy that could be typed") {
  const Workshop shop;
  shop.write("counter.dfg", counter);
  const Outcome text = shop.dfc({"compile", "counter.dfg", "-m", "cpu"});
  CHECK_THAT(text.out, containing(", placement: cpu0 alone\n"));
  CHECK(text.out.find("policy") == std::string::npos);
  const Json json = Json::parse(shop.dfc({"compile", "counter.dfg", "-m", "cpu", "--json"}).out);
  CHECK(json["placement"] == "cpu0 alone");
  CHECK_FALSE(json.contains("policy"));
}

TEST_CASE("dfc run: beside an emulated device's time the prediction says what it is for") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  constant x : f32[4] = [1, 2, 3, 4]\n  parameter w : f32[4] = zeros()\n"
                      "  y = w + x\n  fetch y\n}\n");
  const Outcome emulated = shop.dfc(
      {"run", "g.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "y=gpu0", "--backend", "gpu=emulated"});
  INFO(emulated.err);
  CHECK(emulated.status == 0);
  CHECK_THAT(emulated.out, containing(" a step, is for the real machine 'cpu-2gpu', not for this run)\n"));
  const Outcome other = shop.dfc({"run", "g.dfg", "-m", machineFile("cpu")});
  CHECK_THAT(other.out, containing(" a step, is for the real machine 'cpu', not for this run)\n"));
  REQUIRE(shop.dfc({"machine", "--estimate", "-o", "here.json"}).status == 0);
  const Outcome real = shop.dfc({"run", "g.dfg", "-m", "here.json", "--pin", "y=cpu0"});
  CHECK_THAT(real.out, containing(" a step (predicted "));
}

TEST_CASE("dfc: a prediction from estimated rates says so") {
  const Workshop shop;
  shop.write("counter.dfg", counter);
  const std::string said = "; rates are estimates: dfc machine -o here.json measures them";
  CHECK_THAT(shop.dfc({"run", "counter.dfg"}).out, containing(said));
  CHECK_THAT(shop.dfc({"simulate", "counter.dfg"}).out, containing(said));
  CHECK_THAT(shop.dfc({"run", "counter.dfg", "-m", "cpu"}).out, !containing(said));
  REQUIRE(shop.dfc({"compile", "counter.dfg", "-m", "cpu", "-o", "counter.plan"}).status == 0);
  CHECK_THAT(shop.dfc({"run", "counter.plan"}).out, !containing(said));
}

TEST_CASE("dfc run: devices that have nothing to do are named once") {
  const Workshop shop;
  shop.write("counter.dfg", counter);
  const Outcome outcome = shop.dfc({"run", "counter.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "*=cpu0"});
  INFO(outcome.err);
  CHECK_THAT(outcome.out, containing("not used: gpu0, gpu1\n"));
  CHECK_THAT(outcome.out, containing("cpu0: cpu"));
  CHECK_THAT(outcome.out, !containing("gpu0: "));
}
