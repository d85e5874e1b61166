// `dfc compile` and `dfc simulate`: plans, stages, refusals, and that compiling for GPUs loads no GPU
// library.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace dfc::test;
using Json = nlohmann::json;

namespace {

const std::string figure = dfc::shippedFile("samples/04_graph_file/figure.dfg").string();

} // namespace

TEST_CASE("dfc compile: a plan, its report, and the same as JSON") {
  const Workshop shop;
  const Outcome made = shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "figure.plan"});
  INFO(made.err);
  REQUIRE(made.status == 0);
  CHECK_THAT(made.out, startingWith("figure for cpu-2gpu: "));
  CHECK_THAT(made.out,
             containing("14 transfers of")); // the figure's 10, the 2 halves of the labels and of the loss
  CHECK_THAT(made.out, containing("times the lower bound"));
  CHECK_THAT(made.out, containing("\ngpu1: "));
  CHECK_THAT(made.out, containing("wrote figure.plan\n"));
  const std::string bytes = readText(shop.file("figure.plan"));
  const Outcome again =
      shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "figure.plan", "--json"});
  REQUIRE(again.status == 0);
  CHECK(again.err.empty());
  CHECK(readText(shop.file("figure.plan")) == bytes);
  const Json object = Json::parse(again.out);
  CHECK(object["graph"] == "figure");
  CHECK(object["transfers"] == 14);
  CHECK(object["devices"].size() == 3);
  CHECK(object["devices"][1]["kind"] == "gpu");
  CHECK(object["predictedSeconds"].get<double>() >= object["lowerBoundSeconds"].get<double>());
  CHECK(object["output"] == "figure.plan");
}

TEST_CASE("dfc compile and dfc explain: without a machine, for this host, which is said") {
  const Workshop shop;
  const std::string mlp = dfc::shippedFile("samples/02_train_mlp/mlp.dfg").string();
  const Outcome made = shop.dfc({"compile", mlp, "-o", "here.plan"});
  INFO(made.err);
  REQUIRE(made.status == 0);
  CHECK_THAT(made.out, startingWith("mlp for this-host: "));
  CHECK(made.err == "for this host, as one cpu with estimated rates, since no machine is named: -m FILE|NAME "
                    "names one, such as cpu-2gpu; dfc machine -o here.json measures this one\n");
  CHECK_THAT(shop.dfc({"simulate", "here.plan"}).out, containing("mlp on this-host: "));
  const Outcome said = shop.dfc({"explain", mlp, "--json"});
  REQUIRE(said.status == 0);
  const Json object = Json::parse(said.out);
  CHECK(object["machine"] == "this-host");
  REQUIRE(object["notes"].size() == 1);
  CHECK(object["notes"][0].get<std::string>() + "\n" == made.err);
}

TEST_CASE("dfc simulate: devices without work are named in one line") {
  const Outcome outcome = runDfc({"simulate", figure, "-m", "cpu-8gpu-nvlink"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, containing("\nnot used: gpu2, gpu3, gpu4, gpu5, gpu6, gpu7\n"));
  CHECK_THAT(outcome.out, containing("\ngpu1 compute ") && !containing("\ngpu2 "));
}

TEST_CASE("dfc compile: every stage prints") {
  const Workshop shop;
  const std::map<std::string, std::string> wanted = {{"graph", "graph figure {"},
                                                     {"placed", "transfer"},
                                                     {"schedule", "gpu1 copyOut"},
                                                     {"memory", "cpu0"},
                                                     {"launches", "gpu1 compute: workspace"},
                                                     {"executable", "gpu1 copyOut"}};
  for (const auto& [stage, text] : wanted) {
    const Outcome outcome = shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "--emit=" + stage});
    INFO(stage << outcome.err);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.out, containing(text));
    const Outcome json =
        shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "--emit=" + stage, "--json"});
    CHECK(Json::parse(json.out)[stage] == outcome.out);
  }
  const Outcome slip = shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "--emit=shedule"});
  CHECK(slip.status == 1);
  CHECK(
      slip.err ==
      "error: there is no stage 'shedule'\n"
      "  hint: did you mean 'schedule'? There are: graph, placed, schedule, memory, launches, executable\n");
}

