// The JSON form of a machine, in and out. Reading says everything that is wrong at once: the reader's
// errors of the text, then faults of the machine, each located in the file.
#include "ir/base/atomic_file.h"
#include "ir/base/json/json_text.h"
#include "ir/machine/machine_faults.h"
#include "ir/machine/machine_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr uint64_t largestMachineFile = uint64_t{16} << 20;
constexpr size_t machineNesting = 8;

/// Members of one object, left out where they have their default.
class ObjectPrinter {
 public:
  void add(std::string_view key, const std::string& value) {
    text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", jsonQuoted(key), value);
  }
  void text(std::string_view key, std::string_view value) { add(key, jsonQuoted(value)); }
  void number(std::string_view key, double value, double byDefault) {
    if (value != byDefault) {
      add(key, jsonNumber(value));
    }
  }
  void whole(std::string_view key, int64_t value, int64_t byDefault) {
    if (value != byDefault) {
      add(key, fmt::format("{}", value));
    }
  }
  std::string finish() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string printByPrecision(const ByElementType& byType, double tf32) {
  ObjectPrinter object;
  for (const ElementType type : allElementTypes) {
    object.number(name(type), byType[static_cast<size_t>(type)], 0);
  }
  object.number("tf32", tf32, 0);
  return object.finish();
}

std::string printRates(const ByElementType& rates, double tf32) {
  const bool one =
      tf32 == 0 && std::all_of(rates.begin(), rates.end(), [&](double rate) { return rate == rates[0]; });
  return one ? jsonNumber(rates[0]) : printByPrecision(rates, tf32);
}

std::string printHalfTile(const DeviceRow& device) {
  return device.hasOneHalfTile() ? jsonNumber(device.tf32HalfTile)
                                 : printByPrecision(device.matmulHalfTile, device.tf32HalfTile);
}

std::string printHalfInner(const DeviceRow& device) {
  return device.hasOneHalfInner() ? jsonNumber(device.tf32HalfInner)
                                  : printByPrecision(device.matmulHalfInner, device.tf32HalfInner);
}

std::string printMatmulLaunch(const DeviceRow& device) {
  return device.hasOneMatmulLaunch() ? jsonNumber(device.tf32LaunchSeconds)
                                     : printByPrecision(device.matmulLaunchSeconds, device.tf32LaunchSeconds);
}

std::string printDevice(const DeviceRow& device) {
  const DeviceRow plain;
  ObjectPrinter object;
  object.text("id", device.name);
  object.text("class", name(device.kind));
  if (!device.model.empty()) {
    object.text("model", device.model);
  }
  if (!device.architecture.empty()) {
    object.text("architecture", device.architecture);
  }
  object.whole("mem", device.memoryBytes, plain.memoryBytes);
  object.whole("slots", device.computeQueues, plain.computeQueues);
  object.whole("threads", device.threads, plain.threads);
  object.whole("multiprocessors", device.multiprocessors, plain.multiprocessors);
  object.whole("threadsPerMultiprocessor", device.threadsPerMultiprocessor, plain.threadsPerMultiprocessor);
  object.whole("sharedBytesPerBlock", device.sharedBytesPerBlock, plain.sharedBytesPerBlock);
  if (device.peakFlops != plain.peakFlops || device.tf32Flops != plain.tf32Flops) {
    object.add("flops", printRates(device.peakFlops, device.tf32Flops));
  }
  if (device.matmulHalfInner != plain.matmulHalfInner || device.tf32HalfInner != plain.tf32HalfInner) {
    object.add("matmulHalfInner", printHalfInner(device));
  }
  if (device.matmulHalfTile != plain.matmulHalfTile || device.tf32HalfTile != plain.tf32HalfTile) {
    object.add("matmulHalfTile", printHalfTile(device));
  }
  if (device.convolutionFlops != plain.convolutionFlops ||
      device.tf32ConvolutionFlops != plain.tf32ConvolutionFlops) {
    object.add("convolutionFlops", printRates(device.convolutionFlops, device.tf32ConvolutionFlops));
  }
  if (device.stridedFlops != plain.stridedFlops || device.tf32StridedFlops != plain.tf32StridedFlops) {
    object.add("stridedFlops", printRates(device.stridedFlops, device.tf32StridedFlops));
  }
  object.number("memoryBandwidth", device.memoryBandwidth, plain.memoryBandwidth);
  object.whole("cache", device.cacheBytes, plain.cacheBytes);
  object.number("launch", device.launchSeconds, plain.launchSeconds);
  if (device.matmulLaunchSeconds != plain.matmulLaunchSeconds ||
      device.tf32LaunchSeconds != plain.tf32LaunchSeconds) {
    object.add("matmulLaunch", printMatmulLaunch(device));
  }
  object.number("stepOverhead", device.stepOverheadSeconds, plain.stepOverheadSeconds);
  return object.finish();
}

std::string printLink(const LinkRow& link) {
  const LinkRow plain;
  ObjectPrinter object;
  object.text("id", link.name);
  object.add("latency", jsonNumber(link.latencySeconds));
  object.number("bandwidth", link.bandwidth, plain.bandwidth);
  object.whole("slots", link.slots, plain.slots);
  return object.finish();
}

std::string printRoute(const Machine& machine, const Route& route) {
  std::string links;
  for (const LinkId link : route.links) {
    links += (links.empty() ? "" : ", ") + jsonQuoted(machine.links[link].name);
  }
  ObjectPrinter object;
  object.text("from", machine.devices[route.from].name);
  object.text("to", machine.devices[route.to].name);
  object.add("links", "[" + links + "]");
  return object.finish();
}

/// A member that is an array with a row a line.
template <class Rows, class Print>
std::string printRows(std::string_view key, const Rows& rows, const Print& print) {
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{}\n    {}", text.empty() ? "" : ",", print(row));
  }
  return fmt::format(",\n  {}: [{}{}]", jsonQuoted(key), text, text.empty() ? "" : "\n  ");
}

} // namespace

Result<Machine> parseMachine(std::string_view json, const std::string& fileName) {
  JsonDocument document(json, fileName, machineNesting);
  if (!document.readable()) {
    return document.takeErrors();
  }
  Machine machine = machineFrom(document);
  // What the reader complained of has a default in its place, of which faults would only follow.
  for (MachineFault& fault : machineFaults(machine)) {
    if (!document.complainedOf(fault.path)) {
      document.errorAt(fault.path, fault.message, std::move(fault.hint));
    }
  }
  if (!document.clean()) {
    return document.takeErrors();
  }
  return machine;
}

Result<Machine> readMachine(const std::string& path) {
  const Result<std::string> text = readTextFile(path, largestMachineFile);
  if (!text.ok()) {
    return text.errors();
  }
  return parseMachine(*text, path);
}

std::string printMachine(const Machine& machine) {
  std::string text = fmt::format("{{\n  \"name\": {}", jsonQuoted(machine.name));
  text += printRows("devices", machine.devices, printDevice);
  text += printRows("links", machine.links, printLink);
  text += printRows("routes", machine.routes, [&](const Route& route) { return printRoute(machine, route); });
  return text + "\n}\n";
}

} // namespace dfc
