// What this host's processor is called.
#pragma once

#include <string>

namespace dfc {

/// The model name of /proc/cpuinfo; "" where the system does not tell.
std::string cpuModel();

} // namespace dfc
