#include "tools/bench/graphs/products.h"

#include "ir/author/dsl.h"

#include <fmt/format.h>

namespace dfc::bench {

Result<Graph> products(const ProductsSpec& spec) {
  Builder g("products");
  for (const std::string& device : spec.devices) {
    const auto here = g.on(device);
    const Tensor x = g.parameter("x " + device, f32({spec.size, spec.size}), uniform(0, 1, 1));
    for (int i = 0; i < spec.count; ++i) {
      const std::string name = fmt::format("y{} {}", i, device);
      if (spec.toHost) {
        g.fetch(name, matmul(x, x));
      } else {
        const Tensor kept = g.parameter(name, f32({spec.size, spec.size}));
        g.assign(kept, matmul(x, x));
      }
    }
  }
  return std::move(g).finish();
}

Result<Graph> copiesToHost(const std::string& device, int64_t size, int count) {
  Builder g("copies to the host");
  const auto here = g.on(device);
  for (int i = 0; i < count; ++i) {
    const Tensor y = g.parameter(fmt::format("y{}", i), f32({size, size}), constantInit(1));
    // A view made on the device: a fetch of the parameter itself, which no step changes, needs no copy.
    g.fetch(fmt::format("copy{}", i), reshape(y, {size * size}));
  }
  return std::move(g).finish();
}

} // namespace dfc::bench
