// Machine files: what is read is verified, prints to a file of the same machine, and every pair of devices
// has a path.
#include "ir/machine/machine.h"
#include "ir/verify/verify.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/targets.h"

namespace dfc::test {

void fuzzMachine(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Result<Machine> machine = parseMachine(text, "fuzz.json");
  if (!machine.ok()) {
    expect(!render(machine.errors()).empty(), "a refusal without a word");
    return;
  }
  expect(verifyMachine(*machine).empty(), "a machine that parses and fails its verifier");
  const std::string printed = printMachine(*machine);
  const Result<Machine> again = parseMachine(printed, "again.json");
  expect(again.ok(), "a printed machine that does not parse:\n" + printed);
  expect(printMachine(*again) == printed, "a machine that prints differently the second time:\n" + printed);
  const IdRange<DeviceId> devices = machine->devices.ids();
  for (const DeviceId device : devices) {
    expect(machine->path(machine->host(), device, 1000).has_value(), "a device out of the host's reach");
  }
}

} // namespace dfc::test