TEST_CASE("dfc compile: a parameter's file that is not there is a warning at the parameter's line") {
  const Workshop shop;
  shop.write("w.dfg", "graph w {\n  parameter a : f32[2] = file(\"a.npy\")\n"
                      "  parameter b : f32[2] = file(\"all.safetensors#b\")\n  y = a + b\n  fetch y\n}\n");
  const Outcome neither = shop.dfc({"compile", "w.dfg", "-m", machineFile("cpu-2gpu"), "-o", "w.plan"});
  CHECK(neither.status == 0);
  CHECK(std::filesystem::exists(shop.file("w.plan")));
  CHECK_THAT(neither.err, containing("w.dfg:2:13: warning: parameter 'a' takes its first value from 'a.npy', "
                                     "which does not exist"));
  CHECK_THAT(neither.err, containing("w.dfg:3:13: warning: parameter 'b' takes its first value from "
                                     "'all.safetensors', which does not exist"));
  CHECK_THAT(neither.err,
             containing("hint: dfc run looks for it beside the graph, or in the folder of --data"));
  shop.write("shared.dfg",
             "graph w {\n  parameter a : f32[2] = file(\"all.safetensors#a\")\n"
             "  parameter b : f32[2] = file(\"all.safetensors#b\")\n  y = a + b\n  fetch y\n}\n");
  const Outcome shared = shop.dfc({"compile", "shared.dfg", "-m", machineFile("cpu-2gpu"), "--json"});
  const Json once = Json::parse(shared.out)["warnings"];
  REQUIRE(once.size() == 1);
  CHECK(once[0]["message"] ==
        "parameter 'a' and 1 more take their first values from 'all.safetensors', which does "
        "not exist");
  shop.write("a.npy", "anything: only dfc run reads it");
  const Outcome one = shop.dfc({"compile", "w.dfg", "-m", machineFile("cpu-2gpu"), "--json"});
  const Json object = Json::parse(one.out);
  REQUIRE(object["warnings"].size() == 1);
  CHECK(object["warnings"][0]["line"] == 3);
}

