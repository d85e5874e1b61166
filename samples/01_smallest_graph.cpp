// Lesson 1: the smallest graph, z = x * y + 2.
//
// A graph is written like the mathematics, compiled once for a machine, and run as often as you like. Nothing
// is computed while it is written: `z` below is a value of the graph, not a number.
#include "ir/author/dsl.h"
#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <cstdio>
#include <vector>

using namespace dfc;

int main(int count, char** words) {
  lesson::Arguments("Lesson 1: the smallest graph, z = x * y + 2").parse(count, words);
  Builder g("smallest");
  Tensor x = g.input("x", f32({3}));
  Tensor y = g.input("y", f32({3}));
  Tensor z = x * y + 2;
  g.fetch("z", z);
  const Graph graph = lesson::orGiveUp(std::move(g).finish());

  const Machine machine = lesson::orGiveUp(readMachine(lesson::machineFile("cpu")));
  const auto session = lesson::open(lesson::compileFor(graph, machine));

  const std::vector<float> a = {1, 2, 3};
  const std::vector<float> b = {10, 20, 30};
  const NamedLiterals results = lesson::orGiveUp(session->run({
      {"x", Literal(Shape{3}, std::span<const float>(a))},
      {"y", Literal(Shape{3}, std::span<const float>(b))},
  }));

  const auto values = results.at("z").data<float>();
  std::printf("z = [%g, %g, %g]\n", values[0], values[1], values[2]);
  // 1*10 + 2, 2*20 + 2, 3*30 + 2
  lesson::check(values[0] == 12 && values[1] == 42 && values[2] == 92, "z is x * y + 2");
  return lesson::verdict();
}
