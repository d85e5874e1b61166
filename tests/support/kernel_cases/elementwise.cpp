// Calls of elementwise ops: sizes around a vector, broadcasts, choices, fused bodies.
#include "tests/support/kernel_cases/cases.h"

namespace dfc::test {

void addElementwise(Cases& cases) {
  const auto of = [&](Shape shape) { return cases.of(shape); };
  const std::vector<std::pair<Shape, Shape>> pairs = {{{}, {}},
                                                      {{0}, {1}},
                                                      {{1}, {1}},
                                                      {{7}, {7}},
                                                      {{1000}, {1000}},
                                                      {{64, 96}, {96}},
                                                      {{64, 96}, {64, 1}},
                                                      {{64, 96}, {}},
                                                      {{5, 1, 7}, {3, 1}},
                                                      {{33, 17}, {17}},
                                                      {{4, 8, 16}, {4, 1, 16}},
                                                      {{3, 1, 2, 1, 3, 1, 2, 4}, {2, 1, 3, 1, 2, 1, 1}}};
  for (const auto& [a, b] : pairs) {
    cases.push(ops::Add{}, {of(a), of(b)});
    cases.push(ops::Maximum{}, {of(b), of(a)});
    cases.push(ops::Select{}, {{ElementType::Bool, a}, of(b), of(a)});
    cases.push(ops::Clip{}, {of(a), of(b), of({})});
    cases.push(ops::LeakyRelu{}, {of(b), of(a)});
    cases.push(ops::Xor{}, {of(a), of(b)});
    cases.push(ops::Compare{{}, ops::Compare::Direction::Ge}, {of(a), of(b)});
  }
  for (const auto approximation : {ops::Gelu::Approximation::None, ops::Gelu::Approximation::Tanh}) {
    cases.add<ops::Gelu>({of({7, 61})}, [&](auto& op) { op.approximate = approximation; });
  }
  for (const ElementType to : allElementTypes) {
    cases.add<ops::Cast>({of({5, 13})}, [&](auto& op) { op.to = to; });
  }
  for (const auto direction : {ops::Compare::Direction::Eq, ops::Compare::Direction::Ne,
                               ops::Compare::Direction::Le, ops::Compare::Direction::Gt}) {
    cases.add<ops::Compare>({of({37}), of({37})}, [&](auto& op) { op.direction = direction; });
  }
  cases.fused("mul:T %0 %1; add:T %3 %2; relu:T %4", {of({64, 40}), of({40}), of({})});
  cases.fused("sub:T %0 %1; mul:T %2 %2; compare.gt:bool %3 %0; select:T %4 %3 %1", {of({9, 5}), of({9, 5})});
  cases.fused("sqrt:T %0; add:T %1 %1; neg:T %2; div:T %3 %0", {of({77})});
  cases.fused("cast:f32 %0; mul:f32 %1 %1; cast:T %2", {of({130})});
  cases.fused("abs:T %0; floor:T %2; clip:T %3 %1 %0; leakyRelu:T %4 %1; round:T %5; sign:T %6; sub:T %6 %7",
              {of({9, 5}), of({5})});
  cases.fused("not:T %0; and:T %2 %1; or:T %3 %0; xor:T %4 %1", {of({9, 5}), of({5})});
}

} // namespace dfc::test
