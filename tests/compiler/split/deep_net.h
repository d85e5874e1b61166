// A training step of several equal layers, and machines of alike GPUs with slow links.
#pragma once

#include "compiler/quotient/quotient_plans.h"
#include "compiler/run_passes.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

#include <string>

namespace dfc::test {

constexpr int layers = 8;

/// Activations are f32[rows, width].
inline std::string deepNet(int rows, int width = 64) {
  std::string text = fmt::format("graph deep {{\n  input x : f32[{}, {}]\n", rows, width), names, gradients;
  std::string value = "x";
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  parameter w{0} : f32[{1}, {1}] = glorot(seed={0})\n", i, width);
  }
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  h{0} = gelu(matmul({1}, w{0}))\n", i, value);
    value = fmt::format("h{}", i);
    names += fmt::format(", w{}", i);
    gradients += fmt::format("{}d{}", i == 0 ? "" : ", ", i);
  }
  text += fmt::format("  loss = reduceMean(mul({0}, {0}))\n  {1} = gradients(loss{2})\n", value, gradients,
                      names);
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  n{0} = assign(w{0}, sub(w{0}, mul(d{0}, 0.1)))\n", i);
  }
  return text + "  fetch loss\n}";
}

/// Devices that exchange gradients more slowly than the activations between two layers.
inline Machine slowLinks(Machine machine) {
  for (const DeviceId device : machine.devices.ids()) {
    const bool isHost = device == machine.host();
    machine.devices[device].peakFlops.fill(isHost ? 1e9 : 1e12);
    machine.devices[device].memoryBandwidth = 1e12;
  }
  for (const LinkId link : machine.links.ids()) {
    machine.links[link].bandwidth = 2e9;
    machine.links[link].latencySeconds = 1e-6;
  }
  return machine;
}

/// A cluster: hosts with `each` GPUs. A copy within a host takes the two GPUs' switch ports, a copy between
/// hosts the two hosts' network ports.
inline Machine hostsOf(uint32_t gpus, uint32_t each) {
  Machine machine = slowLinks(smallMachine(gpus));
  machine.routes.clear();
  machine.links = {};
  const std::vector<DeviceId> devices = largestClass(machine);
  std::vector<LinkId> in, out, hostIn, hostOut;
  for (uint32_t i = 0; i < gpus; ++i) {
    const std::string& name = machine.devices[devices[i]].name;
    in.push_back(machine.links.add({name + " in", 1e-6, 50e9}));
    out.push_back(machine.links.add({name + " out", 1e-6, 50e9}));
    const LinkId down = machine.links.add({name + " down", 1e-6, 50e9}),
                 up = machine.links.add({name + " up", 1e-6, 50e9});
    machine.routes.push_back({machine.host(), devices[i], {down}});
    machine.routes.push_back({devices[i], machine.host(), {up}});
  }
  for (uint32_t host = 0; host * each < gpus; ++host) {
    hostIn.push_back(machine.links.add({std::to_string(host) + " in", 2e-6, 10e9}));
    hostOut.push_back(machine.links.add({std::to_string(host) + " out", 2e-6, 10e9}));
  }
  for (uint32_t from = 0; from < gpus; ++from) {
    for (uint32_t to = 0; to < gpus; ++to) {
      if (from != to && from / each == to / each) {
        machine.routes.push_back({devices[from], devices[to], {out[from], in[to]}});
      } else if (from != to) {
        machine.routes.push_back({devices[from], devices[to], {hostOut[from / each], hostIn[to / each]}});
      }
    }
  }
  return machine;
}

/// Behind the phases Expand and Rewrite, as splits find it.
inline Graph rewritten(const Graph& graph, const Machine& machine) {
  CompileOptions options;
  auto expanded = runPasses(PassPhase::Expand, graph, machine, options);
  REQUIRE(expanded.ok());
  auto made = runPasses(PassPhase::Rewrite, *expanded, machine, options);
  REQUIRE(made.ok());
  return *std::move(made);
}

} // namespace dfc::test
