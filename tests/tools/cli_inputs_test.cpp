// What commands read: plans and tables through pipes, files larger than the memory of the host, options that
// a plan cannot take.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/sanitizers.h"
#include "tests/tools/run_dfc.h"

#include <filesystem>
#include <sys/resource.h>

using namespace dfc;
using namespace dfc::test;

namespace {

/// A graph with a parameter, a machine, a plan.
struct PlanShop : Workshop {
  PlanShop() {
    write("g.dfg",
          "graph g {\n  parameter w : f32[2] = zeros()\n  y = w + 1\n  assign(w, y)\n  fetch y\n}\n");
    std::filesystem::copy_file(machineFile("cpu"), file("m.json"));
    REQUIRE(dfc({"compile", "g.dfg", "-m", "m.json", "-o", "g.plan"}).status == 0);
  }
  /// Runs a shell's line in the folder, with `dfc` in its path; its streams are the files out and err.
  int shell(const std::string& line) const {
    write("line.sh", "PATH='" + executableFolder().string() + "':$PATH; " + line + "\n");
    return WEXITSTATUS(std::system(("cd '" + path().string() + "' && bash line.sh >out 2>err").c_str()));
  }
  std::string out() const { return readText(file("out")); }
  std::string err() const { return readText(file("err")); }
};

} // namespace

TEST_CASE("dfc: a plan is known through a pipe, and so is a graph") {
  const PlanShop shop;
  const std::string slowly = "{ head -c 3 g.plan; sleep 0.1; tail -c +4 g.plan; }";
  for (const std::string& line : {std::string("dfc run <(cat g.plan)"), slowly + " | dfc run /dev/stdin",
                                  std::string("cat g.dfg | dfc run /dev/stdin -m m.json")}) {
    INFO(line);
    CHECK(shop.shell(line) == 0);
    CHECK(shop.err().empty());
    CHECK_THAT(shop.out(), containing("y: f32[2] = 1 1"));
  }
  CHECK(shop.shell("dfc simulate <(cat g.plan)") == 0);
  CHECK(shop.shell("dfc view <(cat g.plan) --what=graph") == 0);
  CHECK(shop.shell("dfc compile <(cat g.dfg) -m <(cat m.json)") == 0);
  CHECK(shop.shell("dfc compile <(cat g.plan) -m m.json") == 1);
  CHECK_THAT(shop.err(), containing("is a sealed plan: it is compiled already"));
  REQUIRE(shop.shell("dfc run g.plan --save-state s.safetensors") == 0);
  CHECK(shop.shell("dfc run g.plan --state <(cat s.safetensors)") == 0);
  CHECK_THAT(shop.out(), containing("y: f32[2] = 2 2"));
}

TEST_CASE("dfc: beside a plan an option of graphs is an error, also where it says the default") {
  const PlanShop shop;
  const std::vector<std::vector<std::string>> options = {
      {"--policy", "auto"}, {"--precision", "ieee"}, {"-m", "m.json"}, {"--pin", "y=cpu0"}};
  for (const auto& option : options) {
    std::vector<std::string> words = {"run", "g.plan"};
    words.insert(words.end(), option.begin(), option.end());
    const Outcome outcome = shop.dfc(words);
    INFO(option[0]);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, startingWith("g.plan: error: is a plan, compiled for its machine"));
    words[1] = "g.dfg";
    CHECK(shop.dfc(words).status == 0);
  }
  CHECK_THAT(runDfc({"compile", "--help"}).out, containing("(default auto)"));
}

TEST_CASE("dfc: a file of another kind in the place of a graph is told what takes it") {
  const Workshop shop;
  for (const auto& [name, wayOut] :
       {std::pair("x.npy", "--feed NAME=FILE"), std::pair("x.csv", "--feed NAME=FILE"),
        std::pair("w.safetensors", "--state FILE"), std::pair("m.json", "machines go to -m"),
        std::pair("net.pt", "torch.onnx.export"), std::pair("net.h5", "tf2onnx"),
        std::pair("a.py", "package dfc")}) {
    shop.write(name, std::string("{}\0", 3));
    for (const std::vector<std::string>& words : {std::vector<std::string>{"run", name},
                                                  {"compile", name, "-m", "cpu"},
                                                  {"explain", name, "-m", "cpu"},
                                                  {"simulate", name},
                                                  {"view", name, "-o", "p.html"},
                                                  {"import", name, "-o", "i.dfg"}}) {
      if (words[0] == "view" && std::string(name) == "x.csv") {
        continue; // the log of a training is drawn
      }
      const Outcome outcome = shop.dfc(words);
      INFO(words[0] << " " << outcome.err);
      CHECK(outcome.status == 1);
      CHECK_THAT(outcome.err, startingWith(std::string(name) + ": error: ") && containing(wayOut));
    }
  }
  shop.write("g.dfg", "graph g {\n  parameter x : f32[4] = zeros()\n  fetch x\n}\n");
  CHECK_THAT(shop.dfc({"import", "g.dfg", "-o", "i.dfg"}).err,
             startingWith("g.dfg: error: is a graph file already\n"));
}

TEST_CASE(
    "dfc: a file that is too large for the memory is named, and a plan's header is enough to refuse it") {
#if defined(DFC_UNDER_ADDRESS_SANITIZER) || defined(DFC_UNDER_THREAD_SANITIZER)
  DFC_SKIP("a sanitizer's shadow memory is larger than the limit");
#endif
  const PlanShop shop;
  constexpr uint64_t large = uint64_t{5} << 30; // no disk is used: the files are holes
  std::filesystem::copy_file(shop.file("g.plan"), shop.file("large.plan"));
  std::filesystem::resize_file(shop.file("large.plan"), large);
  shop.write("large.safetensors", "");
  std::filesystem::resize_file(shop.file("large.safetensors"), large);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  rlimit small = before;
  small.rlim_cur = uint64_t{4} << 30;
  REQUIRE(::setrlimit(RLIMIT_AS, &small) == 0);
  const Outcome plan = shop.dfc({"run", "large.plan"});
  const Outcome state = shop.dfc({"run", "g.plan", "--state", "large.safetensors"});
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(plan.status == 1);
  CHECK_THAT(plan.err, startingWith("large.plan: error: has "));
  CHECK_THAT(plan.err, containing(" bytes after its end"));
  CHECK(state.status == 2);
  CHECK_THAT(state.err, startingWith("large.safetensors: error: this host has too little memory"));
}
