// `dfc run`: NumPy files in and out, batches, epochs, state, traces, backends; and what it says to wrong
// feeds.
#include "runtime/data/shuffle.h"
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "runtime/files/safetensors.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace dfc;
using namespace dfc::test;
using Json = nlohmann::json;

namespace {

const char* affine = R"(graph affine {
  input x : f32[4]
  input y : f32[4]
  z = x * y + 2
  total = reduceSum(z)
  fetch z
  fetch total
}
)";

// Counts the rows that were fed and remembers their sum.
const char* counting = R"(graph counting {
  input row : f32[2]
  parameter seen : f32[] = zeros()
  parameter sum : f32[2] = zeros()
  seenNext = seen + 1
  assign(seen, seenNext)
  sumNext = sum + row
  assign(sum, sumNext)
  first = reduceSum(row)
  fetch first
  fetch seen = seenNext
  fetch sum = sumNext
}
)";

Literal floats(const Shape& shape, std::vector<float> values) {
  return Literal(shape, std::span<const float>(values));
}

void save(const Workshop& shop, const std::string& name, const Literal& value) {
  REQUIRE(writeNpy(shop.file(name), value).ok());
}

Literal load(const Workshop& shop, const std::string& name) {
  const auto value = readNpy(shop.file(name));
  INFO(render(value.errors()));
  REQUIRE(value.ok());
  return *value;
}

/// A workshop with both graphs and feeds x = 1 2 3 4, y = 10 20 30 40.
struct Bench : Workshop {
  Bench() {
    write("affine.dfg", affine);
    write("counting.dfg", counting);
    save(*this, "x.npy", floats({4}, {1, 2, 3, 4}));
    save(*this, "y.npy", floats({4}, {10, 20, 30, 40}));
  }
};

const std::vector<float> expectedZ = {12, 42, 92, 162}; // 1*10+2, 2*20+2, 3*30+2, 4*40+2

} // namespace

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

