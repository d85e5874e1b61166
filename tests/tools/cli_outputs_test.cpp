// Files that a command writes are looked at before any work: nothing is compiled, fed or run for a path that
// cannot be written, and nothing that the command reads is overwritten.
#include "runtime/files/npy.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iterator>
#include <sys/resource.h>

using namespace dfc;
using namespace dfc::test;

namespace {

const char* graph = R"(graph g {
  input x : f32[2]
  parameter w : f32[2] = file("w.npy")
  y = x + w
  assign(w, y)
  fetch y
}
)";

/// A graph, its feed, a machine, a plan, and a folder.
struct Shop : Workshop {
  Shop() {
    write("g.dfg", graph);
    for (const std::string name : {"x.npy", "w.npy"}) {
      const std::vector<float> ones = {1, 1};
      REQUIRE(writeNpy(file(name), Literal(Shape{2}, std::span<const float>(ones))).ok());
    }
    std::filesystem::copy_file(machineFile("cpu"), file("m.json"));
    REQUIRE(dfc({"compile", "g.dfg", "-m", "m.json", "-o", "g.plan"}).status == 0);
    std::filesystem::create_directory(file("folder"));
  }
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      all[entry.path().filename().string()] = entry.is_regular_file() ? readText(entry.path().string()) : "";
    }
    return all;
  }
};

/// What the option is given, and the whole answer. A source that is not there must not be reached.
struct Case {
  std::string path, answer;
};

const std::vector<Case> places = {
    {"no/such/file", "error: its folder does not exist\n  hint: make the folder first\n"},
    {"folder", "error: is a folder, not a file to write\n  hint: name a file in it\n"},
    {"g.dfg/file", "error: 'g.dfg' is no folder\n  hint: name another place\n"},
    {"/proc/file", "error: cannot be written: No such file or directory\n"
                   "  hint: check the folder, its permissions and the space left\n"},
};

} // namespace

TEST_CASE("dfc: every output path is checked first, and nothing is left behind") {
  const Shop shop;
  const auto before = shop.contents();
  const std::vector<std::vector<std::string>> commands = {
      {"compile", "none.dfg", "-m", "m.json", "-o"},
      {"simulate", "none.plan", "--trace"},
      {"machine", "--estimate", "-o"},
      {"run", "none.plan", "--trace"},
  };
  for (const auto& command : commands) {
    for (const Case& place : places) {
      std::vector<std::string> words = command;
      words.push_back(place.path);
      const Outcome outcome = shop.dfc(words);
      CHECK(outcome.status == 1);
      CHECK(outcome.out.empty());
      CHECK(outcome.err == place.path + ": " + place.answer);
    }
  }
  const Outcome many = shop.dfc({"run", "none.plan", "--fetch", "z=z.txt", "--fetch", "y=no/y.npy",
                                 "--save-state", "s.npz", "--trace", "folder"});
  CHECK(many.status == 1);
  CHECK(many.err == "z.txt: error: is neither .npy nor .npz\n"
                    "  hint: end the name with one of them\n"
                    "no/y.npy: error: its folder does not exist\n"
                    "  hint: make the folder first\n"
                    "s.npz: error: is no .safetensors file, and no other kind is written here\n"
                    "  hint: name it s.safetensors\n"
                    "folder: error: is a folder, not a file to write\n"
                    "  hint: name a file in it\n");
  const Outcome picture = shop.dfc({"view", "none.plan", "--what=graph", "-o", "no/g.svg"});
  CHECK(picture.err == "no/g.svg: error: its folder does not exist\n  hint: make the folder first\n");
  CHECK(shop.contents() == before);
}

