// verifyMachine: the faults of a machine as errors without a place.
#include "ir/machine/machine_faults.h"
#include "ir/verify/verify.h"

#include <fmt/format.h>

namespace dfc {

Diagnostics verifyMachine(const Machine& machine) {
  Diagnostics errors;
  for (MachineFault& fault : machineFaults(machine)) {
    errors.push_back(errorWithoutPlace(
        fmt::format("machine '{}': {}: {}", machine.name, fault.path, fault.message), std::move(fault.hint)));
  }
  return errors;
}

} // namespace dfc
