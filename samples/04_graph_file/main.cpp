// Lesson 4: the figure as a graph file, written by hand. `dfc` compiles it, saves the plan, predicts
// its timeline, draws it, loads it again and runs it; and it plans for eight GPUs that this computer does not
// have.
#include "runtime/data/batches.h"
#include "runtime/data/fashion_mnist.h"
#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"
#include "samples/03_figure/graph.h"
#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <cstdio>

using namespace dfc;

namespace {

constexpr int64_t steps = 50;

/// The same steps through the DSL of lesson 3.
NamedLiterals trainInProcess(const NamedLiterals& data, const Machine& machine) {
  const auto session = lesson::open(lesson::compileFor(lesson::orGiveUp(figure::trainingStep({})), machine));
  for (int64_t step = 0; step < steps; ++step) {
    lesson::orGiveUp(session->run(rowsOf(data, step * figure::batch, figure::batch)));
  }
  return session->state();
}

} // namespace

int main(int count, char** words) {
  lesson::Arguments("Lesson 4: the figure as a graph file, through dfc").parse(count, words);
  const std::string graph = lesson::shipped("04_graph_file/figure.dfg");
  const std::string machine = lesson::machineFile("cpu-2gpu");
  const FashionMnist data = lesson::orGiveUp(readFashionMnist());
  const NamedLiterals some = rowsOf(data.train, 0, steps * figure::batch);
  lesson::orGiveUp(writeNpy("images.npy", some.at("images")));
  lesson::orGiveUp(writeNpy("labels.npy", some.at("labels")));

  lesson::runTool("compile " + graph + " -m " + machine + " -o figure.plan");
  lesson::runTool("simulate figure.plan");
  lesson::runTool("view figure.plan --what=placed -o placed.dot");
  lesson::runTool("view figure.plan --what=schedule -o schedule.dot");
  const std::string feeds =
      " --feed images=images.npy --feed labels=labels.npy --steps " + std::to_string(steps);
  lesson::runTool("run figure.plan" + feeds + " --trace trace.json --save-state plan.safetensors");
  lesson::runTool("run " + graph + " -m " + machine + feeds + " --save-state graph.safetensors");
  lesson::runTool("compile " + graph + " -m " + lesson::machineFile("cpu-8gpu-nvlink") + " -o eight.plan");

  const NamedLiterals viaPlan = lesson::orGiveUp(readSafetensors("plan.safetensors"));
  const NamedLiterals viaGraph = lesson::orGiveUp(readSafetensors("graph.safetensors"));
  const NamedLiterals viaDsl = trainInProcess(data.train, lesson::orGiveUp(readMachine(machine)));
  lesson::check(viaPlan == viaGraph,
                "the saved plan and the graph file give the same parameters, bit for bit");
  lesson::check(viaPlan == viaDsl, "so does the DSL of lesson 3");
  lesson::check(lesson::orGiveUp(Executable::load("eight.plan")).machine().devices.size() == 9,
                "a plan for eight GPUs is made where there are none");
  return lesson::verdict();
}
