// The words of the command line: help, verbs and options that are not there, values that make no sense; as
// text and as JSON.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;

TEST_CASE("dfc: help of the program and of every verb has examples") {
  const Outcome program = runDfc({"--help"});
  CHECK(program.status == 0);
  CHECK(program.err.empty());
  for (const std::string verb : {"compile", "run", "view", "machine", "simulate", "calibrate"}) {
    CHECK_THAT(program.out, containing(verb));
    const Outcome help = runDfc({verb, "--help"});
    CHECK(help.status == 0);
    CHECK_THAT(help.out, containing("Examples:"));
    CHECK_THAT(help.out, containing("dfc " + verb));
    CHECK_THAT(help.out, containing("--json"));
  }
}

TEST_CASE("dfc: without a verb, or with one that is not there") {
  const Outcome none = runDfc({});
  CHECK(none.status == 1);
  CHECK(none.out.empty());
  CHECK(none.err == "error: no verb: what should dfc do?\n"
                    "  hint: say one of: compile, import, export, explain, run, view, machine, simulate, "
                    "calibrate, schedule; or dfc --help\n");
  const Outcome slip = runDfc({"complie", "x.dfg"});
  CHECK(slip.status == 1);
  CHECK(slip.err == "error: there is no verb 'complie'\n"
                    "  hint: did you mean 'compile'? There are: compile, import, export, explain, run, view, "
                    "machine, simulate, calibrate, schedule\n");
}

TEST_CASE("dfc: help of a verb that is not there is an error") {
  const Outcome slip = runDfc({"complie", "--help"});
  CHECK(slip.status == 1);
  CHECK(slip.out.empty());
  CHECK_THAT(slip.err, startingWith("error: there is no verb 'complie'\n  hint: did you mean 'compile'?"));
  CHECK(runDfc({"--json", "--help"}).status == 0);
}

TEST_CASE("dfc: an option or argument given as nothing is an error, all at once") {
  const Outcome empty = runDfc({"run", "", "--data", "", "--steps", "2", "--fetch=a.npy", "--fetch", ""});
  CHECK(empty.status == 1);
  CHECK(empty.err == "error: GRAPH|PLAN is empty\n  hint: see dfc run --help\n"
                     "error: --fetch is empty\n  hint: see dfc run --help\n"
                     "error: --data is empty\n  hint: see dfc run --help\n");
  const Outcome output = runDfc({"compile", "x.dfg", "-m", machineFile("cpu"), "-o", ""});
  CHECK(output.status == 1);
  CHECK_THAT(output.err, containing("--output is empty"));
}

TEST_CASE("dfc: an option that is not there names the nearest") {
  const Outcome slip = runDfc({"run", "x.dfg", "--step=3"});
  CHECK(slip.status == 1);
  CHECK_THAT(slip.err, containing("error: there is no option of dfc run '--step'\n"));
  CHECK_THAT(slip.err, containing("did you mean '--steps'?"));
}

TEST_CASE("dfc: an option of one letter that is not there, one with a dash too few, and words too many") {
  const Outcome letter = runDfc({"explain", "x.dfg", "-o", "a.txt"});
  CHECK(letter.status == 1);
  CHECK_THAT(letter.err, startingWith("error: there is no option of dfc explain '-o'\n  hint: "));
  const Outcome dash = runDfc({"run", "x.dfg", "-machine", "cpu"});
  CHECK(dash.status == 1);
  CHECK_THAT(dash.err, startingWith("error: there is no option of dfc run '-machine'\n"
                                    "  hint: did you mean '--machine'? "));
  const Outcome words = runDfc({"run", "x.dfg", "a.txt", "b.txt"});
  CHECK(words.err == "error: the following arguments were not expected: a.txt b.txt\n"
                     "  hint: see dfc run --help\n");
}

TEST_CASE("dfc: help is a verb, too") {
  CHECK(runDfc({"help"}).out == runDfc({"--help"}).out);
  CHECK(runDfc({"help", "run"}).out == runDfc({"run", "--help"}).out);
  const Outcome slip = runDfc({"help", "rnu"});
  CHECK(slip.status == 1);
  CHECK_THAT(slip.err, startingWith("error: there is no verb 'rnu'\n  hint: did you mean 'run'?"));
}

