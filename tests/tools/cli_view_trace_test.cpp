// `dfc view --trace`: predicted beside measured, as a picture, in words and as JSON; and what it refuses.
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

/// A step of gradient descent over a cpu and a gpu, without inputs.
constexpr const char* small = R"(graph small {
  parameter w : f32[64] = constant(1) on cpu0
  scope "forward" on gpu0 { y = tanh(w * w) }
  scope "update" on cpu0 {
    next = w - 0.1 * exp(y)
    done = assign(w, next)
  }
  fetch done
}
)";

struct TracedRun {
  Workshop shop;
  TracedRun() {
    shop.write("small.dfg", small);
    REQUIRE(shop.dfc({"compile", "small.dfg", "-m", machineFile("cpu-2gpu"), "-o", "small.plan"}).status ==
            0);
    const Outcome run = shop.dfc(
        {"run", "small.plan", "--steps", "3", "--backend", "gpu=emulated", "--trace", "measured.json"});
    INFO(run.err);
    REQUIRE(run.status == 0);
  }
};

} // namespace

TEST_CASE("dfc view --trace: totals, busy times and the critical path") {
  const TracedRun traced;
  const Outcome text = traced.shop.dfc({"view", "small.plan", "--trace", "measured.json", "--step", "1"});
  INFO(text.err);
  REQUIRE(text.status == 0);
  for (const std::string part :
       {"small on cpu-2gpu, step 1 of the trace\n", "measured / predicted ", "lower bound ", "gpu0 copyIn ",
        "\ngpu0 was emulated by the host: measured times there are not those of a GPU\n",
        "critical path of what was measured: ", "the start of the step", ", a wait"}) {
    CHECK_THAT(text.out, containing(part));
  }
  // The dearest first: ops, kinds, scopes; then the rest.
  size_t at = 0;
  for (const std::string title : {"\ndearest ops ", "\ndearest op kinds ", "\ndearest scopes ", "\nqueue "}) {
    INFO(title);
    REQUIRE(text.out.find(title, at) != std::string::npos);
    at = text.out.find(title, at) + 1;
  }
  CHECK(text.out.find("predicted / measured") == std::string::npos); // one direction everywhere
  const Outcome median = traced.shop.dfc({"view", "small.plan", "--trace", "measured.json"});
  CHECK_THAT(median.out, containing(", of median length among 3\n"));
}

TEST_CASE("dfc view --trace: the columns of the critical path hold the longest name") {
  const Workshop shop;
  shop.write("long.dfg", "graph long {\n  parameter x : f32[4, 4] = zeros()\n"
                         "  aNameThatIsLongerThanTheColumnWasMadeFor = matmul(x, x)\n"
                         "  y = matmul(aNameThatIsLongerThanTheColumnWasMadeFor, x)\n  fetch y\n}\n");
  REQUIRE(shop.dfc({"run", "long.dfg", "--trace", "long.json"}).status == 0);
  std::string out = shop.dfc({"view", "long.dfg", "--trace", "long.json"}).out;
  std::erase(out, '\xc2'); // of "µs", so that columns are bytes
  INFO(out);
  const size_t head = out.find("    begins ");
  const size_t row = out.find(" the start of the step", head);
  REQUIRE(row != std::string::npos);
  CHECK(row - out.rfind('\n', row) == out.find(" after\n", head) - out.rfind('\n', head));
}

TEST_CASE("dfc view --trace --json: durations and gaps of the path are the measured time") {
  const TracedRun traced;
  const Outcome out = traced.shop.dfc({"view", "small.plan", "--trace", "measured.json", "--json"});
  REQUIRE(out.status == 0);
  const Json report = Json::parse(out.out);
  CHECK(report["runsOn"] == Json{{"cpu0", "cpu"}, {"gpu0", "emulated"}}); // the plan does not use gpu1
  double share = 0, before = 1e9;
  for (const Json& row : report["dearest"]["kinds"]) { // fewer than ten kinds: together all of the step
    share += row["share"].get<double>();
    CHECK(row["seconds"].get<double>() <= before);
    before = row["seconds"];
    CHECK(row["count"].get<int>() >= 1);
    CHECK(row.contains("predictedSeconds"));
  }
  CHECK(share == Approx(1));
  CHECK(report["dearest"]["ops"].size() <= 10);
  CHECK(report["dearest"]["scopes"].size() >= 1);
  double sum = 0;
  std::string last;
  for (const Json& op : report["criticalPath"]["ops"]) {
    CHECK(op["because"] == (last.empty() ? "begin" : op["because"] == "queue" ? "queue" : "wait"));
    CHECK(op["after"] == (last.empty() ? Json() : Json(last)));
    sum += op["seconds"].get<double>() + op["gapSeconds"].get<double>();
    last = op["op"];
  }
  CHECK(std::abs(sum - report["measuredSeconds"].get<double>()) < 1e-9);
  CHECK(report["measuredOverPredicted"].get<double>() ==
        Approx(report["measuredSeconds"].get<double>() / report["predictedSeconds"].get<double>()));
  CHECK(report["predictedSeconds"] > report["lowerBoundSeconds"].get<double>() * 0.999);
  double copies = 0; // w goes to the gpu, y comes back
  for (const Json& queue : report["queues"]) {
    copies +=
        queue["name"].get<std::string>().find("copy") != std::string::npos ? queue["ops"].get<int>() : 0;
  }
  CHECK(copies >= 2);
}

