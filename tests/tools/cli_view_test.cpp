// `dfc view`: every picture is DOT that Graphviz draws, whatever the names in it; and clear words where it
// cannot.
#include "compiler/compile.h"
#include "ir/author/text/parse.h"
#include "ir/draw/dot_writer.h"
#include "ir/draw/scope_view.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <cstdlib>
#include <set>

using namespace dfc;
using namespace dfc::test;

namespace {

const std::string figure = dfc::shippedFile("samples/04_graph_file/figure.dfg").string();
const std::vector<std::string> pictures = {"graph", "placed", "figure", "schedule"};

bool graphvizIsHere() {
  const bool here = std::system("dot -V >/dev/null 2>&1") == 0;
  if (!here) {
    WARN("skipped: drawing, as Graphviz (dot) is not installed");
  }
  return here;
}

} // namespace

TEST_CASE(
    "figure: one step of the MLP collapses to the book's 15 computations and 12 transfers, and the loss") {
  const auto graph = readGraph(figure);
  const auto machine = readMachine(machineFile("cpu-2gpu"));
  REQUIRE(graph.ok());
  REQUIRE(machine.ok());
  const auto plan = compile(*graph, *machine, RooflineCostModel());
  REQUIRE(plan.ok());
  const ScopeView view = collapseByScope(plan->placed());
  std::multiset<std::string> computations, transfers;
  for (const ScopeBox& box : view.boxes) {
    const std::string device = plan->machine().devices[box.device].name;
    (box.transfer ? transfers : computations)
        .insert(device + ": " + (box.transfer ? transferLabel(plan->placed(), box.ops.front()) : box.label));
  }
  // The drawing's 19 boxes are these 15, the 2 copies of half batches and the 2 times "copy to both GPUs".
  CHECK(computations ==
        std::multiset<std::string>{
            "cpu0: next_batch", "cpu0: fc1 sum", "cpu0: fc1 update", "cpu0: fc2 sum", "cpu0: fc2 update",
            "gpu0: fc1 forward", "gpu0: fc2 forward", "gpu0: loss gradient", "gpu0: fc2 backward",
            "gpu0: fc1 backward", "gpu1: fc1 forward", "gpu1: fc2 forward", "gpu1: loss gradient",
            "gpu1: fc2 backward", "gpu1: fc1 backward", "gpu0: loss", "gpu1: loss", "cpu0: loss"});
  CHECK(transfers == std::multiset<std::string>{
                         "gpu0: copy images0", "gpu1: copy images1", "gpu0: copy labels0",
                         "gpu1: copy labels1", "cpu0: copy d1gpu0", "cpu0: copy d1gpu1", "cpu0: copy d2gpu0",
                         "cpu0: copy d2gpu1", "gpu0: copy new w1", "gpu1: copy new w1", "gpu0: copy new w2",
                         "gpu1: copy new w2", "cpu0: copy loss0", "cpu0: copy loss1"});
}

TEST_CASE("dfc view: every picture of the figure, as DOT and drawn") {
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "figure.plan"}).status == 0);
  for (const std::string& what : pictures) {
    const Outcome dot = shop.dfc({"view", "figure.plan", "--what=" + what});
    INFO(what << dot.err);
    CHECK(dot.status == 0);
    CHECK_THAT(dot.out, startingWith("digraph "));
    const Outcome fromGraph = shop.dfc({"view", figure, "-m", machineFile("cpu-2gpu"), "--what=" + what});
    CHECK(fromGraph.status == 0);
    CHECK((what == "graph" || fromGraph.out == dot.out)); // a plan's graph is the compiled one
    if (graphvizIsHere()) {
      const Outcome svg = shop.dfc({"view", "figure.plan", "--what=" + what, "-o", what + ".svg"});
      INFO(svg.err);
      REQUIRE(svg.status == 0);
      CHECK_THAT(readText(shop.file(what + ".svg")), containing("</svg>"));
    }
  }
}

TEST_CASE("dfc view: the text of small pictures") {
  const Workshop shop;
  shop.write("small.dfg", R"(graph small {
  input x : f32[2, 3]
  parameter w : f32[3] = zeros()
  scope "forward" on gpu0 { y = relu(x * w) }
  scope "update" on cpu0 {
    next = w + reduceSum(y, axes=[0])
    assign(w, next)
  }
  fetch y
}
)");
  for (const std::string what : {"placed", "figure"}) {
    const Outcome dot = shop.dfc({"view", "small.dfg", "-m", machineFile("cpu-2gpu"), "--what=" + what});
    INFO(dot.err);
    REQUIRE(dot.status == 0);
    checkGolden("pictures/" + what + ".dot", dot.out);
  }
}

