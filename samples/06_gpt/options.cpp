// See options.h.
#include "samples/06_gpt/options.h"

#include "ir/author/text/units.h"
#include "samples/06_gpt/text.h"
#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <optional>

namespace dfc::gpt {
namespace {

/// What --size names.
Options named(const std::string& size) {
  Options options;
  if (size == "124M") { // GPT-2 small, its vocabulary of 50257 padded to a multiple of 128
    options.sizes = {.layers = 12, .heads = 12, .width = 768, .context = 1024, .vocabulary = 50304};
    options.training = {.batch = 8, .rate = 6e-4, .beta2 = 0.95};
    options.steps = 20;
    options.usual = false;
  }
  return options;
}

/// The heads share the width evenly.
void checkHeads(const Sizes& sizes) {
  if (sizes.width % sizes.heads == 0) {
    return;
  }
  const int64_t below = sizes.width / sizes.heads * sizes.heads;
  lesson::giveUp({errorWithoutPlace("a width of " + std::to_string(sizes.width) + " is no multiple of " +
                                        counted(static_cast<size_t>(sizes.heads), "head"),
                                    "give --heads that divide it, or --width " +
                                        (below > 0 ? std::to_string(below) + " or " : "") +
                                        std::to_string(below + sizes.heads))});
}

/// The flags that replace a number of what --size names.
class Replacements {
 public:
  void addTo(lesson::Arguments& arguments) {
    arguments.number("--layers", layers_, 1, 1000, "blocks: 2, or 12 of 124M")
        .number("--heads", heads_, 1, 1000, "of attention, which divide the width: 4, or 12")
        .number("--width", width_, 1, 100000, "of the residual stream: 64, or 768")
        .number("--context", context_, 2, 1000000, "tokens that the model sees at once: 64, or 1024")
        .number("--batch", batch_, 1, 100000, "windows in a step: 16, or 8")
        .number("--steps", steps_, 0, 100000000,
                "of training: 600, or 20; 0 compiles, prints what the plans promise, and ends")
        .real("--rate", rate_, 0, 1, "AdamW's: 0.004, or 0.0006");
  }

  void replaceIn(Options& options) const {
    Sizes& sizes = options.sizes;
    replace(sizes.layers, layers_, options);
    replace(sizes.heads, heads_, options);
    replace(sizes.width, width_, options);
    replace(sizes.context, context_, options);
    replace(options.training.batch, batch_, options);
    replace(options.training.rate, rate_, options);
    replace(options.steps, steps_, options);
  }

 private:
  template <class T>
  static void replace(T& number, const std::optional<T>& given, Options& options) {
    number = given.value_or(number);
    options.usual = options.usual && !given;
  }

  std::optional<int64_t> layers_, heads_, width_, context_, batch_, steps_;
  std::optional<double> rate_;
};

/// The flags with a word or a number of their own.
struct Words {
  std::string size = "small", text = usualText, machine = "host", policy = "single", precision = "ieee",
              graphFile;
  int64_t seed = 1, sampled = 400;
  double temperature = 0.7;
};

void addWords(lesson::Arguments& arguments, Words& words) {
  arguments
      .choice("--size", words.size, {"small", "124M"},
              "the model: small, or GPT-2's smallest with its vocabulary of 50257, padded to 50304. There is "
              "no BPE tokenizer here: its tokens are bytes too, and the rest of the vocabulary is computed "
              "with and never met")
      .text("--text", words.text, "FILE", "what to learn")
      .text("--machine", words.machine, lesson::machineWords,
            "what to plan for; GPUs that this host lacks are emulated, slowly")
      .choice("--policy", words.policy, {"single", "heft"},
              "who computes: the one device that is fastest, or each op where it ends first")
      .choice(
          "--precision", words.precision, {"ieee", "tf32", "bf16", "f16"},
          "of products of f32 operands; the loss, the norms and the updates are computed in f32; in f16 the "
          "plan scales the loss")
      .text("--save-graph", words.graphFile, "FILE",
            "write the training step as a .dfg file, for dfc, which cannot scale its loss in f16: the "
            "gradients are "
            "spelled out")
      .number("--seed", words.seed, 0, 1000000, "of the first weights, the windows and the draws")
      .number("--sample", words.sampled, 0, 1000000, "tokens to draw in the end")
      .real("--temperature", words.temperature, 0.01, 100,
            "of the draws: below 1 likely tokens become likelier");
}

} // namespace

Options readOptions(int count, char** arguments) {
  Words words;
  Replacements replacements;
  lesson::Arguments flags("Lesson 6: train a small GPT on the bytes of a text, and let it write on, with a "
                          "cache of keys and values");
  addWords(flags, words);
  replacements.addTo(flags);
  flags.parse(count, arguments);

  Options options = named(words.size);
  replacements.replaceIn(options);
  checkHeads(options.sizes);
  options.usual = options.usual && words.text == usualText && words.precision == "ieee" && words.seed == 1;
  options.compile.policy = words.policy;
  options.compile.precision = lesson::precisionNamed(words.precision);
  options.graphFile = words.graphFile;
  options.training.seed = words.seed;
  options.text = words.text;
  options.machine = words.machine;
  options.sampled = words.sampled;
  options.temperature = words.temperature;
  return options;
}

} // namespace dfc::gpt