TEST_CASE("dfc view --trace: what launching a step takes is told apart from its ops") {
  const Workshop shop;
  std::string machine = readText(machineFile("cpu-2gpu"));
  for (size_t at = 0; (at = machine.find("\"launch\": 2.5e-06", at)) != std::string::npos; ++at) {
    machine.insert(at, "\"stepOverhead\": 5e-06, ");
    at += 30;
  }
  shop.write("slow.json", machine);
  shop.write("gpu.dfg",
             "graph gpu { parameter w : f32[64] = constant(1) on gpu0\n y = tanh(w) on gpu0\n fetch y }");
  REQUIRE(shop.dfc({"compile", "gpu.dfg", "-m", "slow.json", "-o", "gpu.plan"}).status == 0);
  REQUIRE(shop.dfc({"run", "gpu.plan", "--trace", "t.json"}).status == 0);
  const Outcome text = shop.dfc({"view", "gpu.plan", "--trace", "t.json"});
  REQUIRE(text.status == 0);
  CHECK_THAT(text.out, containing("launching the step takes another 5.00 µs before its first op"));
  const Json report = Json::parse(shop.dfc({"view", "gpu.plan", "--trace", "t.json", "--json"}).out);
  CHECK(std::abs(report["launchSeconds"].get<double>() - 5e-6) < 1e-12);
  const Json simulated = Json::parse(shop.dfc({"simulate", "gpu.plan", "--json"}).out);
  CHECK(std::abs(report["predictedSeconds"].get<double>() + 5e-6 -
                 simulated["makespanSeconds"].get<double>()) < 1e-12);
}

TEST_CASE("dfc view --trace: the picture") {
  const TracedRun traced;
  const Outcome dot = traced.shop.dfc({"view", "small.plan", "--trace", "measured.json", "-o", "m.dot"});
  INFO(dot.err);
  REQUIRE(dot.status == 0);
  CHECK_THAT(dot.out, containing("wrote m.dot\n"));
  const std::string text = readText(traced.shop.file("m.dot"));
  for (const std::string part :
       {"digraph", "cpu0 computes", "gpu0 copies in", "forward", "how to read this"}) {
    CHECK_THAT(text, containing(part));
  }
  CHECK_THAT(text, containing("gpu0 was emulated by the host"));
  REQUIRE(traced.shop.dfc({"view", "small.plan", "--trace", "measured.json", "-o", "m.html"}).status == 0);
  CHECK_THAT(readText(traced.shop.file("m.html")),
             containing(R"("standIns":"gpu0 was emulated by the host: measured times there are not)"));
  if (std::system("dot -V >/dev/null 2>&1") == 0) {
    REQUIRE(traced.shop.dfc({"view", "small.plan", "--trace", "measured.json", "-o", "m.svg"}).status == 0);
    CHECK_THAT(readText(traced.shop.file("m.svg")), containing("</svg>"));
  }
}

TEST_CASE("dfc view --trace: what it cannot draw, it says") {
  const TracedRun traced;
  const Workshop& shop = traced.shop;
  const Outcome step = shop.dfc({"view", "small.plan", "--trace", "measured.json", "--step", "3"});
  CHECK(step.status == 1);
  CHECK(step.err == "measured.json: error: has no step 3 that is whole\n"
                    "  hint: it has 3 steps from 0 to 2; without --step the one of median length is drawn\n");

  std::string other(small);
  other.replace(other.find("tanh"), 4, "relu");
  other.replace(other.find("next"), 4, "then");
  other.replace(other.rfind("next"), 4, "then");
  shop.write("other.dfg", other);
  REQUIRE(shop.dfc({"compile", "other.dfg", "-m", machineFile("cpu-2gpu"), "-o", "other.plan"}).status == 0);
  const Outcome wrong = shop.dfc({"view", "other.plan", "--trace", "measured.json", "-o", "w.svg"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.err, startingWith("measured.json:"));
  CHECK_THAT(wrong.err, containing("the trace of another plan: "));
  CHECK_THAT(wrong.err, containing("hint: run this plan again with dfc run PLAN --trace FILE.json"));
  CHECK_FALSE(std::filesystem::exists(shop.file("w.svg")));

  const std::string whole = readText(shop.file("measured.json"));
  shop.write("cut.json", whole.substr(0, whole.size() / 2));
  const Outcome cut = shop.dfc({"view", "small.plan", "--trace", "cut.json"});
  CHECK(cut.status == 1);
  CHECK_THAT(cut.err, startingWith("cut.json:"));
  CHECK_THAT(cut.err, containing("hint: "));
  CHECK(shop.dfc({"view", "small.plan", "--trace", "absent.json"}).status == 1);

  CHECK(shop.dfc({"view", "small.plan", "--trace", "measured.json", "--what=schedule"}).err ==
        "error: --trace is a picture of its own, --what=schedule another\n  hint: leave one of them out\n");
  CHECK(shop.dfc({"view", "small.plan", "--what=schedule", "--step", "1"}).err ==
        "error: --step chooses among the steps of a trace\n  hint: add --trace FILE.json\n");
  CHECK(shop.dfc({"view", "small.plan"}).err ==
        "error: what should be drawn?\n"
        "  hint: say --what and one of: graph, placed, figure, schedule, for a picture (.svg, .png or .dot), "
        "for "
        "example --what=figure; --trace and the trace of a run; or -o FILE.html for one page of all\n");
  const Outcome picture = shop.dfc({"view", "small.plan", "-o", "a.dot"});
  CHECK(picture.status == 0);
  CHECK(picture.err ==
        "draws --what=figure; other pictures: graph, placed, schedule; -o FILE.html has all\n");
  CHECK(picture.out == "wrote a.dot\n");
  CHECK(shop.dfc({"view", "small.plan", "--trace", "measured.json", "-o", "measured.json"}).status == 1);
}
