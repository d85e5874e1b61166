// Lesson 7: a ResNet, trained on Fashion-MNIST on one device, which then classifies images that it has not
// seen.
//
// Two graphs share one model: the training step, whose batch norms take the statistics of the batch and keep
// running ones, and the evaluation, whose batch norms take those. The lesson checks the running statistics
// against the definitions, that the same seed gives the same losses, that the model learns, and that what an
// evaluation says of an image depends on nothing else.
//
//     sample_07_resnet [--depth 18|34|50|101] [--image N] [--steps N] [--machine FILE|NAME|host] …
//     sample_07_resnet --depth 50 --image 224 --steps 0       # plans ResNet-50 for ImageNet's sizes
#include "ir/author/text/units.h"
#include "samples/07_resnet/by_hand.h"
#include "samples/07_resnet/images.h"
#include "samples/07_resnet/options.h"
#include "samples/data/lesson.h"
#include "samples/data/training_loop.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

using namespace dfc;

namespace {

using Plan = std::shared_ptr<const Executable>;

lesson::Trained train(Session& session, Batches& images, int64_t first, int64_t steps, int64_t perStep,
                      bool report) {
  lesson::TrainingLoop loop(
      session,
      {.unit = "images", .perStep = perStep, .reportEvery = report ? std::max<int64_t>(1, steps / 10) : 0});
  for (int64_t step = first; step < first + steps; ++step) {
    loop.step(images.at(step / images.count(), step % images.count()));
  }
  return loop.end();
}

/// How far a result may be from the exact one: operands in bf16 have 8 bits, in f16 and tf32 11.
double boundFor(Precision precision) {
  return precision == Precision::Ieee ? 1e-4 : precision == Precision::Bf16 ? 5e-2 : 1e-2;
}

std::string within(const std::string& what, double bound) {
  std::ostringstream text;
  text << what << " within " << bound;
  return text.str();
}

void judgeStatistics(const NamedLiterals& state, const resnet::Statistics& wanted, double bound) {
  const double mean = state.at("bn1.running_mean").at(0), variance = state.at("bn1.running_var").at(0);
  std::printf("after a step, channel 0 of bn1 has a running mean of %.5f and a running variance of %.5f\n",
              mean, variance);
  const bool close = std::abs(mean - wanted.mean) <= bound && std::abs(variance - wanted.variance) <= bound;
  lesson::check(close, // false for NaN
                within("that is what the definitions give for the first batch,", bound));
}

/// The first losses again, in a new session; its first step's running statistics are worked out by hand.
void repeatFirstSteps(const Plan& plan, Batches& images, const resnet::Options& options,
                      const std::vector<float>& losses) {
  const int64_t batch = options.training.batch, steps = std::min<int64_t>(options.steps, 3);
  const auto session = lesson::open(plan);
  const auto wanted =
      resnet::firstStatistics(options.sizes, images.at(0, 0), session->state().at("conv1.weight"));
  std::vector<float> repeated = train(*session, images, 0, 1, batch, /*report=*/false).losses;
  // A step takes a tenth of the batch's statistics, and of their error.
  judgeStatistics(session->state(), wanted,
                  (1 - resnet::keptStatistics) * boundFor(options.compile.precision));
  const auto rest = train(*session, images, 1, steps - 1, batch, /*report=*/false).losses;
  repeated.insert(repeated.end(), rest.begin(), rest.end());
  lesson::check(std::equal(repeated.begin(), repeated.end(), losses.begin()),
                "a new session has the same losses in its first " +
                    counted(static_cast<size_t>(steps), "step") + ", bit for bit");
}

void judgeLosses(const lesson::Trained& trained, const resnet::Options& options) {
  const double uniform = std::log(static_cast<double>(options.sizes.classes));
  const auto first = static_cast<double>(trained.losses.front());
  const size_t lastLosses = std::min<size_t>(trained.losses.size(), 20);
  const double last = trained.lastLoss(lastLosses);
  std::printf("first loss %.4f (ln %ld = %.4f), mean of the last %zu %.4f\n", first, options.sizes.classes,
              uniform, lastLosses, last);
  lesson::check(std::abs(first - uniform) < 0.5, "the first loss is ln(classes) within 0.5");
  if (options.usual) {
    const double bound = options.steps < 200 ? 1.2 : 0.75;
    std::ostringstream text;
    text << "the mean of the last losses is below " << bound;
    lesson::check(last < bound, text.str());
  }
}

/// The weights, the running statistics and the optimiser's state.
NamedLiterals trainAndReport(const Plan& plan, const resnet::Options& options) {
  Batches images = resnet::trainingImages(options);
  auto session = lesson::open(plan);
  for (const std::string& device : session->deviceReport()) {
    std::printf("%s\n", device.c_str());
  }
  const auto trained = train(*session, images, 0, options.steps, options.training.batch, /*report=*/true);
  lesson::printSpeed(trained, *plan, options.training.batch, "images");
  judgeLosses(trained, options);
  NamedLiterals state = session->state();
  session.reset(); // there may be no memory for two
  repeatFirstSteps(plan, images, options, trained.losses);
  return state;
}

/// Classifies some 1000 images that training has not seen.
void judgeAccuracy(Session& session, Batches& images, const resnet::Options& options) {
  const int64_t batches = std::clamp<int64_t>(1000 / options.training.batch, 1, images.count());
  double right = 0;
  for (int64_t i = 0; i < batches; ++i) {
    right += lesson::orGiveUp(session.run(images.at(0, i))).at("right").at(0);
  }
  const int64_t seen = batches * options.training.batch;
  const double accuracy = right / static_cast<double>(seen);
  std::printf("right: %.1f %% of %ld test images\n", 100 * accuracy, seen);
  if (options.usual) {
    const double bound = options.steps < 200 ? 0.5 : 0.72;
    lesson::check(accuracy > bound, "more than " + std::to_string(std::lround(100 * bound)) +
                                        " % of images that it has not seen are classified right");
  }
}

/// The first image of a batch in place of all of them.
NamedLiterals firstRepeated(NamedLiterals feeds) {
  const auto images = feeds.at("images").mutableBytes();
  const size_t one = images.size() / static_cast<size_t>(feeds.at("images").type().shape[0]);
  for (size_t i = one; i < images.size(); ++i) {
    images[i] = images[i - one];
  }
  return feeds;
}

/// By the batch's own statistics, as in training, an image alone would have other logits.
void judgeIndependence(Session& session, const NamedLiterals& feeds, const resnet::Options& options) {
  const Literal logits = lesson::orGiveUp(session.run(feeds)).at("logits");
  lesson::check(lesson::orGiveUp(session.run(feeds)).at("logits") == logits,
                "evaluated again, a batch has the same logits, bit for bit");
  const Literal alone = lesson::orGiveUp(session.run(firstRepeated(feeds))).at("logits");
  double largest = 0, miss = 0;
  for (int64_t i = 0; i < alone.type().shape.elements(); ++i) {
    const double wanted = logits.at(i % options.sizes.classes), difference = std::abs(alone.at(i) - wanted);
    largest = std::max(largest, std::abs(wanted));
    miss = std::isfinite(difference) ? std::max(miss, difference) : INFINITY;
  }
  const double bound = boundFor(options.compile.precision);
  lesson::check(miss <= bound * largest,
                within("the logits of an image do not depend on the rest of its batch,", bound) +
                    " of the largest");
}

} // namespace

int main(int count, char** words) {
  const resnet::Options options = resnet::readOptions(count, words);
  const Machine machine = lesson::machineNamed(options.machine);
  const Graph step = lesson::orGiveUp(resnet::trainingStep(options.sizes, options.training));
  lesson::saveGraph(step, options.graphFile);

  const Plan training = lesson::compileAndPrint(step, machine, options.compile);
  const Plan evaluation = lesson::compileAndPrint(resnet::evaluation(options.sizes, options.training.batch),
                                                  machine, options.compile);
  if (options.steps == 0) {
    return 0;
  }

  const NamedLiterals state = trainAndReport(training, options);
  const auto session = lesson::openWith(state, evaluation);
  Batches images = resnet::testImages(options);
  if (options.fashion()) {
    judgeAccuracy(*session, images, options);
  }
  judgeIndependence(*session, images.at(0, 0), options);
  return lesson::verdict();
}
