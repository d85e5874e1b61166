// Machines and calibration tables. Shipped machine files go by name in the package (machines.py).
#include "ir/machine/machine.h"
#include "ir/machine/calibration.h"
#include "tools/library/host_machine.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/plain.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

nb::list devicesOf(const Machine& machine) {
  nb::list devices;
  for (const DeviceRow& row : machine.devices) {
    devices.append(
        plain("Device")(row.name, std::string(name(row.kind)), row.model, row.memoryBytes, row.threads));
  }
  return devices;
}

void setMemory(Machine& machine, const std::string& device, int64_t bytes) {
  const DeviceId id = machine.findDevice(device);
  if (!id.valid() || bytes <= 0) {
    throw nb::value_error(
        fmt::format("memory of '{}', {} bytes: machine '{}' has no such device, or there is "
                    "nothing that it could hold",
                    device, bytes, machine.name)
            .c_str());
  }
  machine.devices[id].memoryBytes = bytes;
}

Machine measured() {
  const nb::gil_scoped_release unlocked;
  return measuredHost().orThrow();
}

Machine withHostGpus(const Machine& self, bool measure) {
  Machine machine = self;
  bool found = false;
  {
    const nb::gil_scoped_release unlocked;
    found = addGpus(machine, measure);
  }
  if (!found) {
    throw Error({errorWithoutPlace("this host has no GPU that dfc can use", whyNoGpu())});
  }
  return machine;
}

void bindCalibration(nb::module_& module) {
  nb::class_<Calibration> table(module, "Calibration",
                                "How long ops take on one model of device, as `dfc calibrate` measured.");
  table.def_prop_ro(
      "device", [](const Calibration& self) { return self.device; }, "The model of device.");
  table.def_prop_ro(
      "ops",
      [](const Calibration& self) {
        nb::dict ops;
        for (const CalibratedOp& op : self.ops) {
          ops[op.signature.c_str()] = op.seconds;
        }
        return ops;
      },
      "Seconds of one run by the op's signature.");
  table.def("__repr__", [](const Calibration& self) {
    return fmt::format("<dfc.Calibration of {} ops on '{}'>", self.ops.size(), self.device);
  });
  module.def(
      "read_calibrations", [](const PathLike& path) { return orRaise(readCalibrations(pathOf(path))); },
      "path"_a, "The tables of a file that `dfc calibrate -o` wrote.");
}

} // namespace

void bindMachine(nb::module_& module) {
  nb::class_<Machine> machine(
      module, "Machine",
      "The devices that a plan is made for, and the links between them. `str(machine)` is "
      "its JSON, a machine file.");
  machine.def_prop_ro(
      "name", [](const Machine& self) { return self.name; }, "For messages and pictures.");
  machine.def_prop_ro("devices", devicesOf,
                      "dfc.Device of each: name, kind, model, memory in bytes, threads.");
  machine.def(
      "with_memory",
      [](const Machine& self, const std::string& device, int64_t bytes) {
        Machine changed = self;
        setMemory(changed, device, bytes);
        return changed;
      },
      "device"_a, "bytes"_a, "The same machine with another capacity of one device.");
  machine.def(
      "with_host_gpus", withHostGpus, "measure"_a = false,
      "The same machine with the real GPUs of this host and their links. Raises dfc.Error without any.");
  machine.def("__str__", [](const Machine& self) { return printMachine(self); });
  machine.def("__repr__", [](const Machine& self) {
    return fmt::format("<dfc.Machine '{}' of {} devices>", self.name, self.devices.size());
  });
  module.def(
      "read_machine", [](const PathLike& path) { return orRaise(readMachine(pathOf(path))); }, "path"_a,
      "Reads a machine file (JSON). Raises dfc.Error with every mistake, located.");
  module.def(
      "parse_machine",
      [](const std::string& json, const std::string& fileName) {
        return orRaise(parseMachine(json, fileName));
      },
      "json"_a, "file_name"_a = "<text>", "The same of a text; `file_name` is for messages.");
  module.def(
      "estimated_host", &estimatedHost,
      "This host as one cpu with all its cores and estimated rates: 10 GB/s of memory and 16 GFLOP/s of "
      "float32 a core.");
  module.def("measured_host", &measured, "The same with measured rates; takes some seconds.");
  bindCalibration(module);
}

} // namespace dfc::python
