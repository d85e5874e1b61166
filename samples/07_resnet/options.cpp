// See options.h.
#include "samples/07_resnet/options.h"

#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <optional>

namespace dfc::resnet {
namespace {

/// The lesson's own for the images of Fashion-MNIST; for others the sizes of ImageNet.
Options usualFor(int64_t image) {
  Options options;
  if (image != options.sizes.image) {
    options.sizes = {.depth = 18, .width = 64, .image = image, .channels = 3, .classes = 1000};
    options.training.rate = 0.1;
    options.steps = 20;
    options.usual = false;
  }
  return options;
}

/// A batch norm needs more than one element of each channel, or there is no variance.
void checkElements(const Options& options) {
  if (options.training.batch > 1 || options.sizes.lastImage() > 1) {
    return;
  }
  const std::string image = std::to_string(options.sizes.image);
  lesson::giveUp(
      {errorWithoutPlace("one image of " + image + " x " + image +
                             " is one element of each channel in the last stage, which has no variance",
                         "give --batch 2 or more, or a larger --image")});
}

/// The flags that replace a number of `usualFor`.
class Replacements {
 public:
  void addTo(lesson::Arguments& arguments) {
    arguments
        .number("--image", image_, 1, 10000,
                "rows and columns of pixels: 28, as Fashion-MNIST has them; of another size the images are "
                "random")
        .number("--channels", channels_, 1, 10000, "of an image: 1, or 3 with another --image")
        .number("--classes", classes_, 2, 10000000, "of labels: 10, or 1000")
        .number("--width", width_, 1, 10000, "channels of the first stage: 16, or 64")
        .number("--batch", batch_, 1, 100000, "images in a step: 32")
        .number("--steps", steps_, 0, 100000000,
                "of training: 200, or 20; 0 compiles, prints what the plans promise, and ends")
        .real("--rate", rate_, 0, 10, "of SGD: 0.02, or 0.1");
  }

  Options replaced() const {
    Options options = usualFor(image_.value_or(Sizes().image));
    replace(options.sizes.channels, channels_, options);
    replace(options.sizes.classes, classes_, options);
    replace(options.sizes.width, width_, options);
    replace(options.training.batch, batch_, options);
    replace(options.training.rate, rate_, options);
    options.steps = steps_.value_or(options.steps);
    options.usual = options.usual && options.steps >= 100;
    return options;
  }

 private:
  template <class T>
  static void replace(T& number, const std::optional<T>& given, Options& options) {
    number = given.value_or(number);
    options.usual = options.usual && !given;
  }

  std::optional<int64_t> image_, channels_, classes_, width_, batch_, steps_;
  std::optional<double> rate_;
};

/// The flags with a word or a number of their own.
struct Words {
  std::string depth = "18", machine = "host", policy = "single", precision = "ieee", graphFile;
  int64_t seed = 1;
};

void addWords(lesson::Arguments& arguments, Words& words) {
  arguments
      .choice("--depth", words.depth, {"18", "34", "50", "101"},
              "layers with weights: 18 and 34 have basic blocks, 50 and 101 bottlenecks")
      .text("--machine", words.machine, lesson::machineWords,
            "what to plan for; GPUs that this host lacks are emulated, slowly")
      .choice("--policy", words.policy, {"single", "heft"},
              "who computes: the one device that is fastest, or each op where it ends first")
      .choice("--precision", words.precision, {"ieee", "tf32", "bf16", "f16"},
              "of products of f32 operands and of convolutions; the loss, the norms' statistics and the "
              "updates are computed in f32; in f16 the plan scales the loss")
      .number("--seed", words.seed, 0, 1000000, "of the first weights and the order of the images")
      .text("--save-graph", words.graphFile, "FILE",
            "write the training step as a .dfg file, for dfc, which cannot scale its loss in f16: the "
            "gradients are "
            "spelled out");
}

} // namespace

Options readOptions(int count, char** arguments) {
  Words words;
  Replacements replacements;
  lesson::Arguments flags(
      "Lesson 7: train a ResNet on Fashion-MNIST, and classify images that it has not seen");
  addWords(flags, words);
  replacements.addTo(flags);
  flags.parse(count, arguments);

  Options options = replacements.replaced();
  options.usual = options.usual && words.depth == "18" && words.precision == "ieee" && words.seed == 1;
  options.sizes.depth = std::stol(words.depth);
  options.compile.policy = words.policy;
  options.compile.precision = lesson::precisionNamed(words.precision);
  options.training.seed = words.seed;
  options.machine = words.machine;
  options.graphFile = words.graphFile;
  checkElements(options);
  return options;
}

} // namespace dfc::resnet
