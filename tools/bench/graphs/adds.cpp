#include "tools/bench/graphs/adds.h"

#include "ir/author/dsl.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

Tensor addOne(Builder& g, Tensor x, const std::string& scope) {
  const auto alone = g.scope(scope);
  return x + 1;
}

} // namespace

Result<Graph> dependentAdds(const std::string& device, int count) { return chainsOfAdds(device, 1, count); }

Result<Graph> independentAdds(const std::string& device, int count) {
  Builder g("independent adds");
  const auto here = g.on(device);
  const Tensor x = g.parameter("x", f32({1, 2}), constantInit(1));
  for (int i = 0; i < count; ++i) {
    const Tensor kept = g.parameter(fmt::format("y{}", i), f32({1, 2}));
    g.assign(kept, addOne(g, x, fmt::format("add {}", i)));
  }
  return std::move(g).finish();
}

Result<Graph> chainsOfAdds(const std::string& device, int chains, int length) {
  Builder g("chains of adds");
  const auto here = g.on(device);
  for (int chain = 0; chain < chains; ++chain) {
    const Tensor x = g.parameter(fmt::format("x{}", chain), f32({1, 2}), constantInit(1));
    Tensor y = x;
    for (int i = 0; i < length; ++i) {
      y = addOne(g, y, fmt::format("add {}.{}", chain, i));
    }
    g.assign(x, y);
  }
  return std::move(g).finish();
}

} // namespace dfc::bench