TEST_CASE("dfc compile: too little memory on the only device does not ask to pin to another") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  input x : f32[256, 256]\n  y = matmul(x, x)\n  fetch y\n}\n");
  const Outcome alone = shop.dfc({"run", "g.dfg", "--memory", "cpu0=300KB"});
  CHECK(alone.status == 1);
  CHECK_THAT(alone.err, startingWith("g.dfg: error: cpu0 needs 524 KB but has 300 KB"));
  CHECK_THAT(alone.err, !containing("pin"));
  const Outcome several = shop.dfc(
      {"compile", "g.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "y=gpu1", "--memory", "gpu1=300KB"});
  CHECK(several.status == 1);
  CHECK_THAT(several.err, containing("pin some of these to a device with more memory"));
}

TEST_CASE("dfc compile: pins and capacities from the command line") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  input x : f32[256, 256]\n  y = matmul(x, x)\n  fetch y\n}\n");
  const Outcome pinned =
      shop.dfc({"compile", "g.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "y=gpu1", "--emit=placed"});
  CHECK(pinned.status == 0);
  CHECK_THAT(pinned.out, containing("gpu1"));
  CHECK_THAT(pinned.out, containing("0 on gpu0, 2 on gpu1"));
  // Two values of 256 x 256 x 4 = 262,144 bytes are alive on gpu1 at once.
  const Outcome tight = shop.dfc({"compile", "g.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "y=gpu1",
                                  "--memory", "gpu1=300KB", "-o", "g.plan"});
  CHECK(tight.status == 1);
  CHECK_THAT(tight.err, containing("gpu1"));
  CHECK_FALSE(std::filesystem::exists(shop.file("g.plan")));
  const Outcome enough = shop.dfc({"compile", "g.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "y=gpu1",
                                   "--memory", "gpu1=0.6MB", "-o", "g.plan"});
  CHECK(enough.status == 0);
  const Outcome nowhere =
      shop.dfc({"compile", "g.dfg", "-m", machineFile("cpu-2gpu"), "--pin", "y=gpu7", "-o", "h.plan"});
  CHECK(nowhere.status == 1);
  CHECK_THAT(nowhere.err, containing("gpu7"));
}

TEST_CASE("dfc: products drain through little memory; less than any order needs is refused") {
  const Workshop shop;
  std::string graph = "graph drained {\n  parameter x : f32[64, 64] = uniform(0, 1, seed=1)\n";
  for (int i = 0; i < 6; ++i) {
    graph += fmt::format("  y{0} = matmul(x, x)\n  fetch y{0}\n", i);
  }
  shop.write("g.dfg", graph + "}\n");
  const auto words = [](const std::string& verb, const std::string& memory) {
    return std::vector<std::string>{verb,       "g.dfg",         "-m",          machineFile("cpu-2gpu"),
                                    "--pin",    "y*=gpu0",       "--skip-pass", "share_common_ops",
                                    "--memory", "gpu0=" + memory};
  };
  // A matrix is 64 * 64 * 4 = 16,384 bytes: x and one result at a time are 32 KiB, all results 7 matrices.
  for (const char* verb : {"compile", "simulate", "run"}) {
    INFO(verb);
    const Outcome tight = shop.dfc(words(verb, "32KiB"));
    INFO(tight.err);
    CHECK(tight.status == 0);
    CHECK(shop.dfc(words(verb, "1MiB")).status == 0);
    const Outcome little = shop.dfc(words(verb, "32767"));
    CHECK(little.status == 1);
    CHECK_THAT(little.err, startingWith("g.dfg: error: gpu0 needs 115 KB but has 32.8 KB"));
    CHECK_THAT(little.err,
               containing("the least that was found is 32.8 KB; of the plans that were tried this "
                          "one needs least: "));
  }
  std::vector<std::string> json = words("simulate", "32767");
  json.emplace_back("--json");
  const auto refused = Json::parse(shop.dfc(json).err);
  CHECK(refused.dump().find("gpu0 needs 115 KB") != std::string::npos);
  std::vector<std::string> all = words("simulate", "1MiB");
  all.insert(all.end(), {"--memory", "gpu*=32767"}); // of several that match, the last holds
  CHECK_THAT(shop.dfc(all).err, startingWith("g.dfg: error: gpu0 needs 115 KB but has 32.8 KB"));
  all.back() = "tpu*=1MB";
  CHECK_THAT(shop.dfc(all).err, containing("has no device 'tpu*'"));
  CHECK_THAT(shop.dfc(words("compile", "0")).err,
             containing("--memory gpu0=0: a device without memory holds nothing\n  hint: "));
  const Outcome bench = shop.bench({"experiments", "--memory", "gpu7=1MB", "-m", "cpu-2gpu"});
  CHECK(bench.status == 1);
  CHECK_THAT(bench.err, containing("--memory gpu7=1MB: machine 'cpu-2gpu' has no device 'gpu7'"));
}

TEST_CASE("dfc compile: f16 without loss scaling is warned of at the line, other precisions are not") {
  const Workshop shop;
  shop.write("spelled_out.dfg",
             "graph spelledOut {\n  input x : f32[8, 8]\n  parameter w : f32[8, 8] = glorot(seed=1)\n"
             "  y = matmul(x, w)\n  w.gradient = matmul(x, y, transposeA=true)\n"
             "  next = assign(w, w - w.gradient)\n}\n");
  const auto compiled = [&](const std::string& precision) {
    return shop.dfc({"compile", "spelled_out.dfg", "-m", machineFile("cpu-2gpu"), "-o", "s.plan",
                     "--precision=" + precision});
  };
  const Outcome f16 = compiled("f16");
  CHECK(f16.status == 0);
  CHECK_THAT(f16.err, startingWith("spelled_out.dfg:6:"));
  CHECK_THAT(f16.err,
             containing("warning: parameter 'w' is updated by f16 gradients of a loss that is not "));
  CHECK(compiled("bf16").err.empty());
}

TEST_CASE("dfc compile: the precision of products that the graph leaves open") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  input x : f32[64, 64]\n  y = matmul(x, x)\n"
                      "  z = matmul(y, x, precision=ieee)\n  fetch z\n}\n");
  const std::vector<std::string> compile = {"compile", "g.dfg", "-m", machineFile("cpu-2gpu"),
                                            "--emit=graph"};
  const auto emitted = [&](const std::string& option) {
    std::vector<std::string> words = compile;
    words.push_back(option);
    return shop.dfc(words);
  };
  const Outcome tf32 = emitted("--precision=tf32");
  CHECK(tf32.status == 0);
  CHECK_THAT(tf32.out, containing("y : f32[64, 64] = matmul(x, x, precision=tf32)"));
  CHECK_THAT(tf32.out, containing("z : f32[64, 64] = matmul(y, x)"));
  CHECK_THAT(emitted("--precision=ieee").out, containing("y : f32[64, 64] = matmul(x, x)\n"));
  const Outcome bf16 = emitted("--precision=bf16");
  CHECK_THAT(bf16.out, containing("y : f32[64, 64] = fusedMatmul(x.bf16, x.bf16, body=\"cast:f32 %0\")"));
  CHECK_THAT(bf16.out, containing("z : f32[64, 64] = matmul(y, x)"));
  const Outcome slip = emitted("--precision=tf23");
  CHECK(slip.status == 1);
  CHECK_THAT(slip.err, startingWith("error: there is no precision 'tf23'\n  hint: did you mean 'tf32'? There "
                                    "are: ieee, tf32, bf16, f16\n"));
}

