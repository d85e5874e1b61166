// Machines that differ from another in one respect.
#include "compiler/explain/changed_machine.h"
#include "tests/support/catch.h"

#include <limits>

namespace dfc::test {
namespace {

/// cpu0, gpu0 and gpu1; each GPU has a link to the host and one back, none to the other GPU.
Machine star() {
  Machine machine;
  const DeviceId host = machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = ""});
  for (const char* name : {"gpu0", "gpu1"}) {
    const DeviceId gpu = machine.devices.add({.name = name, .kind = DeviceKind::Gpu, .model = ""});
    const LinkId in = machine.links.add({std::string(name) + " in", 0, 10});
    const LinkId out = machine.links.add({std::string(name) + " out", 0, 10});
    machine.routes.push_back({host, gpu, {in}});
    machine.routes.push_back({gpu, host, {out}});
  }
  return machine;
}

} // namespace

TEST_CASE("changed machine: one more device has the first free number of its kind, and links of its own") {
  const auto machine = withOneMore(star(), DeviceId(2));
  REQUIRE(machine);
  CHECK(machine->devices[DeviceId(3)].name == "gpu2");
  CHECK(machine->links.size() == 6);
  CHECK(machine->path(DeviceId(0), DeviceId(3), 1).has_value());
  CHECK(machine->path(DeviceId(3), DeviceId(1), 1)->size() == 2);
}

TEST_CASE("changed machine: there is no copy of a device that is connected to none") {
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = ""});
  CHECK_FALSE(withOneMore(machine, DeviceId(0)));
}

TEST_CASE("changed machine: links of staged transfers are faster, and no others") {
  const Machine machine = star();
  const std::vector<Route> routes = routesBetween(machine, {DeviceId(1), DeviceId(2)});
  CHECK(routes.size() == 4); // two each way
  const Machine one = withFasterLinks(machine, routesBetween(machine, {DeviceId(0), DeviceId(1)}), 2);
  CHECK(one.links[LinkId(0)].bandwidth == 20);
  CHECK(one.links[LinkId(2)].bandwidth == 10);
  const Machine all = withFasterLinks(machine, routes, 2);
  for (const LinkId link : all.links.ids()) {
    CHECK(all.links[link].bandwidth == 20);
  }
}

TEST_CASE("changed machine: memory has a largest size, and no limit stays none") {
  Machine machine = star();
  machine.devices[DeviceId(1)].memoryBytes = 1000;
  machine.devices[DeviceId(2)].memoryBytes = std::numeric_limits<int64_t>::max() - 1;
  const Machine larger = withMoreMemory(machine, {DeviceId(0), DeviceId(1), DeviceId(2)}, 2);
  CHECK(larger.devices[DeviceId(0)].memoryBytes == 0);
  CHECK(larger.devices[DeviceId(1)].memoryBytes == 2000);
  CHECK(larger.devices[DeviceId(2)].memoryBytes == std::numeric_limits<int64_t>::max());
}

} // namespace dfc::test
