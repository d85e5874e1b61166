// `-m`: machine files by path and shipped ones by name, what is no machine file, and devices that a machine
// does not have.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json.hpp>

using namespace dfc::test;

namespace {

const std::string folder = dfc::shippedFile("samples").string() + "/";
const std::string figure = folder + "04_graph_file/figure.dfg";
const std::string whatOneIs =
    "a machine file is JSON that lists devices, links and routes; shipped ones go by name (cpu, cpu-2gpu, "
    "cpu-8gpu-nvlink), dfc machine -o here.json writes one of this host\n";

} // namespace

TEST_CASE("dfc -m: a shipped machine goes by its name, a file of that name goes first") {
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", figure, "-m", "cpu-2gpu", "-o", "named.plan"}).status == 0);
  REQUIRE(shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "file.plan"}).status == 0);
  CHECK(readText(shop.file("named.plan")) == readText(shop.file("file.plan")));
  for (const std::string verb : {"simulate", "view"}) {
    std::vector<std::string> words = {verb, figure, "-m", "cpu-8gpu-nvlink"};
    if (verb == "view") {
      words.emplace_back("--what=placed");
    }
    CHECK(shop.dfc(words).status == 0);
  }
  shop.write("g.dfg", "graph g {\n  input x : f32[4]\n  y = relu(x)\n  fetch y\n}\n");
  shop.write("cpu-2gpu", "{\"name\": \"mine\", \"devices\": [{\"id\": \"cpu0\", \"class\": \"cpu\"}]}");
  CHECK_THAT(shop.dfc({"compile", "g.dfg", "-m", "cpu-2gpu"}).out, startingWith("g for mine: "));
  std::filesystem::remove(shop.file("cpu-2gpu"));
  std::filesystem::create_directory(shop.file("cpu-2gpu")); // a folder is no machine file
  CHECK_THAT(shop.dfc({"compile", "g.dfg", "-m", "cpu-2gpu"}).out, startingWith("g for cpu-2gpu: "));
}

TEST_CASE("dfc -m: an installed dfc finds its machines beside itself, wherever it was moved") {
  const Workshop shop;
  std::filesystem::create_directories(shop.path() / "here/bin");
  std::filesystem::create_directories(shop.path() / "here/share/dfc/samples/machines");
  const std::filesystem::path bin = dfc::executableFolder();
  std::filesystem::copy_file(bin / "dfc", shop.path() / "here/bin/dfc");
  if (std::filesystem::is_directory(bin.parent_path() / "lib")) { // what an installed dfc is linked with
    std::filesystem::create_directory_symlink(bin.parent_path() / "lib", shop.path() / "here/lib");
  }
  shop.write("here/share/dfc/samples/machines/only-here.json",
             "{\"name\": \"installed\", \"devices\": [{\"id\": \"cpu0\", \"class\": \"cpu\"}]}");
  shop.write("g.dfg", "graph g {\n  input x : f32[4]\n  y = relu(x)\n  fetch y\n}\n");
  const std::string command =
      "cd '" + shop.path().string() + "' && here/bin/dfc compile g.dfg -m only-here >out";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK_THAT(readText(shop.file("out")), startingWith("g for installed: "));
}

TEST_CASE("dfc -m: what is no machine file, and what one is") {
  const Workshop shop;
  shop.write("add.dfg", "# adds\ngraph add {\n  input x : f32[4]\n  fetch y = x + x\n}\n");
  const Outcome graph = shop.dfc({"compile", "add.dfg", "-m", "add.dfg"});
  CHECK(graph.status == 1);
  CHECK(graph.err == "add.dfg: error: is not a machine file\n  hint: " + whatOneIs);
  REQUIRE(shop.dfc({"compile", "add.dfg", "-m", "cpu", "-o", "add.plan"}).status == 0);
  const Outcome plan = shop.dfc({"compile", "add.dfg", "-m", "add.plan"});
  CHECK(plan.status == 1);
  CHECK(plan.err == "add.plan: error: is not a machine file\n  hint: " + whatOneIs);
  const Outcome slip = shop.dfc({"compile", "add.dfg", "-m", "cpu-3gpu"});
  CHECK(slip.status == 1);
  CHECK(slip.err ==
        "cpu-3gpu: error: there is no such machine file\n  hint: did you mean -m cpu-2gpu? " + whatOneIs);
}

