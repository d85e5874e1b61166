// Lesson 2: train a two-layer perceptron on Fashion-MNIST, 60,000 + 10,000 real images, on one device; three
// ways: through the C++ DSL, through `dfc run` of a graph file, and through a saved plan. All three end with
// the same parameters.
//
//     sample_02_train_mlp [--epochs N]
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"
#include "runtime/data/fashion_mnist.h"
#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"
#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <cstdio>
#include <cstring>

using namespace dfc;

namespace {

constexpr int64_t batch = 100, pixels = 784, hidden = 256, classes = 10;

struct Network {
  Tensor w1, b1, w2, b2;
  Tensor logits;
};

Network perceptron(Builder& g, Tensor images) {
  Network net;
  net.w1 = g.parameter("w1", f32({pixels, hidden}), glorot(1));
  net.b1 = g.parameter("b1", f32({hidden}));
  net.w2 = g.parameter("w2", f32({hidden, classes}), glorot(2));
  net.b2 = g.parameter("b2", f32({classes}));
  Tensor x =
      (cast(images, ElementType::F32) - 72.9) * (1.0 / 90); // mean and deviation of the training pixels
  Tensor h = relu(matmul(x, net.w1) + net.b1);
  net.logits = matmul(h, net.w2) + net.b2;
  return net;
}

Graph trainingStep() {
  Builder g("mlp");
  Tensor images = g.input("images", {ElementType::U8, {batch, pixels}});
  Tensor labels = g.input("labels", i64({batch}));
  const Network net = perceptron(g, images);
  Tensor loss = softmaxCrossEntropy(net.logits, labels);
  const std::vector<Tensor> weights = {net.w1, net.b1, net.w2, net.b2};
  momentum(weights, gradients(loss, weights), 0.01, 0.9);
  g.fetch("loss", loss);
  return lesson::orGiveUp(std::move(g).finish());
}

Graph evaluation(int64_t count) {
  Builder g("evaluation");
  Tensor images = g.input("images", {ElementType::U8, {count, pixels}});
  Tensor labels = g.input("labels", i64({count}));
  Tensor right = compare(argMax(perceptron(g, images).logits), labels, Direction::Eq);
  g.fetch("accuracy", reduceMean(cast(right, ElementType::F32)));
  return lesson::orGiveUp(std::move(g).finish());
}

/// Images as bytes [n, 784] and labels as i64 [n], as their files hold them.
struct Images {
  Literal images, labels;
};

Images readImages(const std::string& part) {
  const Literal raw = lesson::orGiveUp(readFashionMnistBytes(part + "/images"));
  const Literal digits = lesson::orGiveUp(readFashionMnistBytes(part + "/labels"));
  const int64_t count = raw.type().shape[0];
  Images all{Literal({ElementType::U8, {count, pixels}}), Literal(i64({count}))};
  std::memcpy(all.images.mutableBytes().data(), raw.bytes().data(), raw.bytes().size());
  const auto from = digits.data<uint8_t>();
  std::copy(from.begin(), from.end(), all.labels.mutableData<int64_t>().begin());
  return all;
}

/// Step `step` takes the next batch in the file's order, from the beginning again after the last: as `dfc
/// run` does.
NamedLiterals feedOf(const Images& data, int64_t step) {
  const int64_t first = step * batch % data.labels.type().shape.elements();
  Images part{Literal({ElementType::U8, {batch, pixels}}), Literal(i64({batch}))};
  std::memcpy(part.images.mutableBytes().data(), data.images.bytes().data() + first * pixels, batch * pixels);
  std::memcpy(part.labels.mutableBytes().data(), data.labels.bytes().data() + first * 8, batch * 8);
  return {{"images", part.images}, {"labels", part.labels}};
}

NamedLiterals trainInProcess(const Images& data, const Machine& machine, int64_t steps) {
  const auto session = lesson::open(lesson::compileFor(trainingStep(), machine));
  for (int64_t step = 0; step + 1 < steps; ++step) {
    lesson::orGiveUp(session->submit(feedOf(data, step)));
  }
  const auto last = lesson::orGiveUp(session->run(feedOf(data, steps - 1)));
  std::printf("loss of the last step: %.4f\n", static_cast<double>(last.at("loss").data<float>()[0]));
  return session->state();
}

float accuracy(const Images& test, const Machine& machine, const NamedLiterals& trained) {
  const auto session = lesson::open(lesson::compileFor(evaluation(test.labels.type().shape[0]), machine));
  NamedLiterals weights;
  for (const char* name : {"w1", "b1", "w2", "b2"}) {
    weights.emplace(name, trained.at(name));
  }
  lesson::orGiveUp(session->setState(weights));
  const auto results = lesson::orGiveUp(session->run({{"images", test.images}, {"labels", test.labels}}));
  return results.at("accuracy").data<float>()[0];
}

void report(const char* way, float accuracy) {
  std::printf("%-28s %.2f %% of the 10,000 test images\n", way, 100 * static_cast<double>(accuracy));
}

} // namespace

int main(int count, char** words) {
  int64_t epochs = 10;
  lesson::Arguments("Lesson 2: train a two-layer perceptron on Fashion-MNIST, three ways")
      .number("--epochs", epochs, 1, 1000, "times through the 60,000 training images")
      .parse(count, words);
  const Images train = readImages("train");
  const Images test = readImages("test");
  const int64_t steps = epochs * (train.labels.type().shape[0] / batch);
  const std::string machinePath = lesson::machineFile("cpu");
  const Machine machine = lesson::orGiveUp(readMachine(machinePath));

  const NamedLiterals viaDsl = trainInProcess(train, machine, steps);
  const float reached = accuracy(test, machine, viaDsl);
  report("C++ DSL:", reached);

  lesson::orGiveUp(writeNpy("images.npy", train.images));
  lesson::orGiveUp(writeNpy("labels.npy", train.labels));
  const std::string graphFile = lesson::shipped("02_train_mlp/mlp.dfg");
  const std::string feeds = " --feed images=images.npy --feed labels=labels.npy --steps " +
                            std::to_string(steps) + " --save-state ";
  lesson::runTool("run " + graphFile + " -m " + machinePath + feeds + "graph.safetensors");
  const NamedLiterals viaGraph = lesson::orGiveUp(readSafetensors("graph.safetensors"));
  report("dfc run of the graph file:", accuracy(test, machine, viaGraph));

  lesson::runTool("compile " + graphFile + " -m " + machinePath + " -o mlp.plan");
  lesson::runTool("run mlp.plan" + feeds + "plan.safetensors");
  const NamedLiterals viaPlan = lesson::orGiveUp(readSafetensors("plan.safetensors"));
  report("dfc run of a saved plan:", accuracy(test, machine, viaPlan));

  lesson::check(viaDsl == viaGraph && viaGraph == viaPlan,
                "the same parameters, bit for bit, all three ways");
  if (epochs >= 10) {
    lesson::check(reached >= 0.871F,
                  "better than the 87.1 % that the data set's own benchmark lists for an MLP");
  }
  return lesson::verdict();
}