TEST_CASE("dfc run: a label that names no class is an error, or a note where it may go unused") {
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
  const std::string wrong = "labels.npy: element 3 is 3, but op 'loss' has 3 classes, 0 to 2";
  const Outcome half =
      bench.dfc({"run", "half.dfg", "--feed", "logits=two.npy", "--feed", "labels=labels.npy"});
  CHECK(half.status == 0);
  CHECK_THAT(half.err, containing(wrong + "; its loss will be NaN\n"));
  std::string whole = graph("reshape(labels, shape=[4])");
  whole.replace(whole.find("f32[2, 3]"), 9, "f32[4, 3]");
  bench.write("whole.dfg", whole);
  const Outcome all =
      bench.dfc({"run", "whole.dfg", "--feed", "logits=four.npy", "--feed", "labels=labels.npy"});
  CHECK(all.status == 1);
  CHECK(all.err == "labels.npy: error: element 3 is 3, but op 'loss' has 3 classes, 0 to 2\n"
                   "  hint: labels are counted from 0\n");
  save(bench, "few.npy", Literal({3}, std::span<const int64_t>(classes).last(3)));
  const Outcome few =
      bench.dfc({"run", "whole.dfg", "--feed", "logits=four.npy", "--feed", "labels=few.npy"});
  CHECK_THAT(few.err, startingWith("few.npy: error: holds i64[3], but input 'labels' is i64[4]\n"));
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

TEST_CASE("dfc run: longer files are batches, and begin again after the last") {
  const Bench bench;
  save(bench, "rows.npy", floats({3, 2}, {1, 2, 10, 20, 100, 200}));
  const Outcome outcome = bench.dfc(
      {"run", "counting.dfg", "--feed", "row=rows.npy", "--steps", "4", "--fetch", "sum=sum.npy", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  // Three rows and the first again: 1 + 10 + 100 + 1 and 2 + 20 + 200 + 2.
  CHECK(load(bench, "sum.npy") == floats({2}, {112, 224}));
  const Json object = Json::parse(outcome.out);
  CHECK(object["stepsPerEpoch"] == 3);
  CHECK(object["fetches"]["seen"]["values"] == std::vector<float>{4});
  CHECK(object["fetches"]["first"]["values"] == std::vector<float>{3}); // of the fourth step: 1 + 2
  const Outcome epochs = bench.dfc({"run", "counting.dfg", "--feed", "row=rows.npy", "--epochs", "2"});
  REQUIRE(epochs.status == 0);
  // Mean of 3, 30 and 300; of the steps counted 1 2 3, then 4 5 6.
  CHECK_THAT(epochs.out, containing("epoch 1: first 111, seen 2 (mean of 3 steps)\n"));
  CHECK_THAT(epochs.out, containing("epoch 2: first 111, seen 5 (mean of 3 steps)\n"));
  CHECK_THAT(epochs.out, containing("6 steps in "));
}

TEST_CASE("dfc run: an incomplete last batch is left out and said") {
  const Bench bench;
  save(bench, "long.npy", floats({9}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const Outcome outcome =
      bench.dfc({"run", "affine.dfg", "--feed", "x=long.npy", "--feed", "y=y.npy", "--epochs", "1"});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err == "long.npy: 9 rows make 2 batches of 4; 1 row is left out of each epoch\n");
  CHECK_THAT(outcome.out, containing("2 steps in "));
}

TEST_CASE("dfc run: --shuffle draws the rows of each epoch by its seed") {
  const Bench bench;
  save(bench, "rows.npy", floats({5, 2}, {0, 0, 1, 0, 2, 0, 3, 0, 4, 0}));
  for (const int64_t steps : {1, 4, 7}) {
    const Outcome outcome = bench.dfc({"run", "counting.dfg", "--feed", "row=rows.npy", "--steps",
                                       std::to_string(steps), "--shuffle", "11", "--json"});
    REQUIRE(outcome.status == 0);
    const int64_t last = steps - 1;
    const auto order = shuffledRows(5, 11, last / 5);
    CHECK(Json::parse(outcome.out)["fetches"]["first"]["values"][0] == order[static_cast<size_t>(last % 5)]);
  }
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

TEST_CASE("dfc run: wrong feeds and fetches come all at once, each with its way out") {
  const Bench bench;
  save(bench, "long.npy", Literal(TensorType{ElementType::F64, {4}}));
  save(bench, "square.npy", floats({2, 2}, {1, 2, 3, 4}));
  const Outcome outcome =
      bench.dfc({"run", "affine.dfg", "--feed", "x=long.npy", "--feed", "yy=y.npy", "--fetch", "zz=z.npy"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "long.npy: error: holds f64[4], but input 'x' is f32[4]\n"
                       "  hint: convert it in NumPy: array.astype(np.float32)\n"
                       "error: there is no input 'yy'\n"
                       "  hint: did you mean 'y'? There are: x, y\n"
                       "error: input 'y' (f32[4]) is not fed\n"
                       "  hint: add --feed y=FILE.npy\n"
                       "error: there is no fetch 'zz'\n"
                       "  hint: did you mean 'z'? There are: z, total\n");
  const Outcome shape = bench.dfc({"run", "affine.dfg", "--feed", "x=square.npy", "--feed", "y=y.npy"});
  CHECK(shape.status == 1);
  CHECK(shape.err ==
        "square.npy: error: holds f32[2, 2], but input 'x' is f32[4]\n"
        "  hint: give it the input's shape, or more rows of that shape: a batch of them is fed at each "
        "step\n");
  const Outcome kind = bench.dfc({"run", "affine.dfg", "--feed", "x=x.csv", "--feed", "y=y.npy"});
  CHECK(kind.status == 1);
  CHECK_THAT(kind.err, containing("x.csv: error: is no kind of feed that dfc reads"));
  const Outcome folder = bench.dfc({"run", "affine.dfg", "--feed", "x=.", "--feed", "y=y.npy"});
  CHECK(folder.status == 1);
  CHECK_THAT(folder.err, startingWith(".: error: is a folder, not a file\n  hint: give FILE.npy, "));
}

TEST_CASE("dfc run: rows and batches must be as many for every input") {
  const Bench bench;
  save(bench, "two.npy", floats({2, 4}, std::vector<float>(8, 1)));
  save(bench, "eight.npy", floats({8}, std::vector<float>(8, 1)));
  save(bench, "eleven.npy", floats({11}, std::vector<float>(11, 1))); // two batches of four, as of eight
  save(bench, "twelve.npy", floats({12}, std::vector<float>(12, 1)));
  const auto run = [&](const std::string& x, const std::string& y,
                       const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"run",    "affine.dfg", "--feed",   "x=" + x,
                                   "--feed", "y=" + y,     "--epochs", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return bench.dfc(words);
  };
  const Outcome steps = run("two.npy", "twelve.npy");
  CHECK(steps.status == 1);
  CHECK(steps.err == "error: input 'x' has data for 2 steps, but 'y' for 3\n"
                     "  hint: feed data for as many steps to both\n");
  const Outcome rows = run("eight.npy", "eleven.npy");
  CHECK(rows.status == 1);
  CHECK(rows.err == "error: input 'x' has 8 rows, but 'y' has 11\n"
                    "  hint: feed as many rows to both: a row of one belongs to the same row of the other\n");
  CHECK(run("two.npy", "eight.npy").status == 0);
  CHECK(run("eight.npy", "eight.npy", {"--shuffle", "1"}).status == 0);
  const Outcome shuffled = run("two.npy", "eight.npy", {"--shuffle", "1"});
  CHECK(shuffled.status == 1);
  CHECK(shuffled.err ==
        "error: --shuffle cannot pair the rows of input 'x' with those of 'y': a step takes 1 of "
        "one and 4 of the other\n  hint: leave --shuffle out, or shuffle the files before\n");
}

TEST_CASE("dfc run: every two files of rows must pair, not only each with the first") {
  const Bench bench;
  bench.write("three.dfg", "graph three {\n  input a: f32[4]\n  input b: f32[4]\n  input c: f32[4]\n"
                           "  y = add(add(a, b), c)\n  fetch y\n}\n");
  save(bench, "two.npy", floats({2, 4}, std::vector<float>(8, 1)));
  save(bench, "eight.npy", floats({8}, std::vector<float>(8, 1)));
  save(bench, "eleven.npy", floats({11}, std::vector<float>(11, 1)));
  // Two steps of each; b and c are cut into rows alike, of which c has three more.
  const Outcome outcome = bench.dfc({"run", "three.dfg", "--feed", "a=two.npy", "--feed", "b=eight.npy",
                                     "--feed", "c=eleven.npy", "--epochs", "1"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, containing("error: input 'b' has 8 rows, but 'c' has 11\n"));
}

TEST_CASE("dfc run: members of archives feed inputs") {
  const Bench bench;
  REQUIRE(writeNpz(bench.file("in.npz"),
                   {{"x", floats({4}, {1, 2, 3, 4})}, {"other", floats({4}, {10, 20, 30, 40})}})
              .ok());
  const Outcome good = bench.dfc(
      {"run", "affine.dfg", "--feed", "x=in.npz", "--feed", "y=in.npz:other", "--fetch", "z=z.npy"});
  INFO(good.err);
  REQUIRE(good.status == 0);
  CHECK(load(bench, "z.npy") == floats({4}, expectedZ));
  const Outcome bad = bench.dfc({"run", "affine.dfg", "--feed", "x=in.npz", "--feed", "y=in.npz"});
  CHECK(bad.status == 1);
  CHECK_THAT(bad.err, startingWith("in.npz: error: there is no array 'y'\n"));
  CHECK_THAT(bad.err, containing("here are: other, x\n"));
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

TEST_CASE("dfc run: an installed data set feeds an input") {
  const Bench bench;
  bench.write("sum.dfg", "graph sum {\n  input images : f32[1000, 784]\n  input labels : i64[1000]\n"
                         "  fetch brightest = reduceMax(images)\n  fetch label = reduceMax(labels)\n}\n");
  const Outcome slip = bench.dfc({"run", "sum.dfg", "--feed", "images=fashion-mnist/test/image"});
  CHECK(slip.status == 1);
  CHECK_THAT(
      slip.err,
      containing("there is no part of fashion-mnist 'test/image'\n  hint: did you mean 'test/images'?"));
  if (!std::filesystem::is_directory("/usr/share/datasets/fashion-mnist")) {
    DFC_SKIP("the Debian package dataset-fashion-mnist is not installed");
  }
  const Outcome outcome = bench.dfc({"run", "sum.dfg", "--feed", "images=fashion-mnist/test/images", "--feed",
                                     "labels=fashion-mnist/test/labels", "--epochs", "1", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const Json object = Json::parse(outcome.out);
  CHECK(object["steps"] == 10); // 10,000 / 1,000
  CHECK(object["fetches"]["brightest"]["values"][0] == 1.0);
  CHECK(object["fetches"]["label"]["values"][0] == 9);
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

TEST_CASE("dfc machine: this host as a machine file that compiles and runs") {
  const Bench bench;
  const Outcome machine = bench.dfc({"machine", "--estimate", "-o", "here.json"});
  REQUIRE(machine.status == 0);
  CHECK_THAT(machine.err, containing("no GPU in the machine file: "));
  REQUIRE(bench.dfc({"compile", "affine.dfg", "-m", "here.json", "-o", "a.plan"}).status == 0);
  const Outcome json = bench.dfc({"machine", "--json"});
  INFO(json.err);
  REQUIRE(json.status == 0);
  const Json object = Json::parse(json.out);
  CHECK(object["rates"] == "measured");
  CHECK(object["machine"]["devices"][0]["flops"]["f32"].get<double>() > 1e8);
  CHECK(object["machine"]["devices"][0]["memoryBandwidth"].get<double>() > 1e8);
  CHECK(object["notes"].size() == 1);
}