TEST_CASE("dfc view: a schedule has a row for each working queue, copies by what they carry") {
  const Workshop shop;
  for (const std::string collapse : {"", "--collapse"}) {
    std::vector<std::string> words = {"view", figure, "-m", machineFile("cpu-2gpu"), "--what=schedule"};
    words.insert(words.end(), collapse.empty() ? 0 : 1, collapse);
    const Outcome text = shop.dfc(words);
    REQUIRE(text.status == 0);
    for (const std::string label : {"cpu0 computes", "gpu0 computes", "gpu0 copies in", "gpu1 copies out",
                                    "copy new w1", "\"fc1 sum\"", "\"fc2 forward\\l\""}) {
      CHECK_THAT(text.out, containing(label));
    }
    CHECK_THAT(text.out, !containing("gpu0 peer"));                            // nothing runs there
    CHECK_THAT(text.out, !containing("matmul.2"));                             // a name that nobody gave
    CHECK_THAT(text.out, !containing("without room"));                         // every box has a label
    CHECK((text.out.find("pixels") != std::string::npos) == collapse.empty()); // an op of next_batch
  }
}

TEST_CASE("dfc view: the graph of a plan is its computations, and says so") {
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "figure.plan"}).status == 0);
  const Outcome dot = shop.dfc({"view", "figure.plan", "--what=graph"});
  REQUIRE(dot.status == 0);
  CHECK_THAT(dot.out, containing("does not keep the graph as it was written"));
  CHECK_THAT(dot.out, !containing("transfer"));
  CHECK_THAT(dot.out, !containing("w1@gpu0"));
}

namespace {

/// A chain of `ops` ops in equal layers of 20.
std::string chain(int ops) {
  std::string text = "graph chain {\n  input x0 : f32[2]\n";
  for (int i = 0; i < ops; ++i) {
    text += i % 20 == 0 ? "  scope \"h." + std::to_string(i / 20) + "\" {\n" : "";
    text += "    x" + std::to_string(i + 1) + " = tanh(x" + std::to_string(i) + ")\n";
    text += i % 20 == 19 ? "  }\n" : "";
  }
  return text + "  fetch x" + std::to_string(ops) + "\n}\n";
}

} // namespace

TEST_CASE("dfc view: a picture past its limits is drawn by scope, and says so") {
  const Workshop shop;
  shop.write("chain.dfg", chain(2000)); // 2000 boxes and 2000 arrows are more than 3000
  for (const std::string what : {"graph", "placed"}) {
    std::vector<std::string> words = {"view", "chain.dfg", "--what=" + what};
    if (what == "placed") {
      words.insert(words.end(), {"-m", machineFile("cpu"), "--skip-pass", "fuse_elementwise"});
    }
    INFO(what);
    const Outcome some = shop.dfc(words);
    INFO(some.err);
    REQUIRE(some.status == 0);
    CHECK_THAT(some.err, containing("warning: the picture is drawn by scope: op by op it has "));
    CHECK_THAT(some.err, containing("--whole"));
    CHECK_THAT(some.out, containing("drawn by scope, equal layers as one box: op by op it has "));
    CHECK_THAT(some.out, containing("h.* × 100"));
    words.emplace_back("--whole");
    const Outcome all = shop.dfc(words);
    CHECK(all.err.find("warning") == std::string::npos);
    CHECK(std::count(all.out.begin(), all.out.end(), '\n') > 4000);
  }
}

