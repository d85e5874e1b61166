// Signals that end `dfc run`: the step is ended, the state is saved, the exit status is 130.
#include "runtime/executable_folder.h"
#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

#include <csignal>
#include <set>

using namespace dfc;
using namespace dfc::test;

namespace {

/// A script's exit status, in which $run is `dfc` with these words.
int statusOf(const Workshop& shop, const std::string& words, const std::string& script) {
  shop.write("script.sh", "run=\"'" + (executableFolder() / "dfc").string() + "' " + words + "\"\n" + script);
  // Under nohup a hang-up is ignored, and a shell leaves it so for all that it starts.
  auto* const given = std::signal(SIGHUP, SIG_DFL);
  const int status = std::system(("cd '" + shop.path().string() + "' && bash script.sh").c_str());
  std::signal(SIGHUP, given);
  return WEXITSTATUS(status);
}

/// Counts its steps.
struct CounterShop : Workshop {
  CounterShop() {
    write("counter.dfg", "graph counter {\n  parameter seen : f64[] = zeros()\n  next = seen + 1\n"
                         "  assign(seen, next)\n  fetch seen = next\n}\n");
  }
  /// The exit status of a script, in which `dfc` is a run of very many steps.
  int shell(const std::string& script) const {
    return statusOf(*this, "run counter.dfg --steps 100000000 --save-state seen.safetensors ", script);
  }
  double seen() const {
    const auto state = readSafetensors(file("seen.safetensors"));
    INFO(render(state.errors()));
    REQUIRE(state.ok());
    return state->at("seen").at(0);
  }
  std::string err() const { return readText(file("err")); }
};

/// Waits until process $child catches signals 13 and 15 (bits 12 and 14 of the mask, in the fourth
/// hexadecimal digit from the end), one minute at most.
const std::string waitForHandlers = "for i in $(seq 6000); do grep -qs 'SigCgt:.*[57df]...$' "
                                    "/proc/$child/status && break; sleep 0.01; done\n";

} // namespace

TEST_CASE("dfc run: an interrupted run ends its step and writes what was asked for, whatever the signal") {
  for (const std::string signal : {"TERM", "INT", "HUP", "PIPE"}) {
    const CounterShop shop;
    INFO(signal);
    // Started with INT as it is by default, which a shell without job control has ignored for what is in the
    // background.
    CHECK(shop.shell("set -m\neval \"exec $run\" >out 2>err &\nchild=$!\n" + waitForHandlers + "kill -" +
                     signal + " $child\nwait $child\n") == 130);
    CHECK(shop.seen() >= 1);
    CHECK_THAT(shop.err(),
               containing("interrupted after " + std::to_string(static_cast<int64_t>(shop.seen())) + " of "));
  }
}

TEST_CASE("dfc run --predict: Ctrl-C ends with status 130, and what was there before stays whole") {
  const Workshop shop;
  shop.write("next.dfg", "graph next {\n  input x : u8[1]\n  y = x + 1\n  fetch y\n}\n");
  REQUIRE(writeNpy(shop.file("x.npy"), Literal({ElementType::U8, {4'000'000}})).ok());
  shop.write("y.npy", "of a run before");
  CHECK(statusOf(shop, "run next.dfg --feed x=x.npy --predict y=y.npy",
                 "set -m\neval \"exec $run\" >out 2>err &\nchild=$!\n" + waitForHandlers +
                     "kill -INT $child\nwait $child\n") == 130);
  CHECK_THAT(readText(shop.file("err")),
             containing("interrupted after ") && containing("nothing was written"));
  CHECK(readText(shop.file("y.npy")) == "of a run before");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(shop.path())) {
    names.insert(entry.path().filename().string());
  }
  CHECK(names == std::set<std::string>{"err", "next.dfg", "out", "script.sh", "x.npy", "y.npy"});
}

TEST_CASE("dfc run: a terminal that hangs up twice still gets the state saved") {
  const CounterShop shop;
  CHECK(shop.shell("set -m\neval \"exec $run\" >out 2>err &\nchild=$!\n" + waitForHandlers +
                   "kill -HUP $child; kill -HUP $child\nwait $child\n") == 130);
  CHECK(shop.seen() >= 1);
}

TEST_CASE("dfc run: where nobody reads the output any more, the state is saved") {
  const CounterShop shop;
  // The reader goes after the summary; what is printed at the end finds the pipe closed.
  CHECK(shop.shell("mkfifo pipe\neval \"exec $run\" >pipe 2>err &\nchild=$!\n(head -n 1 <pipe >out)\n" +
                   waitForHandlers + "kill -PIPE $child\nwait $child\n") == 130);
  CHECK(shop.seen() >= 1);
  CHECK_THAT(shop.err(), !containing("standard output")); // who closed it knows
}