TEST_CASE("dfc: missing and senseless arguments point to the help") {
  const Outcome missing = runDfc({"compile"});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.err, containing("GRAPH is required"));
  CHECK_THAT(missing.err, containing("hint: GRAPH: graph file"));
  CHECK_THAT(missing.err, containing("see dfc compile --help"));
  const Outcome output = runDfc({"import", "x.onnx"});
  CHECK(output.status == 1);
  CHECK_THAT(output.err, containing("--output is required"));
  const Outcome noNumber = runDfc({"run", "x.dfg", "--steps", "many"});
  CHECK(noNumber.status == 1);
  CHECK_THAT(noNumber.err, containing("--steps"));
  const Outcome both = runDfc({"run", "x.dfg", "--steps", "2", "--epochs", "1"});
  CHECK(both.status == 1);
}

TEST_CASE("dfc: all wrong values of a compile come at once, with what there is") {
  const Workshop shop;
  const Outcome outcome = shop.dfc({"compile", "none.dfg", "-m", machineFile("cpu"), "--policy", "hefty",
                                    "--pin", "fc1", "--memory", "gpu0=1MB", "--skip-pass", "simplfy"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, containing("there is no policy 'hefty'\n  hint: did you mean 'heft'?"));
  CHECK_THAT(outcome.err,
             containing("--pin 'fc1' does not have the form PATTERN=DEVICE, for example 'fc1*=gpu0'"));
  CHECK_THAT(
      outcome.err,
      containing("--memory gpu0=1MB: machine 'cpu' has no device 'gpu0'\n  hint: machine 'cpu' has only "
                 "cpu0; of the shipped machines these have gpu0: "));
  CHECK_THAT(outcome.err, containing("there is no pass 'simplfy'\n  hint: did you mean 'simplify'?"));
  CHECK_THAT(outcome.err, containing("none.dfg"));
  for (const std::string text : {"lots", "1.5", "0.5B", "-1MB"}) { // there is no half a byte
    const Outcome size =
        shop.dfc({"compile", "none.dfg", "-m", machineFile("cpu"), "--memory", "cpu0=" + text});
    CHECK(size.status == 1);
    CHECK_THAT(size.err, containing("'" + text +
                                    "' is not a size\n  hint: write a number and a unit, "
                                    "for example 512MB"));
  }
}

TEST_CASE("dfc: with --json an error is one object on stderr") {
  const Outcome outcome = runDfc({"complie", "--json"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  const auto object = nlohmann::json::parse(outcome.err);
  CHECK(object["status"] == "failed");
  CHECK(object["exitStatus"] == 1);
  CHECK(object["fault"] == "user");
  REQUIRE(object["errors"].size() == 1);
  CHECK(object["errors"][0]["message"] == "there is no verb 'complie'");
  const Workshop shop;
  shop.write("bad.dfg", "graph g {\n  y = relu(x)\n  fetch y\n}\n");
  const Outcome located = shop.dfc({"compile", "bad.dfg", "-m", machineFile("cpu"), "--json"});
  CHECK(located.status == 1);
  const auto error = nlohmann::json::parse(located.err)["errors"][0];
  CHECK(error["file"] == "bad.dfg");
  CHECK(error["line"] == 2);
  CHECK(error["column"] == 12);
  CHECK(error["severity"] == "error");
}

TEST_CASE("dfc --version: the version and the backends, as text and as JSON") {
  const Outcome text = runDfc({"--version"});
  CHECK(text.status == 0);
  CHECK_THAT(text.out, startingWith("dfc 0."));
  CHECK_THAT(text.out, containing("\nbackends: "));
  CHECK_THAT(text.out, containing("cpu"));
  const auto object = nlohmann::json::parse(runDfc({"--version", "--json"}).out);
  CHECK(object["status"] == "ok");
  CHECK_THAT(object["version"].get<std::string>(), startingWith("0."));
  CHECK(object["backends"].size() >= 3); // cpu, emulated, null
}

TEST_CASE("dfc: success with --json says so") {
  const auto object = nlohmann::json::parse(runDfc({"machine", "--estimate", "--json"}).out);
  CHECK(object["status"] == "ok");
  CHECK(object["exitStatus"] == 0);
}

TEST_CASE("dfc: an end of line in a name does not end the line of an error, and reads back") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  input \"in\\nput\\t\" : f32[2]\n  fetch y = \"in\\nput\\t\" + 1\n}\n");
  const Outcome outcome = shop.dfc({"run", "g.dfg"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "error: input 'in\\nput\\t' (f32[2]) is not fed\n"
                       "  hint: add --feed in\\nput\\t=FILE.npy\n");
  const auto object = nlohmann::json::parse(shop.dfc({"run", "g.dfg", "--json"}).err);
  CHECK(object["errors"][0]["message"] == "input 'in\nput\t' (f32[2]) is not fed"); // the name itself
}

TEST_CASE("dfc run: a null backend warns that nothing is computed") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  parameter w : f32[2] = zeros()\n  y = w + 1\n  fetch y\n}\n");
  const Outcome null = shop.dfc({"run", "g.dfg", "--backend", "cpu=null"});
  CHECK(null.status == 0);
  CHECK(null.err == "warning: backend 'null' computes nothing: results of cpu0 are zeros, not values\n");
  CHECK(shop.dfc({"run", "g.dfg"}).err.empty());
}