TEST_CASE("dfc view: Graphviz that takes too long is ended, and given less to draw", "[heavy]") {
  const Workshop shop;
  shop.write("chain.dfg", chain(200));
  shop.write(
      "dot",
      "#!/bin/sh\n# slow with all of it, quick with a picture by scope\n"
      "grep -q 'drawn by scope' \"$4\" && test \"$SLOW\" != always && echo '<svg/>' >\"$3\" && exit 0\n"
      "exec sleep 60\n");
  std::filesystem::permissions(shop.file("dot"), std::filesystem::perms::owner_all);
  const std::string path = shop.path().string() + ":" + std::getenv("PATH");
  const std::vector<std::string> words = {"view", "chain.dfg", "--what=graph", "-o", "chain.svg"};
  const Outcome some = runDfc(words, shop.path(), {{"PATH", path}});
  INFO(some.err);
  CHECK(some.status == 0);
  CHECK_THAT(some.err, containing("Graphviz could not lay out all of it in time"));
  std::filesystem::remove(shop.file("chain.svg"));
  const Outcome none = runDfc(words, shop.path(), {{"PATH", path}, {"SLOW", "always"}});
  CHECK(none.status == 1);
  CHECK_THAT(none.err, containing("did not finish within 9 seconds"));
  CHECK_THAT(none.err, containing("-o FILE.html"));
  CHECK_FALSE(std::filesystem::exists(shop.file("chain.svg")));
}

TEST_CASE("dfc view: hostile names stay text") {
  const Workshop shop;
  shop.write("odd.dfg", R"(graph "a <b> & \"c\" \\ }" {
  input "x\"] -> y [" : f32[2]
  scope "s/<table>&amp;" { y = relu("x\"] -> y [") }
  fetch "\n}" = y
}
)");
  for (const std::string& what : pictures) {
    const Outcome dot = shop.dfc({"view", "odd.dfg", "--what=" + what, "-o", what + ".dot"});
    INFO(dot.err);
    REQUIRE(dot.status == 0);
    if (graphvizIsHere()) {
      const Outcome png = shop.dfc({"view", "odd.dfg", "--what=" + what, "-o", what + ".png"});
      INFO(what << png.err);
      CHECK(png.status == 0);
      CHECK(readText(shop.file(what + ".png")).substr(1, 3) == "PNG");
    }
  }
}

TEST_CASE("dfc view: what it cannot do, it says") {
  const Workshop shop;
  const Outcome what = shop.dfc({"view", figure, "--what=schedul"});
  CHECK(what.status == 1);
  CHECK(what.err == "error: there is no picture 'schedul'\n"
                    "  hint: did you mean 'schedule'? There are: graph, placed, figure, schedule\n");
  const Outcome format = shop.dfc({"view", figure, "--what=graph", "-o", "g.jpeg"});
  CHECK(format.status == 1);
  CHECK(format.err ==
        "g.jpeg: error: there is no picture format '.jpeg'\n  hint: there are: .html, .dot, .svg, .png\n");
  const Outcome bare = shop.dfc({"view", figure, "--what=graph", "-o", "g.svg"}, {{"PATH", "/nowhere"}});
  CHECK(bare.status == 1);
  CHECK(bare.err ==
        "error: Graphviz' program dot cannot be started: No such file or directory\n"
        "  hint: install it: sudo apt-get install graphviz; or write a .dot file and draw it elsewhere\n");
  CHECK_FALSE(std::filesystem::exists(shop.file("g.svg")));
}

TEST_CASE("dfc view: a device has one colour in all pictures") {
  const Workshop shop;
  REQUIRE(shop.dfc({"compile", figure, "-m", machineFile("cpu-2gpu"), "-o", "figure.plan"}).status == 0);
  for (const std::string& what : pictures) {
    const std::string dot = shop.dfc({"view", "figure.plan", "--what=" + what}).out;
    INFO(what);
    for (const char* border : {"#455a64", "#1565c0", "#bf360c"}) { // cpu0, gpu0, gpu1
      CHECK_THAT(dot, containing(border));
    }
    CHECK_THAT(dot, !containing("#2e7d32")); // the next device's
  }
  CHECK_THAT(shop.dfc({"view", figure, "--what=graph"}).out,
             containing("<b>gpu1</b><br/><font point-size=\"10\" color=\"#57606a\">pinned to it</font>>, "
                        "shape=box, fillcolor=\"#ffccbc\", color=\"#bf360c\""));
}

TEST_CASE("pictures: long names break where they may") {
  CHECK(wrapped("fc1 forward", 5) == "fc1\nforward");
  CHECK(wrapped("fc1 forward", 20) == "fc1 forward");
  CHECK(wrapped("copy x\n10.2 KB", 20) == "copy x\n10.2 KB");
  CHECK(wrapped("softmaxCrossEntropy", 5) == "softmaxCrossEntropy");
  CHECK(dotQuoted("a\"b\\c\nd") == "\"a\\\"b\\\\c\\nd\"");
}
