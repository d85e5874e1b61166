// Latencies of copies as ops see them that wait for one another, measured on emulated GPUs.
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"
#include "tools/library/host_links.h"

namespace dfc::test {

TEST_CASE(
    "host links: latencies are those of round trips, in the proportion of the file, and never shorter") {
  SessionOptions emulated;
  emulated.gpuBackend = "emulated";
  Machine machine = smallMachine(2);
  const auto link = [&](DeviceId from, DeviceId to) -> LinkRow& {
    return machine.links[machine.directRoute(from, to)->links.front()];
  };
  const DeviceId host = machine.host(), first(1), second(2);
  link(host, first).latencySeconds = 3e-9;
  link(first, host).latencySeconds = 1e-9;
  link(host, second).latencySeconds = link(second, host).latencySeconds = 1; // a second
  measureHostLinks(machine, emulated);
  CHECK(link(host, first).latencySeconds > 3e-9);
  CHECK(link(host, first).latencySeconds / link(first, host).latencySeconds == Approx(3).epsilon(0.02));
  CHECK(link(host, second).latencySeconds == 1);
  CHECK(link(second, host).latencySeconds == 1);
}

TEST_CASE("host links: three digits of a figure") {
  CHECK(roundedFigure(0.00123456) == Approx(0.00123));
  CHECK(roundedFigure(98765) == 98800);
  CHECK(roundedFigure(0) == 0);
  CHECK(roundedFigure(-1) == 0);
}

} // namespace dfc::test
