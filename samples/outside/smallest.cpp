// The smallest program: z = x * x + 2, planned for this host and run once.
#include <cstdio>
#include <dfc/dfc.h>

int main() {
  dfc::Builder g("smallest");
  const dfc::Tensor x = g.input("x", dfc::f32({3}));
  g.fetch("z", x * x + 2);
  const auto session = dfc::open(std::move(g).finish().orThrow(), dfc::estimatedHost()).orThrow();
  const auto z = session->run({{"x", dfc::Literal::of<float>({3}, {1, 2, 3})}}).orThrow().at("z");
  std::printf("%g %g %g\n", z.at(0), z.at(1), z.at(2));
}
