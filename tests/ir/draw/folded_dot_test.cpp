// foldedDot: a box a scope, equal layers as one, scopes opened while there is room, copies on the arrows.
#include "ir/author/dsl.h"
#include "ir/draw/folded_dot.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

using namespace dfc;
using namespace dfc::test;

namespace {

/// Twelve equal layers of two scopes each, between an input and a head.
Graph layers() {
  Builder g("tower");
  Tensor x = g.input("x", f32({4, 4}));
  for (int i = 0; i < 12; ++i) {
    const auto layer = g.scope("h." + std::to_string(i));
    {
      const auto part = g.scope("attention");
      x = tanh(matmul(x, x));
    }
    const auto part = g.scope("mlp");
    x = relu(x + 1);
  }
  const auto head = g.scope("head");
  g.fetch("y", reduceSum(x));
  return std::move(g).finish().orThrow();
}

} // namespace

TEST_CASE("foldedDot: equal layers are one box with their number, and a frame where there is room") {
  const std::string closed = foldedDot(layers(), {"tower", "drawn by scope: why", 3});
  CHECK_THAT(closed, containing("drawn by scope: why"));
  CHECK_THAT(closed, containing("<b>h.* × 12</b>"));
  CHECK_THAT(closed,
             containing("48 ops: 12 add, 12 matmul, 12 relu, …")); // 12 layers of tanh, matmul, relu, add
  CHECK_THAT(closed, !containing("attention"));
  const std::string open = foldedDot(layers(), {"tower", "", 10});
  CHECK_THAT(open, containing("label=\"h.* × 12\""));
  CHECK_THAT(open, containing("<b>attention</b>"));
  CHECK_THAT(open, containing("24 ops: 12 matmul, 12 tanh"));
  CHECK_THAT(open, containing("style=dashed")); // a layer's mlp feeds the next layer's attention
}

TEST_CASE("foldedDot: copies between devices are counted with their bytes, and devices are named") {
  PlacedGraph placed;
  GraphBuilder builder("pair");
  ops::Input input;
  input.type = f32({256});
  const OpId in = builder.append(input, {}, {.name = "x"});
  const OpId copy = builder.append(ops::Transfer{}, {builder.result(in)}, {.name = "copy"});
  const OpId out = builder.append(ops::Exp{}, {builder.result(copy)}, {.name = "y"});
  builder.fetch("z", builder.result(out));
  placed.graph = std::move(builder).finish().orThrow();
  placed.device.resize(3, DeviceId(1));
  placed.device[in] = DeviceId(0);
  placed.transfers[copy] = {DeviceId(0), DeviceId(1), {}, 1024};
  Machine machine;
  for (const char* name : {"cpu0", "gpu0"}) {
    DeviceRow row;
    row.name = name;
    machine.devices.add(row);
  }
  const std::string dot = foldedDot(placed, machine, {"pair", "", 10});
  CHECK_THAT(dot, containing("1 copy within, 1.02 KB")); // 256 * 4 bytes; both ops are outside of scopes
  CHECK_THAT(dot, containing("on cpu0, gpu0"));
}
