// The colours of devices: one palette for every picture, so that gpu0 looks the same in the graph that its
// author pinned, in the placed graph and in the schedule. Colours are light enough for black text and differ
// in lightness too, so that they survive a grey printer.
#pragma once

#include "ir/machine/machine.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::dot {

struct Colour {
  std::string_view fill;
  std::string_view border;
};

inline constexpr Colour noDevice{"#ffffff", "#57606a"};

/// The names of a machine's devices in its order.
std::vector<std::string> deviceNames(const Machine& machine);

/// A colour for each name. "cpu0" is grey and "gpu<N>" the colour of its number whatever else is listed;
/// other names (a pin may be a pattern) take the colours that are left, in order. The host and eight others
/// are told apart, more repeat.
class DevicePalette {
 public:
  explicit DevicePalette(const std::vector<std::string>& names);
  explicit DevicePalette(const Machine& machine) : DevicePalette(deviceNames(machine)) {}
  /// `noDevice` for a name that is not listed.
  Colour of(std::string_view name) const;

 private:
  std::map<std::string, size_t, std::less<>> slots_;
};

} // namespace dfc::dot
