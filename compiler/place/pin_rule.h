// PinRule: a pin outside the graph, which a caller of compile() gives by name.
#pragma once

#include "ir/base/visibility.h"

#include <string>

namespace DFC_PUBLIC dfc {

/// Pins ops by name: `pattern` is a glob over op names and whole scope paths ("fc1*", "*/loss"), gradients'
/// ops included; a rule wins over the pins in the graph, a later rule over an earlier one.
struct PinRule {
  std::string pattern; ///< a glob
  std::string device;  ///< of the machine: "gpu0"
};

} // namespace dfc
