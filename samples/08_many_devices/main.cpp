// Lesson 8: the training step of lesson 6, written for one device, on many: dfc cuts its ops and parameters
// into parts for two GPUs and for eight.
//
// The GPUs are emulated by threads of the CPU, each with an address space of its own. The losses are those of
// one device but for the order of sums; state is the author's, whoever holds the parts, so that training
// which two devices began goes on with eight or with one. So small a model gains nothing by more devices:
// its explanation says by how much latency outweighs the work.
//
//     sample_08_many_devices [--steps N] [--out FOLDER]
#include "compiler/cost/cost_model.h"
#include "compiler/explain/explain.h"
#include "ir/draw/schedule_dot.h"
#include "samples/06_gpt/gpt.h"
#include "samples/06_gpt/text.h"
#include "samples/06_gpt/train.h"
#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace dfc;

namespace {

using Plan = std::shared_ptr<const Executable>;

const gpt::Sizes sizes{.layers = 2, .heads = 4, .width = 64, .context = 64};
const gpt::Training training{.batch = 16};

std::unique_ptr<Session> openEmulated(const Plan& plan) {
  SessionOptions options;
  options.gpuBackend = "emulated";
  return lesson::open(plan, options);
}

/// Training on the text, from the first weights or from a state.
class Trainer {
 public:
  Trainer(gpt::Text text, int64_t steps) : text_(std::move(text)), steps_(steps) {}

  std::vector<float> losses(Session& session) const {
    return gpt::train(session, text_, sizes, training, steps_, /*report=*/false).losses;
  }
  std::vector<float> losses(const Plan& plan) const { return losses(*openEmulated(plan)); }
  std::vector<float> lossesFrom(const NamedLiterals& state, const Plan& plan) const {
    const auto session = openEmulated(plan);
    lesson::orGiveUp(session->setState(state));
    return losses(*session);
  }

 private:
  gpt::Text text_;
  int64_t steps_;
};

/// The largest difference, as a part of the loss of the first.
double missOf(const std::vector<float>& losses, const std::vector<float>& others) {
  double miss = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    const double difference = std::abs(static_cast<double>(losses[i]) - static_cast<double>(others.at(i)));
    miss = std::isfinite(difference) ? std::max(miss, difference / static_cast<double>(losses[i])) : INFINITY;
  }
  return miss;
}

void checkSame(const std::vector<float>& losses, const std::vector<float>& others, const std::string& what) {
  const double miss = missOf(losses, others);
  std::printf("losses of %s differ by %.2g of them at most\n", what.c_str(), miss);
  lesson::check(miss < 1e-4, "the losses of " + what + " are the same within 1e-4");
}

/// Compiled for the machine, its explanation printed.
Explained planFor(const Graph& step, const std::string& machine, const CompileOptions& options) {
  Explained explained =
      lesson::orGiveUp(explain(step, lesson::orGiveUp(readMachine(lesson::machineFile(machine))),
                               RooflineCostModel(), options, {.changes = false}));
  std::printf("\n%s\n", printExplanation(explained.explanation).c_str());
  return explained;
}

/// How many GPUs hold parameters.
size_t gpusOf(const Executable& plan) {
  size_t count = 0;
  for (const DeviceId device : plan.machine().devices.ids()) {
    const bool isGpu = plan.machine().devices[device].kind == DeviceKind::Gpu;
    count += isGpu && plan.memory().residentBytes[device] > 0 ? 1 : 0;
  }
  return count;
}

void drawSchedule(const std::string& out, const std::string& name, const Executable& plan) {
  lesson::write(out, name, scheduleDot(plan.schedule(), plan.placed(), plan.machine(), /*collapse=*/true));
}

} // namespace

int main(int count, char** words) {
  int64_t steps = 20;
  std::string out = "many_devices";
  lesson::Arguments("Lesson 8: one training step of a small GPT on one, two and eight devices")
      .number("--steps", steps, 2, 10000, "of training before and after the change of devices")
      .folder("--out", out, "where the pictures go")
      .parse(count, words);

  // One graph; the devices are the compiler's to choose: the best split of all, or one in which the batch is
  // cut over all GPUs.
  const Graph step = lesson::orGiveUp(gpt::trainingStep(sizes, training));
  const Machine machine = lesson::orGiveUp(readMachine(lesson::machineFile("cpu-2gpu")));
  const Plan one = lesson::compileFor(step, machine, {.policy = "single"});
  const Plan two = std::make_shared<const Executable>(planFor(step, "cpu-2gpu", {.policy = "split"}).plan);
  CompileOptions overAll{.policy = "split"};
  overAll.splits = {{"tokens", 0, "gpu*"}};
  const Plan eight = std::make_shared<const Executable>(planFor(step, "cpu-8gpu-nvlink", overAll).plan);
  lesson::check(gpusOf(*two) == 2 && gpusOf(*eight) == 8, "the plans are over two and over eight devices");
  drawSchedule(out, "two.dot", *two);
  drawSchedule(out, "eight.dot", *eight);

  const Trainer trainer(gpt::Text::read(gpt::usualText, sizes.context), steps);
  const std::vector<float> alone = trainer.losses(one);
  const auto session = openEmulated(two);
  const std::vector<float> onTwo = trainer.losses(*session);
  lesson::check(alone.back() < alone.front(), "the model learns");
  checkSame(alone, onTwo, "two devices");
  lesson::check(trainer.losses(two) == onTwo, "a second run on two devices gives the same bits");
  checkSame(alone, trainer.losses(eight), "eight devices");

  // The parts of a parameter are joined, and cut anew, under the author's names.
  const NamedLiterals state = session->state();
  const std::vector<float> further = trainer.losses(*session);
  checkSame(further, trainer.lossesFrom(state, eight), "eight devices that go on where two ended");
  checkSame(further, trainer.lossesFrom(state, one), "one device that goes on where two ended");
  return lesson::verdict();
}