TEST_CASE("dfc compile: a plan for eight GPUs, and no GPU library is loaded for it") {
  const Workshop shop;
  const Outcome outcome = shop.dfc(
      {"compile", figure, "-m", machineFile("cpu-8gpu-nvlink"), "-o", "eight.plan"}, {{"LD_DEBUG", "libs"}});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.err, containing("calling init")); // the loader did talk
  for (const std::string library : {"libcuda", "libcublas", "libnvrtc", "libOpenCL", "libdnnl"}) {
    INFO(library);
    CHECK(outcome.err.find(library) == std::string::npos);
  }
}

TEST_CASE("dfc compile: broken machines and missing folders") {
  const Workshop shop;
  shop.write("m.json", "{\"devices\": [");
  const Outcome machine = shop.dfc({"compile", figure, "-m", "m.json", "-o", "x.plan"});
  CHECK(machine.status == 1);
  CHECK_THAT(machine.err, startingWith("m.json:1:"));
  const Outcome folder = shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "no/such/x.plan"});
  CHECK(folder.status == 1);
  CHECK_THAT(folder.err, containing("no/such/x.plan"));
}

TEST_CASE("dfc compile: a transfer that an author wrote has no route, and is refused where it stands") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  input x : f32[2]\n  y = transfer(x)\n  fetch y\n}\n");
  const Outcome outcome = shop.dfc({"compile", "g.dfg", "-m", "cpu"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "g.dfg:3:7: error: op 'y' is a transfer, which only dfc makes\n"
                       "  hint: use 'x' itself: dfc copies it to every device that reads it\n");
}

