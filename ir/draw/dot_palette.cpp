// See dot_palette.h.
#include "ir/draw/dot_palette.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace dfc::dot {
namespace {

constexpr std::array<Colour, 9> colours = {{{"#eceff1", "#455a64"},
                                            {"#bbdefb", "#1565c0"},
                                            {"#ffccbc", "#bf360c"},
                                            {"#c8e6c9", "#2e7d32"},
                                            {"#e1bee7", "#6a1b9a"},
                                            {"#b2ebf2", "#00838f"},
                                            {"#d7ccc8", "#4e342e"},
                                            {"#f8bbd0", "#ad1457"},
                                            {"#f0f4c3", "#827717"}}};

// The host's is the first; no other device is ever that grey.
size_t slotOfNumber(size_t number) { return 1 + number % (colours.size() - 1); }

std::optional<size_t> ownSlot(std::string_view name) {
  if (name == "cpu0") {
    return 0;
  }
  size_t number = 0;
  const char* end = name.data() + name.size();
  if (!name.starts_with("gpu") || std::from_chars(name.data() + 3, end, number).ptr != end ||
      name.size() == 3) {
    return std::nullopt;
  }
  return slotOfNumber(number);
}

} // namespace

std::vector<std::string> deviceNames(const Machine& machine) {
  std::vector<std::string> names;
  for (const DeviceRow& device : machine.devices) {
    names.push_back(device.name);
  }
  return names;
}

DevicePalette::DevicePalette(const std::vector<std::string>& names) {
  std::set<size_t> taken;
  for (const std::string& name : names) {
    if (const auto slot = ownSlot(name)) {
      slots_.emplace(name, *slot);
      taken.insert(*slot);
    }
  }
  size_t next = 0;
  for (const std::string& name : names) {
    if (slots_.count(name) != 0) {
      continue;
    }
    while (next + 1 < colours.size() && taken.count(slotOfNumber(next)) != 0) {
      ++next;
    }
    slots_.emplace(name, slotOfNumber(next++));
  }
}

Colour DevicePalette::of(std::string_view name) const {
  const auto slot = slots_.find(name);
  return slot == slots_.end() ? noDevice : colours[slot->second];
}

} // namespace dfc::dot