TEST_CASE("dfc: no output overwrites what the command reads, by whatever name") {
  const Shop shop;
  std::filesystem::create_symlink("m.json", shop.file("link.json"));
  std::filesystem::create_hard_link(shop.file("x.npy"), shop.file("hard.npy"));
  REQUIRE(shop.dfc({"run", "g.dfg", "--feed", "x=x.npy", "--save-state", "s.safetensors"}).status == 0);
  const auto before = shop.contents();
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{"compile", "g.dfg", "-m", "m.json", "-o", "m.json"}, "m.json: error: -o"},
      {{"compile", "g.dfg", "-m", "m.json", "-o", "link.json"}, "link.json: error: -o"},
      {{"compile", "g.dfg", "-m", "m.json", "-o", "./folder/../g.dfg"}, "./folder/../g.dfg: error: -o"},
      {{"simulate", "g.plan", "--trace", "g.plan"}, "g.plan: error: --trace"},
      {{"run", "g.plan", "--feed", "x=x.npy", "--fetch", "y=hard.npy"}, "hard.npy: error: --fetch"},
      {{"run", "g.plan", "--feed", "x=x.npy", "--fetch", "y=w.npy"}, "w.npy: error: --fetch"},
      {{"run", "g.plan", "--feed", "x=x.npy", "--state", "s.safetensors", "--trace", "s.safetensors"},
       "s.safetensors: error: --trace"},
  };
  for (const auto& [words, start] : commands) {
    const Outcome outcome = shop.dfc(words);
    CHECK(outcome.status == 1);
    CHECK(outcome.err ==
          start + " would overwrite a file that this command reads\n  hint: write to another file\n");
  }
  CHECK(shop.contents() == before);
}

TEST_CASE("dfc run: a parameter's file is kept from outputs, also with a '#' in its folder's name") {
  const Shop shop;
  std::filesystem::create_directory(shop.file("run#1"));
  REQUIRE(shop.dfc({"run", "g.dfg", "--feed", "x=x.npy", "--save-state", "run#1/s.safetensors"}).status == 0);
  std::string text = graph;
  shop.write("from.dfg", text.replace(text.find("w.npy"), 5, "run#1/s.safetensors#w"));
  const auto before = shop.contents();
  const Outcome outcome =
      shop.dfc({"run", "from.dfg", "--feed", "x=x.npy", "--save-state", "run#1/s.safetensors"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err ==
        "run#1/s.safetensors: error: --save-state would overwrite a file that this command reads\n"
        "  hint: write to another file\n");
  CHECK(shop.contents() == before);
  CHECK(shop.dfc({"run", "from.dfg", "--feed", "x=x.npy"}).status == 0);
}

TEST_CASE("dfc: no output takes the name of another kind of file") {
  const Shop shop;
  const auto before = shop.contents();
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{"machine", "--estimate", "-o", "g.dfg"}, "g.dfg: error: is no .json file"},
      {{"compile", "g.dfg", "-m", "cpu", "-o", "m.json"}, "m.json: error: is no .plan file"},
      {{"simulate", "g.plan", "--trace", "x.npy"}, "x.npy: error: is no .json file"},
      {{"run", "g.plan", "--feed", "x=x.npy", "--trace", "m.plan"}, "m.plan: error: is no .json file"},
  };
  for (const auto& [words, start] : commands) {
    const Outcome outcome = shop.dfc(words);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, startingWith(start));
  }
  CHECK(shop.contents() == before);
}

TEST_CASE("dfc run: a state that lacks a parameter is refused, and says which") {
  const Workshop shop;
  const auto graph = [](const std::string& more) {
    return "graph net {\n  parameter w : f32[64, 64] = normal(0, 1, seed=1)\n" + more +
           "  fetch y = tanh(w)\n}\n";
  };
  shop.write("one.dfg", graph(""));
  shop.write("two.dfg", graph("  parameter b : f32[3] = zeros()\n  fetch z = b + 1\n"));
  REQUIRE(shop.dfc({"run", "one.dfg", "--save-state", "s.safetensors"}).status == 0);
  const Outcome partial = shop.dfc({"run", "two.dfg", "--state", "s.safetensors"});
  CHECK(partial.status == 1);
  CHECK(partial.err ==
        "s.safetensors: error: has values for 1 of the plan's 2 parameters; 1 is missing: 'b'\n"
        "  hint: use a file that was saved from this graph\n");
}

TEST_CASE("dfc run: a file beyond the user's limit is an error, and the old one stays") {
  const Workshop shop;
  shop.write("net.dfg",
             "graph net {\n  parameter w : f32[64, 64] = normal(0, 1, seed=1)\n  assign(w, w + 1)\n}\n");
  REQUIRE(shop.dfc({"run", "net.dfg", "--save-state", "s.safetensors"}).status == 0);
  const std::string old = readText(shop.file("s.safetensors"));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 8192; // half of the state
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Outcome outcome = shop.dfc({"run", "net.dfg", "--save-state", "s.safetensors"});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  INFO(outcome.err);
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, containing("s.safetensors: error: cannot write: "));
  CHECK_THAT(outcome.err, containing("1 step was run; not written: s.safetensors\n"));
  CHECK(readText(shop.file("s.safetensors")) == old);
  CHECK(std::distance(std::filesystem::directory_iterator(shop.path()), {}) == 2);
}