TEST_CASE("dfc: cuts that a graph asks for, with one device and with more; errors at their lines") {
  const Workshop shop;
  const auto write = [&](const std::string& second) {
    shop.write("g.dfg", "graph g {\n  parameter w : f32[64, 32] = normal(0, 1, seed=1)\n"
                        "  a = cut(w, axis=0, devices=\"gpu*\")\n  b = cut(w, " +
                            second + ")\n  y = reduceSum(exp(a) + b)\n  fetch y\n}\n");
  };
  write("axis=-2, devices=\"gpu*\"");
  CHECK(shop.dfc({"run", "g.dfg", "--steps", "1"}).status == 0);
  const Outcome explained = shop.dfc({"explain", "g.dfg", "-m", "cpu-2gpu", "--json"});
  INFO(explained.err);
  CHECK(explained.status == 0);
  CHECK_THAT(explained.out, containing("split over gpu0 to gpu1"));
  CHECK(shop.dfc({"compile", "g.dfg", "-m", "cpu-2gpu", "--policy", "single"}).err ==
        "g.dfg:3:7: error: policy 'single' places whole ops, and cuts of values are asked for\n"
        "  hint: leave out one of them; policies auto and split take cuts\n");
  write("axis=1, devices=\"gpu*\"");
  CHECK(shop.dfc({"compile", "g.dfg", "-m", "cpu-2gpu"}).err ==
        "g.dfg:4:7: error: cut(w, axis=1, devices=\"gpu*\") contradicts cut(w, axis=0, devices=\"gpu*\") at "
        "g.dfg:3\n"
        "  hint: leave out one of them; the other ops follow\n");
}

TEST_CASE("dfc compile: large feeds are brought while the step before computes") {
  const Workshop shop;
  shop.write("fed.dfg", "graph fed {\n  input x : f32[4096, 1024]\n  scope \"s\" on gpu0 {\n"
                        "    y = reduceSum(exp(x))\n  }\n  fetch y\n}\n");
  const Outcome text = shop.dfc({"compile", "fed.dfg", "-m", "cpu-2gpu"});
  REQUIRE(text.status == 0);
  CHECK_THAT(text.out, containing("\na step by itself, its feeds first: "));
  const Outcome outcome = shop.dfc({"simulate", "fed.dfg", "-m", "cpu-2gpu", "--json"});
  const auto object = Json::parse(outcome.out);
  const double many = object["predictedSeconds"], one = object["firstStepSeconds"];
  CHECK(one == object["makespanSeconds"].get<double>());
  CHECK(many >= object["lowerBoundSeconds"].get<double>());
  CHECK(many == Approx(16777216 / 55.3e9).epsilon(0.1)); // the link's seconds, its latency aside
  CHECK(one > many);
}

TEST_CASE("dfc simulate: of one device no bound and no transfers, of which there are none") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  input x : f32[8]\n  y = x * 2\n  fetch y\n}\n");
  const Outcome text = shop.dfc({"simulate", "g.dfg", "-m", machineFile("cpu")});
  INFO(text.err);
  REQUIRE(text.status == 0);
  CHECK_THAT(text.out, startingWith("g on cpu: one step takes ") && containing("cpu0 compute"));
  CHECK(text.out.find("transfer") == std::string::npos);
  CHECK(text.out.find("lower bound") == std::string::npos);
}

TEST_CASE("dfc simulate: makespan, bound, queues and memory") {
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "figure.plan"}).status == 0);
  const Outcome text = shop.dfc({"simulate", "figure.plan", "--trace", "predicted.json"});
  INFO(text.err);
  REQUIRE(text.status == 0);
  CHECK_THAT(text.out, containing("lower bound"));
  CHECK_THAT(text.out, containing("gpu1 copyOut"));
  CHECK_THAT(text.out, containing("capacity"));
  CHECK(Json::parse(readText(shop.file("predicted.json"))).contains("traceEvents"));
  const Json object = Json::parse(shop.dfc({"simulate", "figure.plan", "--json"}).out);
  CHECK(object["makespanSeconds"].get<double>() > 0);
  CHECK(object["ratio"].get<double>() >= 1.0);
  CHECK(object["overlapSeconds"].get<double>() > 0);
  double busiest = 0;
  for (const Json& queue : object["queues"]) {
    CHECK(queue["share"].get<double>() <= 1.0 + 1e-9);
    busiest = std::max(busiest, queue["busySeconds"].get<double>());
  }
  CHECK(busiest <= object["makespanSeconds"].get<double>() * (1 + 1e-9));
}

