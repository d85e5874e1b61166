// `dfc run`: NumPy files in and out, state, traces, backends, kernels.
#include "runtime/files/npz.h"
#include "runtime/files/safetensors.h"
#include "tests/support/golden.h"
#include "tests/tools/run_workshop.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace dfc;
using namespace dfc::test;
using Json = nlohmann::json;

TEST_CASE("dfc run: NumPy files in, NumPy files out") {
  const Bench bench;
  const Outcome outcome = bench.dfc({"run", "affine.dfg", "--feed", "x=x.npy", "--feed", "y=y.npy", "--fetch",
                                     "z=z.npy", "--fetch", "z=both.npz", "--fetch", "total=both.npz"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, containing("z: f32[4] = 12 42 92 162\n"));
  CHECK_THAT(outcome.out, containing("total: f32[] = 308\n")); // 12 + 42 + 92 + 162
  CHECK_THAT(outcome.out, containing("wrote z.npy\n"));
  CHECK(load(bench, "z.npy") == floats({4}, expectedZ));
  const auto archive = readNpz(bench.file("both.npz"));
  REQUIRE(archive.ok());
  CHECK(archive->at("z") == floats({4}, expectedZ));
  CHECK(archive->at("total") == Literal::scalar(308.0F));
}

TEST_CASE("dfc run: how a fetch that is too large to show is printed or saved") {
  const Bench bench;
  bench.write("g.dfg", "graph g {\n  parameter v : f32[13] = constant(2)\n  fetch v\n}\n");
  CHECK_THAT(bench.dfc({"run", "g.dfg"}).out,
             containing("v: f32[13] (--fetch v prints it, --fetch v=FILE.npy saves it)\n"));
  CHECK_THAT(bench.dfc({"run", "g.dfg", "--fetch", "v=v.npy"}).out, containing("v: f32[13]\n"));
  CHECK_THAT(bench.dfc({"run", "g.dfg", "--fetch", "v"}).out, containing("v: f32[13] = 2 2 2"));
}

TEST_CASE("dfc run: a label that names no class is an error where the graph takes it") {
  const Bench bench;
  const auto graph = [](const std::string& labels) {
    return "graph labelled {\n  input logits : f32[2, 3]\n  input labels : i64[4]\n  pair = " + labels +
           "\n  loss = softmaxCrossEntropy(logits, pair)\n  fetch loss\n}\n";
  };
  bench.write("half.dfg", graph("slice(labels, starts=[0], ends=[2])"));
  save(bench, "two.npy", floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  save(bench, "four.npy", floats({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}));
  const std::vector<int64_t> classes = {0, 2, 1, 3}; // 3 is the first that three classes lack
  save(bench, "labels.npy", Literal({4}, std::span<const int64_t>(classes)));
  const std::string wrong = "labels.npy: error: row 3 is 3, but op 'loss' has 3 classes, 0 to 2\n"
                            "  hint: labels are counted from 0; any other gives a loss that is NaN\n";
  const Outcome half =
      bench.dfc({"run", "half.dfg", "--feed", "logits=two.npy", "--feed", "labels=labels.npy"});
  CHECK(half.status == 0);
  CHECK(half.err.empty()); // row 3 is never taken
  bench.write("rest.dfg", graph("slice(labels, starts=[2], ends=[4])"));
  const Outcome rest =
      bench.dfc({"run", "rest.dfg", "--feed", "logits=two.npy", "--feed", "labels=labels.npy"});
  CHECK(rest.status == 1);
  CHECK(rest.err == wrong);
  std::string whole = graph("reshape(labels, shape=[4])");
  whole.replace(whole.find("f32[2, 3]"), 9, "f32[4, 3]");
  bench.write("whole.dfg", whole);
  const Outcome all =
      bench.dfc({"run", "whole.dfg", "--feed", "logits=four.npy", "--feed", "labels=labels.npy"});
  CHECK(all.status == 1);
  CHECK(all.err == wrong);
  save(bench, "few.npy", Literal({3}, std::span<const int64_t>(classes).last(3)));
  const Outcome few =
      bench.dfc({"run", "whole.dfg", "--feed", "logits=four.npy", "--feed", "labels=few.npy"});
  CHECK_THAT(few.err,
             startingWith("few.npy: error: holds i64[3], but input 'labels' is i64[4]: it has 3 rows, "
                          "too few for one batch of 4\n"));
}

TEST_CASE("dfc run --any-indices: what is out of range passes, for graphs that mask it") {
  const Bench bench;
  bench.write("g.dfg", "graph g {\n  input ids : i64[2]\n  parameter table : f32[4, 1] = constant(2)\n"
                       "  y = gather(table, ids)\n  fetch y\n}\n");
  const std::vector<int64_t> ids = {0, 9};
  save(bench, "ids.npy", Literal({2}, std::span<const int64_t>(ids)));
  std::vector<std::string> words = {"run", "g.dfg", "--feed", "ids=ids.npy"};
  CHECK(bench.dfc(words).status == 1);
  words.emplace_back("--any-indices");
  const Outcome passed = bench.dfc(words);
  INFO(passed.err);
  CHECK(passed.status == 0);
  CHECK_THAT(passed.out, containing("y: f32[2, 1] = 2 nan"));
}

TEST_CASE("dfc run: labels out of range are found in the batches that a training takes, split or cast") {
  const Bench bench;
  bench.write("g.dfg", "graph g {\n  input logits : f32[2, 3]\n  input labels : u8[2]\n"
                       "  loss = softmaxCrossEntropy(logits, cast(labels, to=i64))\n  fetch loss\n}\n");
  save(bench, "l.npy", floats({5, 3}, std::vector<float>(15, 1)));
  const std::vector<uint8_t> last = {0, 1, 2, 0, 7}, third = {0, 1, 7, 0, 2};
  save(bench, "last.npy", Literal({5}, std::span<const uint8_t>(last)));
  save(bench, "third.npy", Literal({5}, std::span<const uint8_t>(third)));
  const auto run = [&](const std::string& labels, std::vector<std::string> more) {
    std::vector<std::string> words = {
        "run", "g.dfg", "--feed", "logits=l.npy", "--feed", "labels=" + labels, "--epochs", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return bench.dfc(words);
  };
  CHECK(run("last.npy", {}).status == 0); // the fifth row is left out of batches of two
  CHECK(run("last.npy", {"--shuffle", "1"}).status == 1);
  CHECK_THAT(run("third.npy", {}).err, startingWith("third.npy: error: row 2 is 7, but op 'loss'"));
  const Outcome split = run("third.npy", {"-m", machineFile("cpu-2gpu"), "--policy", "split"});
  CHECK(split.status == 1);
  CHECK_THAT(split.err, startingWith("third.npy: error: row 2 is 7, but op "));
}

TEST_CASE("dfc run: ids that name no row are errors where they give NaN, and notes where they give zeros") {
  const Bench bench;
  const auto graph = [](const std::string& op) {
    return "graph g {\n  input ids : i64[3]\n  parameter table : f32[4, 2] = glorot(seed=1)\n  y = " + op +
           "\n  fetch y\n}\n";
  };
  const std::vector<int64_t> far = {0, -4, 4}, near = {0, -4, 3};
  save(bench, "far.npy", Literal({3}, std::span<const int64_t>(far)));
  save(bench, "near.npy", Literal({3}, std::span<const int64_t>(near)));
  bench.write("gather.dfg", graph("gather(table, ids)"));
  CHECK(bench.dfc({"run", "gather.dfg", "--feed", "ids=near.npy"}).err.empty());
  const Outcome gather = bench.dfc({"run", "gather.dfg", "--feed", "ids=far.npy"});
  CHECK(gather.status == 1);
  CHECK(gather.err == "far.npy: error: row 2 is 4, but op 'y' has 4 slices to gather, -4 to 3\n"
                      "  hint: indices are counted from 0, or below 0 from the end; any other gives NaN\n");
  bench.write("hot.dfg", graph("matmul(oneHot(ids, depth=4), table)"));
  const Outcome hot = bench.dfc({"run", "hot.dfg", "--feed", "ids=far.npy"});
  CHECK(hot.status == 0);
  CHECK_THAT(hot.err, startingWith("far.npy: row 2 is 4, but op 'oneHot' has 4 places, -4 to 3; its row is "
                                   "all zeros\n"));
  CHECK(bench.dfc({"run", "hot.dfg", "--feed", "ids=near.npy"}).err.empty());
}

TEST_CASE("dfc run: integers and truth values are printed whole") {
  const Bench bench;
  bench.write("whole.dfg", R"(graph whole {
  input x : i32[2]
  y = x + 1
  big = compare(y, x, direction=gt)
  fetch y
  fetch big
})");
  save(bench, "x.npy",
       Literal(Shape{2}, std::span<const int32_t>(std::vector<int32_t>{123456788, 16777216})));
  const Outcome words = bench.dfc({"run", "whole.dfg", "--feed", "x=x.npy"});
  INFO(words.err);
  REQUIRE(words.status == 0);
  CHECK_THAT(words.out, containing("y: i32[2] = 123456789 16777217\n"));
  CHECK_THAT(words.out, containing("big: bool[2] = true true\n"));
  const Outcome json = bench.dfc({"run", "whole.dfg", "--feed", "x=x.npy", "--json"});
  CHECK_THAT(json.out, containing("123456789,"));
  CHECK_THAT(json.out, containing("16777217\n"));
  CHECK_THAT(json.out, containing("true,"));
}

TEST_CASE("dfc run: a value that is not a number has no sign") {
  const Bench bench;
  save(bench, "odd.npy", floats({4}, {std::copysign(NAN, -1.0F), NAN, -INFINITY, 1.5F}));
  const Outcome outcome = bench.dfc({"run", "affine.dfg", "--feed", "x=odd.npy", "--feed", "y=y.npy"});
  CHECK_THAT(outcome.out, containing("z: f32[4] = nan nan -inf 62\n"));
}

TEST_CASE("dfc run: --json has words for what JSON has no number for") {
  const Bench bench;
  save(bench, "odd.npy", floats({4}, {NAN, INFINITY, -INFINITY, 1.5F}));
  const Outcome outcome =
      bench.dfc({"run", "affine.dfg", "--feed", "x=odd.npy", "--feed", "y=y.npy", "--steps", "2", "--json"});
  INFO(outcome.err);
  const auto fetches = Json::parse(outcome.out)["fetches"];
  CHECK(fetches["z"]["values"] == Json::array({"nan", "inf", "-inf", 62})); // 1.5 * 40 + 2
  CHECK(fetches["total"]["values"] == Json::array({"nan"}));
  CHECK(fetches["total"]["mean"] == "nan");
  CHECK_THAT(runDfc({"run", "--help"}).out, containing("\"nan\", \"inf\" and \"-inf\""));
}

TEST_CASE("dfc run: compile, simulate, run the plan, fetch: the same as the graph file") {
  const Bench bench;
  REQUIRE(
      bench.dfc({"compile", "affine.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "z=gpu1", "-o", "a.plan"})
          .status == 0);
  REQUIRE(bench.dfc({"simulate", "a.plan"}).status == 0);
  const Outcome outcome = bench.dfc({"run", "a.plan", "--feed", "x=x.npy", "--feed", "y=y.npy", "--fetch",
                                     "z=z.npy", "--backend", "gpu=emulated", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(load(bench, "z.npy") == floats({4}, expectedZ));
  const Json object = Json::parse(outcome.out);
  CHECK(object["steps"] == 1);
  CHECK(object["fetches"]["z"]["values"] == expectedZ);
  CHECK(object["fetches"]["z"]["shape"] == std::vector<int>{4});
  CHECK(object["files"] == std::vector<std::string>{"z.npy"});
  REQUIRE(object["runsOn"].size() == 3);
  CHECK_THAT(object["runsOn"][2].get<std::string>(), containing("gpu1: emulated"));
}

TEST_CASE("dfc run: state is saved, and another run goes on from it") {
  const Bench bench;
  save(bench, "row.npy", floats({2}, {1, 5}));
  REQUIRE(bench
              .dfc({"run", "counting.dfg", "--feed", "row=row.npy", "--steps", "3", "--save-state",
                    "s.safetensors"})
              .status == 0);
  const auto state = readSafetensors(bench.file("s.safetensors"));
  REQUIRE(state.ok());
  CHECK(state->at("sum") == floats({2}, {3, 15}));
  const Outcome more = bench.dfc({"run", "counting.dfg", "--feed", "row=row.npy", "--steps", "2", "--state",
                                  "s.safetensors", "--fetch", "sum=sum.npy"});
  REQUIRE(more.status == 0);
  CHECK(load(bench, "sum.npy") == floats({2}, {5, 25}));
  REQUIRE(writeSafetensors(bench.file("wrong.safetensors"), {{"sum", floats({3}, {1, 2, 3})}}).ok());
  const Outcome wrong =
      bench.dfc({"run", "counting.dfg", "--feed", "row=row.npy", "--state", "wrong.safetensors"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.err, containing("wrong.safetensors: error: "));
  CHECK_THAT(wrong.err, containing("sum"));
}

TEST_CASE("dfc run: a trace of predicted and measured spans") {
  const Bench bench;
  REQUIRE(bench
              .dfc({"run", "affine.dfg", "--feed", "x=x.npy", "--feed", "y=y.npy", "--steps", "30", "--trace",
                    "trace.json"})
              .status == 0);
  const Json trace = Json::parse(readText(bench.file("trace.json")));
  std::set<int> processes; // one of predicted, one of measured spans
  for (const Json& event : trace["traceEvents"]) {
    processes.insert(event["pid"].get<int>());
  }
  CHECK(processes.size() == 2);
}

TEST_CASE("dfc run: the machine's failure is exit status 2") {
  const Bench bench;
  // 40 products of 2 * 512^3 operations are 10.7 GFLOP: 2.7 ms even at 4 TFLOP/s, far over the limit of 0.1
  // ms.
  std::string graph = "graph slow {\n  input x : f32[512, 512]\n  y0 = matmul(x, x)\n";
  for (int i = 1; i < 40; ++i) {
    graph += "  y" + std::to_string(i) + " = matmul(y" + std::to_string(i - 1) + ", x)\n";
  }
  bench.write("slow.dfg", graph + "  fetch y39\n}\n");
  save(bench, "big.npy", Literal(f32({512, 512})));
  const Outcome late = bench.dfc({"run", "slow.dfg", "--feed", "x=big.npy", "--timeout", "0.0001", "--json"});
  CHECK(late.status == 2);
  const Json object = Json::parse(late.err);
  CHECK(object["fault"] == "machine");
  CHECK(object["errors"].size() == 1);
}

TEST_CASE("dfc run: backends by kind of device") {
  const Bench bench;
  const Outcome null = bench.dfc({"run", "affine.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "z=gpu1",
                                  "--pin", "total=gpu0", "--feed", "x=x.npy", "--feed", "y=y.npy",
                                  "--backend", "cpu=null", "--backend", "gpu=null", "--json"});
  INFO(null.err);
  REQUIRE(null.status == 0);
  const Json object = Json::parse(null.out);
  REQUIRE(object["runsOn"].size() == 3); // cpu0, gpu0, gpu1: the pins use them all
  for (const auto& line : object["runsOn"]) {
    CHECK_THAT(line.get<std::string>(), containing("null"));
  }
  const Outcome slip = bench.dfc({"run", "affine.dfg", "--feed", "x=x.npy", "--feed", "y=y.npy", "--backend",
                                  "gpu=emulate", "--backend", "tpu=cpu"});
  CHECK(slip.status == 1);
  CHECK_THAT(slip.err, containing("there is no backend 'emulate'\n  hint: did you mean 'emulated'?"));
  CHECK_THAT(slip.err, containing("there is no device kind 'tpu'"));
}

TEST_CASE("dfc run: a backend for devices that the machine has not plays nothing, and it says so") {
  const Bench bench;
  save(bench, "x.npy", floats({4}, {1, 2, 3, 4}));
  const auto run = [&](const std::string& backend) {
    return bench.dfc({"run", "affine.dfg", "--feed", "x=x.npy", "--feed", "y=x.npy", "-m", machineFile("cpu"),
                      "--backend", backend});
  };
  const Outcome idle = run("gpu=emulated");
  CHECK(idle.status == 0);
  CHECK_THAT(idle.err,
             containing("warning: --backend gpu=emulated plays nothing: machine 'cpu' has no gpu\n"));
  CHECK_THAT(run("cpu=cpu").err, !containing("plays nothing"));
}

TEST_CASE("dfc run: how kernels are launched and kept changes no value") {
  const Bench bench;
  const auto valuesWith = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run",    "affine.dfg", "-m",         "cpu-2gpu", "--pin",
                                      "z=gpu1", "--pin",      "total=gpu0", "--feed",   "x=x.npy",
                                      "--feed", "y=y.npy",    "--json"};
    words.insert(words.end(), {"--backend", "gpu=emulated"});
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = bench.dfc(words);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.out)["fetches"];
  };
  const Json plain = valuesWith({});
  CHECK(plain["z"]["values"] == expectedZ);
  CHECK(valuesWith({"--no-cuda-graph", "--no-merged-launches", "--no-peer-reads", "--no-peer-access",
                    "--kernel-cache", "kept"}) == plain);
  CHECK(valuesWith({"--no-kernel-cache"}) == plain);
}