TEST_CASE("dfc run: the state of another net is one error, which says how much of it fits") {
  const Workshop shop;
  const auto graph = [](const std::string& prefix) {
    std::string text = "graph net {\n  parameter w : f32[3] = zeros()\n";
    for (int i = 0; i < 8; ++i) {
      text += fmt::format("  parameter {}{} : f32[3] = zeros()\n", prefix, i);
    }
    return text + "  fetch y = w + 1\n}\n";
  };
  shop.write("one.dfg", graph("a"));
  shop.write("two.dfg", graph("b"));
  REQUIRE(shop.dfc({"run", "one.dfg", "--save-state", "s.safetensors"}).status == 0);
  const Outcome other = shop.dfc({"run", "two.dfg", "--state", "s.safetensors"});
  CHECK(other.status == 1);
  CHECK(other.err ==
        "s.safetensors: error: has values for 1 of the plan's 9 parameters; 8 are missing: 'b0', "
        "'b1', 'b2', 'b3', 'b4', …; 8 of its values are of no parameter: 'a0', 'a1', 'a2', 'a3', "
        "'a4', …\n  hint: use a file that was saved from this graph\n");
}

TEST_CASE("dfc: a full disk is the machine's failure everywhere, and a run says what was done") {
  const Shop shop;
  const std::string full = "/dev/full: error: cannot write: No space left on device\n";
  const std::vector<std::vector<std::string>> commands = {
      {"simulate", "g.plan", "--trace", "/dev/full"},
      {"compile", "g.dfg", "-m", "m.json", "-o", "/dev/full"},
      {"machine", "--estimate", "-o", "/dev/full"},
      {"run", "g.plan", "--feed", "x=x.npy", "--steps", "3", "--fetch", "y=y.npy", "--trace", "/dev/full"},
  };
  Outcome last;
  for (const auto& command : commands) {
    last = shop.dfc(command);
    INFO(command[0] << ": " << last.err);
    CHECK(last.status == 2);
    CHECK_THAT(last.err, containing(full));
  }
  CHECK_THAT(last.err, containing("3 steps were run; written: y.npy; not written: /dev/full\n"));
  CHECK(std::filesystem::exists(shop.file("y.npy")));
  const auto json = nlohmann::json::parse(
      shop.dfc({"run", "g.plan", "--feed", "x=x.npy", "--trace", "/dev/full", "--json"}).err);
  CHECK(json["fault"] == "machine");
  CHECK(json["notes"][0] == "1 step was run; not written: /dev/full");
}

TEST_CASE("dfc run: the state may be saved where it was read, and goes on from there") {
  const Workshop shop;
  shop.write("counter.dfg", "graph counter {\n  parameter seen : f32[] = zeros()\n  next = seen + 1\n"
                            "  assign(seen, next)\n  fetch seen = next\n}\n");
  REQUIRE(shop.dfc({"run", "counter.dfg", "--save-state", "s.safetensors"}).status == 0);
  const Outcome again =
      shop.dfc({"run", "counter.dfg", "--state", "s.safetensors", "--save-state", "./s.safetensors"});
  INFO(again.err);
  CHECK(again.status == 0);
  CHECK_THAT(shop.dfc({"run", "counter.dfg", "--state", "s.safetensors", "--fetch", "seen"}).out,
             containing("seen: f32[] = 3"));
}

TEST_CASE("dfc run: two outputs need two files, but archives take many arrays") {
  const Shop shop;
  const Outcome twice =
      shop.dfc({"run", "g.plan", "--feed", "x=x.npy", "--fetch", "y=out.npy", "--trace", "./out.npy"});
  CHECK(twice.status == 1);
  CHECK(twice.err == "./out.npy: error: --fetch and --trace would write the same file\n"
                     "  hint: give each a file of its own\n");
  CHECK(shop.dfc({"run", "g.plan", "--feed", "x=x.npy", "--fetch", "y=a.npz", "--fetch", "y=a.npz"}).status ==
        0);
  CHECK(shop.dfc({"run", "g.plan", "--feed", "x=x.npy", "--trace", "/dev/null"}).status == 0);
}
