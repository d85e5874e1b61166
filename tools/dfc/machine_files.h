// Machine files by path or, for the ones that dfc brings along, by name: `-m cpu-2gpu`. Shipped files are
// those of samples/machines, as `shippedFile` finds them.
#pragma once

#include "ir/machine/machine.h"

#include <string>
#include <vector>

namespace dfc::tool {

/// A machine file that came with dfc.
struct ShippedMachine {
  std::string name; ///< the file's without ".json"
  std::string path;
};
/// By name; empty where the folder is not there.
std::vector<ShippedMachine> shippedMachines();

/// The file that `-m WORD` means: WORD itself where there is such a file, else the shipped one of that name,
/// else WORD.
std::string machinePath(const std::string& word);

/// Reads the machine that `-m WORD` names. Errors: no such file or name; a file that is no machine file (a
/// graph, a plan), with what one is; what parseMachine finds.
Result<Machine> machineNamed(const std::string& word);

/// What a machine without `device` has, and which shipped machine files have it: the hint of every error
/// about a device that is not there. A likely slip ("gpu7" for "gpu0") is asked about, another kind never.
std::string missingDeviceHint(const std::string& device, const Machine& machine);

} // namespace dfc::tool