TEST_CASE(
    "dfc run: beside a null cpu, emulated GPUs compute what is fed and fetches through the host are zeros") {
  const Workshop shop;
  shop.write("g.dfg",
             "graph g {\n  parameter w : f32[2] = zeros()\n  y = w + 1\n  z = y * 3\n  assign(w, z)\n"
             "  fetch y\n  fetch z\n}\n");
  const auto run = [&](const std::string& pin) {
    return shop.dfc({"run", "g.dfg", "-m", "cpu-2gpu", "--pin", "*=gpu0", "--pin", pin, "--steps", "3",
                     "--backend", "cpu=null", "--backend", "gpu=emulated"});
  };
  for (const std::string pin : {"y=gpu0", "z=gpu1", "z=cpu0", "y=cpu0"}) {
    const Outcome outcome = run(pin);
    INFO(pin << ": " << outcome.err);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.err, startingWith("warning: backend 'null' computes nothing: results of cpu0"));
    CHECK_THAT(outcome.out, containing("z: f32[2] = "));
  }
}

TEST_CASE("dfc view: figure and placed --collapse are one picture, and the help says so") {
  const Workshop shop;
  const std::string figure = dfc::shippedFile("samples/04_graph_file/figure.dfg").string();
  CHECK(shop.dfc({"view", figure, "-m", "cpu-2gpu", "--what=figure"}).out ==
        shop.dfc({"view", figure, "-m", "cpu-2gpu", "--what=placed", "--collapse"}).out);
  CHECK_THAT(runDfc({"view", "--help"}).out, containing("placed --collapse is the same"));
}

TEST_CASE("dfc: control characters in the names of files do not reach the terminal, and files keep them") {
  const Workshop shop;
  const std::string shown = R"(\u001b]0;pwn\u0007gpu1\u007f\u009b é)"; // and so it is written in JSON
  const std::string inErrors = R"(\x1b]0;pwn\x07gpu1\x7f\xc2\x9b é)";  // as a graph file writes it
  shop.write("m.json", R"({"devices": [{"id": "cpu0"}, {"class": "cpu", "id": ")" + shown +
                           R"("}], "default_comm": {"latency": 0, "bandwidth": 1e9}})");
  const std::string graph = R"(graph "\x1b[31mzz" {
  input x : f32[4]
  relu : f32[4] = relu(x)
  fetch "\xc2\x9by" = relu
}
)";
  shop.write("g.dfg", graph);
  const std::vector<std::string> words = {"compile", "g.dfg", "-m", "m.json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return shop.dfc(more);
  };
  const Outcome summary = with({});
  CHECK_THAT(summary.out, startingWith(R"(\u001b[31mzz for )"));
  CHECK_THAT(summary.out, containing("not used: " + shown + "\n"));
  CHECK_THAT(with({"--pin", "*=gpu1"}).err, containing("has cpu0, " + inErrors));
  CHECK(with({"--emit", "graph"}).out == graph);
  // A program gets the names themselves, and so does a plan.
  const std::string name = "\x1b]0;pwn\x07gpu1\x7f\xc2\x9b é";
  CHECK(nlohmann::json::parse(with({"--json"}).out)["devices"][1]["name"] == name);
  REQUIRE(with({"-o", "a.plan"}).status == 0);
  CHECK(nlohmann::json::parse(shop.dfc({"simulate", "a.plan", "--json"}).out)["graph"] == "\x1b[31mzz");
}