TEST_CASE("dfc compile: time for a search") {
  const Workshop shop;
  const Outcome negative = shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "--plan-time=-1"});
  CHECK(negative.status == 1);
  CHECK_THAT(negative.err, containing("--plan-time must be 0 or more seconds"));
  const Outcome some = shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "--plan-time=0.01"});
  CHECK(some.status == 0);
}

TEST_CASE("dfc: a plan takes no options that only a graph can take; other files are no plans") {
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "figure.plan"}).status == 0);
  const Outcome twice = shop.dfc({"simulate", "figure.plan", "-m", machineFile("cpu")});
  CHECK(twice.status == 1);
  CHECK(twice.err ==
        "figure.plan: error: is a plan, compiled for its machine: -m, --policy, --precision, --pin, --split, "
        "--memory, --skip-pass, --calibration, --plan-time, --dim, --no-merged-launches and --no-peer-reads "
        "cannot "
        "change "
        "it\n"
        "  hint: compile the graph again with these options, or leave them out\n");
  const Outcome missing = shop.dfc({"simulate", "none.plan"});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.err, startingWith("none.plan: error: "));
  shop.write("noise.plan", std::string(5000, '\x07'));
  const Outcome noise = shop.dfc({"simulate", "noise.plan"});
  CHECK(noise.status == 1);
  CHECK_THAT(noise.err, startingWith("noise.plan: error: "));
  // Without an extension the content decides.
  std::filesystem::copy_file(shop.file("figure.plan"), shop.file("plain"));
  CHECK(shop.dfc({"simulate", "plain"}).status == 0);
}

TEST_CASE("dfc compile: warnings go to stderr, and with --json into the object") {
  const Workshop shop;
  shop.write("g.dfg", R"(graph g {
  parameter w : f32[2] = zeros()
  parameter v : f32[2] = zeros()
  loss = reduceSum(w)
  dw, dv = gradients(loss, w, v)
  fetch dv
})");
  for (const std::string verb : {"compile", "simulate", "run"}) {
    const Outcome plain = shop.dfc({verb, "g.dfg", "-m", machineFile("cpu-2gpu")});
    INFO(verb << plain.err);
    CHECK(plain.status == 0);
    CHECK_THAT(plain.err, containing("g.dfg:5:12: warning: 'loss' does not depend on parameter 'v'"));
  }
  const Outcome json = shop.dfc({"compile", "g.dfg", "-m", machineFile("cpu-2gpu"), "--json"});
  REQUIRE(json.status == 0);
  CHECK(json.err.empty());
  const Json warnings = Json::parse(json.out)["warnings"];
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0]["severity"] == "warning");
  CHECK(warnings[0]["line"] == 5);
}

TEST_CASE("dfc compile: a graph whose step would compute nothing is refused, with its place") {
  const Workshop shop;
  shop.write("idle.dfg", "graph idle {\n  input x : f32[2]\n  y = relu(x)\n}\n");
  shop.write("empty.dfg", "graph empty {\n}\n");
  const Outcome idle = shop.dfc({"compile", "idle.dfg", "-m", machineFile("cpu-2gpu")});
  CHECK(idle.status == 1);
  CHECK_THAT(idle.err, startingWith("idle.dfg:3:7: error: graph 'idle' fetches nothing and assigns nothing"));
  const Outcome empty = shop.dfc({"compile", "empty.dfg", "-m", machineFile("cpu-2gpu")});
  CHECK(empty.status == 1);
  CHECK_THAT(empty.err, startingWith("empty.dfg: error: graph 'empty' fetches nothing"));
}
