// Calls of reductions, running sums and fused reductions: along the first, the last, several and no axes.
#include "tests/support/kernel_cases/cases.h"

namespace dfc::test {

void addReductions(Cases& cases, bool large) {
  using Reduction = ops::Fused::Reduction;
  std::vector<std::pair<Shape, std::vector<Dims>>> reductions = {
      {{}, {{}}},
      {{1}, {{0}}},
      {{5, 0, 3}, {{1}, {0}}},
      {{6, 1}, {{0}, {1}}},
      {{37}, {{0}}},
      {{5, 8}, {{0}, {1}, {0, 1}}},
      {{300, 3}, {{0}, {1}}},
      {{3, 300}, {{0}, {1}}},
      {{4, 6, 16}, {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}},
      {{3, 5, 2, 7, 4}, {{0, 2, 4}, {1, 3}, {0, 3}}},
      {{2, 2, 3, 1, 2, 2, 1, 3}, {{1, 3, 5}, {0, 2, 6, 7}}},
      {{2, 5000}, {{1}}},
      {{700, 64}, {{0}, {1}}}};
  if (large) {
    reductions.push_back({{1 << 20}, {{0}}});
    reductions.push_back({{1, 999999}, {{1}}});
    reductions.push_back({{4000, 48}, {{0}, {0, 1}}});
    reductions.push_back({{9000, 3}, {{0}, {1}}});
    reductions.push_back({{3, 70000}, {{1}}});
    reductions.push_back({{6000, 33}, {{1}}});
    reductions.push_back({{40, 1200, 6}, {{1}, {0, 2}}});
    reductions.push_back({{5000, 1500}, {{1}}});
  }
  for (const auto& [shape, choices] : reductions) {
    for (const Dims& axes : choices) {
      cases.add<ops::ReduceSum>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      cases.add<ops::ReduceMean>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      cases.add<ops::ReduceMax>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      cases.add<ops::ReduceMin>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      cases.add<ops::ReduceProduct>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      if (axes.size() == 1) {
        cases.add<ops::ArgMax>({cases.of(shape)}, [&](auto& op) { op.axis = axes[0]; });
      }
      if (!axes.empty() && shape.rank() >= 2) {
        Dims last(1, shape[shape.rank() - 1]);
        cases.fused("add:T %0 %1; relu:T %2", {cases.of(shape), cases.of(Shape(last))}, Reduction::Sum, axes);
        cases.fused("sub:T %0 %1", {cases.of(shape), cases.of({})}, Reduction::Max, axes);
        cases.fused("mul:T %0 %0", {cases.of(shape)}, Reduction::Mean, axes);
      }
    }
  }
}

} // namespace dfc::test
