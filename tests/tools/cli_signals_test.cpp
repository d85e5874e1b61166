// Signals that end `dfc run`: the step is ended, the state is saved, the exit status is 130.
#include "runtime/executable_folder.h"
#include "runtime/files/safetensors.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/tools/run_dfc.h"

using namespace dfc;
using namespace dfc::test;

namespace {

/// Counts its steps.
struct CounterShop : Workshop {
  CounterShop() {
    write("counter.dfg", "graph counter {\n  parameter seen : f64[] = zeros()\n  next = seen + 1\n"
                         "  assign(seen, next)\n  fetch seen = next\n}\n");
  }
  /// The exit status of a script, in which `dfc` is a run of very many steps.
  int shell(const std::string& script) const {
    const std::string dfc = "'" + (executableFolder() / "dfc").string() +
                            "' run counter.dfg --steps 100000000 --save-state seen.safetensors ";
    write("script.sh", "run=\"" + dfc + "\"\n" + script);
    return WEXITSTATUS(std::system(("cd '" + path().string() + "' && bash script.sh").c_str()));
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
