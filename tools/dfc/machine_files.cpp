#include "tools/dfc/machine_files.h"

#include "compiler/place/place.h"
#include "ir/base/atomic_file.h"
#include "runtime/executable_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace dfc::tool {
namespace {

namespace files = std::filesystem;

constexpr uint64_t largestFile = uint64_t{16} << 20; // as parseMachine's own reader

/// "a, b or c", each ready for -m; "" where none is shipped.
std::string shippedNames() {
  std::vector<std::string> names;
  for (const ShippedMachine& machine : shippedMachines()) {
    names.push_back(machine.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string whatAMachineFileIs() {
  const std::string shipped = shippedNames();
  return fmt::format(
      "a machine file is JSON that lists devices, links and routes; {}dfc machine -o here.json "
      "writes one of this host",
      shipped.empty() ? "" : fmt::format("shipped ones go by name ({}), ", shipped));
}

Diagnostic noSuchFile(const std::string& word) {
  std::vector<std::string> names;
  for (const ShippedMachine& machine : shippedMachines()) {
    names.push_back(machine.name);
  }
  const auto file = nearestFile(word);
  const auto near = file ? file : nearestName(files::path(word).stem().string(), names);
  return {Severity::Error,
          {word},
          "there is no such machine file",
          (near ? fmt::format("did you mean -m {}? ", *near) : "") + whatAMachineFileIs()};
}

/// A machine file begins with a brace; one that is called .json is judged by the JSON reader.
bool looksLikeMachine(const std::string& text, const std::string& path) {
  const size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return files::path(path).extension() == ".json" || (first != std::string::npos && text[first] == '{');
}

/// Names of the shipped machines that have the device.
std::vector<std::string> shippedWith(const std::string& device) {
  std::vector<std::string> names;
  for (const ShippedMachine& shipped : shippedMachines()) {
    const auto machine = readMachine(shipped.path);
    if (machine && machine->findDevice(device).valid()) {
      names.push_back(shipped.name);
    }
  }
  return names;
}

} // namespace

std::vector<ShippedMachine> shippedMachines() {
  std::vector<ShippedMachine> machines;
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(shippedFile("samples/machines"), ignored)) {
    if (entry.path().extension() == ".json") {
      machines.push_back({entry.path().stem().string(), entry.path().string()});
    }
  }
  std::sort(machines.begin(), machines.end(),
            [](const ShippedMachine& a, const ShippedMachine& b) { return a.name < b.name; });
  return machines;
}

std::string machinePath(const std::string& word) {
  std::error_code ignored;
  if (files::exists(word, ignored) && !files::is_directory(word, ignored)) {
    return word;
  }
  for (const ShippedMachine& machine : shippedMachines()) {
    if (machine.name == word) {
      return machine.path;
    }
  }
  return word;
}

Result<Machine> machineNamed(const std::string& word) {
  const std::string path = machinePath(word);
  std::error_code ignored;
  if (!files::exists(path, ignored)) {
    return noSuchFile(word);
  }
  const auto text = readTextFile(path, largestFile);
  if (!text) {
    return text.errors();
  }
  if (!looksLikeMachine(*text, path)) {
    return Diagnostic{Severity::Error, {path}, "is not a machine file", whatAMachineFileIs()};
  }
  return parseMachine(*text, path);
}

std::string missingDeviceHint(const std::string& device, const Machine& machine) {
  const auto names = shippedWith(device);
  return unknownDeviceHint(device, machine) +
         (names.empty() ? ""
                        : fmt::format("; of the shipped machines these have {}: {} (-m {})", device,
                                      fmt::join(names, ", "), names.front()));
}

} // namespace dfc::tool