TEST_CASE("dfc: a pin to a device that the machine lacks stands at its `on`, and says who has it") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n"
                      "  input x : f32[4, 4]\n"
                      "  y = matmul(x, x)\n"
                      "  on gpu1 {\n"
                      "    z = matmul(matmul(y, x), y)\n"
                      "  }\n"
                      "  fetch z\n"
                      "}\n");
  const Outcome block = shop.dfc({"compile", "g.dfg", "-m", "cpu"});
  CHECK(block.status == 1);
  CHECK(block.err ==
        "g.dfg:4:3: error: machine 'cpu' has no device 'gpu1'\n"
        "    on gpu1 {\n"
        "    ^~~~~~~\n"
        "  hint: machine 'cpu' has only cpu0; of the shipped machines these have gpu1: cpu-2gpu, "
        "cpu-8gpu-nvlink (-m cpu-2gpu)\n");
  // A rule that takes the ops elsewhere wins over the block.
  CHECK(shop.dfc({"compile", "g.dfg", "-m", "cpu", "--pin", "*=cpu0"}).status == 0);
  shop.write("scope.dfg",
             "graph g {\n  input on : f32[4]\n  scope \"s\" on \"gpu7\" { y = relu(on) }\n  fetch y\n}\n");
  const Outcome scope = shop.dfc({"run", "scope.dfg", "-m", "cpu-2gpu"});
  CHECK(scope.status == 1);
  CHECK_THAT(scope.err, startingWith("scope.dfg:3:13: error: machine 'cpu-2gpu' has no device 'gpu7'\n"));
  CHECK_THAT(scope.err,
             containing("hint: did you mean 'gpu0'? machine 'cpu-2gpu' has cpu0, gpu0, gpu1; of the "
                        "shipped machines these have gpu7: cpu-8gpu-nvlink (-m cpu-8gpu-nvlink)\n"));
  const Outcome rule = shop.dfc({"compile", "g.dfg", "-m", "cpu", "--pin", "*=gpu0"});
  CHECK(rule.status == 1);
  CHECK_THAT(rule.err,
             startingWith("error: --pin *=gpu0: machine 'cpu' has no device 'gpu0'\n  hint: machine "
                          "'cpu' has only cpu0; of the shipped"));
  CHECK_THAT(rule.err, !containing("did you mean"));
}

TEST_CASE("dfc compile: a sealed plan is no graph file, whatever its name") {
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", figure, "-m", "cpu-2gpu", "-o", "a.plan"}).status == 0);
  for (const std::string name : {"b", "b.dfg"}) {
    std::filesystem::copy_file(shop.file("a.plan"), shop.file(name));
    CHECK(shop.dfc({"simulate", name}).status == 0);
  }
  for (const std::string name : {"a.plan", "b", "b.dfg"}) {
    const Outcome outcome = shop.dfc({"compile", name, "-m", "cpu-2gpu"});
    CHECK(outcome.status == 1);
    CHECK(outcome.err == name + ": error: is a sealed plan: it is compiled already\n"
                                "  hint: use it with dfc run, dfc view or dfc simulate; dfc compile and dfc "
                                "explain take a graph file (.dfg) or an ONNX model\n");
  }
}

TEST_CASE("dfc machine: rates are estimated or measured, not both") {
  const Workshop shop;
  const Outcome both = shop.dfc({"machine", "--estimate", "--probe", "-o", "here.json"});
  CHECK(both.status == 1);
  CHECK(both.out.empty());
  CHECK_THAT(both.err, containing("excludes")); // which of the two is named first, CLI11 decides
  CHECK_THAT(both.err, containing("--probe"));
  CHECK_FALSE(std::filesystem::exists(shop.file("here.json")));
}

TEST_CASE("dfc compile: policy single names every device that the pins use") {
  const Workshop shop;
  CHECK_THAT(shop.dfc({"compile", figure, "-m", "cpu-2gpu", "--policy", "single"}).out,
             containing(", placement: cpu0, and gpu0, gpu1 by pins\n"));
}

TEST_CASE("dfc machine: this host as a machine file that compiles and runs") {
  const Workshop shop;
  shop.write("g.dfg", "graph g {\n  input x : f32[4]\n  y = relu(x)\n  fetch y\n}\n");
  const Outcome machine = shop.dfc({"machine", "--estimate", "-o", "here.json"});
  REQUIRE(machine.status == 0);
  CHECK_THAT(machine.err, containing("no GPU in the machine file: "));
  REQUIRE(shop.dfc({"compile", "g.dfg", "-m", "here.json", "-o", "a.plan"}).status == 0);
  const Outcome json = shop.dfc({"machine", "--json"});
  INFO(json.err);
  REQUIRE(json.status == 0);
  const nlohmann::json object = nlohmann::json::parse(json.out);
  CHECK(object["rates"] == "measured");
  CHECK(object["machine"]["devices"][0]["flops"]["f32"].get<double>() > 1e8);
  CHECK(object["machine"]["devices"][0]["memoryBandwidth"].get<double>() > 1e8);
  CHECK(object["notes"].size() == 1);
}
