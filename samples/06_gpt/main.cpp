// Lesson 6: a small GPT, trained on the bytes of a text on one device, which then writes on by itself, token
// by token, with a cache of the keys and values of all tokens before.
//
// The graphs share one model: the training step, which sees whole windows, and two steps that see one token
// and keep the rest in parameters, one for tokens that are given, one that draws them. The sessions of these
// two share their state: one copy of the weights and of the caches. The lesson checks that windows and caches
// give the same logits, that the same seed gives the same losses, and that the model learns more than which
// byte follows which.
//
//     sample_06_gpt [--size small|124M] [--text FILE] [--steps N] [--machine FILE|NAME|host] …
#include "ir/author/text/units.h"
#include "samples/06_gpt/options.h"
#include "samples/06_gpt/sample.h"
#include "samples/06_gpt/text.h"
#include "samples/06_gpt/train.h"
#include "samples/data/lesson.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

using namespace dfc;

namespace {

using Plan = std::shared_ptr<const Executable>;

/// The first losses again, in a new session.
void repeatFirstSteps(const Plan& plan, const gpt::Text& text, const gpt::Options& options,
                      const std::vector<float>& losses) {
  const int64_t steps = std::min<int64_t>(options.steps, 3);
  const auto session = lesson::open(plan);
  const auto repeated = gpt::train(*session, text, options.sizes, options.training, steps, /*report=*/false);
  lesson::check(std::equal(repeated.losses.begin(), repeated.losses.end(), losses.begin()),
                "a new session has the same losses in its first " +
                    counted(static_cast<size_t>(steps), "step") + ", bit for bit");
}

void judgeLosses(const lesson::Trained& trained, const gpt::Text& text, const gpt::Options& options) {
  const double uniform = std::log(static_cast<double>(options.sizes.vocabulary));
  const auto first = static_cast<double>(trained.losses.front());
  const size_t lastLosses = std::min<size_t>(trained.losses.size(), 20);
  const double last = trained.lastLoss(lastLosses), pairs = text.pairEntropy();
  std::printf(
      "first loss %.4f (ln %ld = %.4f), mean of the last %zu %.4f; a table of byte pairs reaches %.4f\n",
      first, options.sizes.vocabulary, uniform, lastLosses, last, pairs);
  lesson::check(std::abs(first - uniform) < 0.5, "the first loss is ln(vocabulary) within 0.5");
  if (options.usual) {
    lesson::check(last < pairs, "the mean of the last losses is below what a table of byte pairs reaches");
  }
}

/// The weights and the optimiser's state.
NamedLiterals trainAndReport(const Plan& plan, const gpt::Text& text, const gpt::Options& options) {
  auto session = lesson::open(plan);
  for (const std::string& device : session->deviceReport()) {
    std::printf("%s\n", device.c_str());
  }
  const auto trained =
      gpt::train(*session, text, options.sizes, options.training, options.steps, /*report=*/true);
  lesson::printSpeed(trained, *plan, options.training.batch * options.sizes.context, "tokens");
  judgeLosses(trained, text, options);
  NamedLiterals state = session->state();
  session.reset(); // there may be no memory for two
  repeatFirstSteps(plan, text, options, trained.losses);
  return state;
}

/// Logits f32[context, vocabulary] of the beginning of the text, by one forward pass.
Literal forwardLogits(Session& session, const gpt::Text& text, int64_t context) {
  const std::vector<int64_t> tokens = text.tokens(0, context);
  const Literal window(Shape{1, context}, std::span(tokens));
  return lesson::orGiveUp(session.run({{"tokens", window}})).at("logits");
}

/// The largest magnitude, and the largest difference from another row or infinity where either is no number.
struct Comparison {
  float largest = 0, miss = 0;
  void add(std::span<const float> row, std::span<const float> other) {
    for (size_t i = 0; i < row.size(); ++i) {
      const float difference = std::abs(row[i] - other[i]);
      largest = std::max(largest, std::abs(row[i]));
      miss = std::isfinite(difference) ? std::max(miss, difference) : INFINITY;
    }
  }
};

/// Feeds the beginning of the text token by token, and compares all logits with those of one forward pass.
void compareLogits(const Literal& whole, const gpt::Text& text, gpt::Sampler sampler,
                   const gpt::Options& options) {
  const auto columns = static_cast<size_t>(options.sizes.vocabulary);
  Comparison all;
  auto rest = whole.data<float>();
  for (const int64_t token : text.tokens(0, options.sizes.context)) {
    const Literal row = sampler.append(token);
    all.add(rest.first(columns), row.data<float>());
    rest = rest.subspan(columns);
  }
  std::printf("logits are up to %.3f; token by token they differ by %.2g at most\n",
              static_cast<double>(all.largest), static_cast<double>(all.miss));
  // The same terms in another order; operands in tf32 have 11 bits, in bf16 8.
  const float bound = options.compile.precision == Precision::Bf16   ? 1e-1F
                      : options.compile.precision == Precision::F16  ? 2e-2F
                      : options.compile.precision == Precision::Tf32 ? 2e-2F
                                                                     : 1e-4F;
  std::ostringstream what;
  what << "with the cache, the logits are those of the forward pass within " << bound << " of the largest";
  lesson::check(all.miss <= bound * std::max(all.largest, 1.0F), what.str());
}

/// Two plans over one memory: `reading` reads the prompt, `decoding` goes on from there.
void write(Session& reading, const Plan& decoding, const gpt::Text& text, const gpt::Options& options) {
  const auto decoder = lesson::orGiveUp(Session::open(decoding, {}, reading));
  const std::vector<int64_t> prompt = text.tokens(0, options.sizes.context / 2);
  gpt::Sampler sampler(reading, options.sizes);
  for (size_t i = 0; i + 1 < prompt.size(); ++i) {
    sampler.append(prompt[i]);
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<int64_t> drawn = sampler.generate(*decoder, prompt.back(), options.sampled);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  std::printf("\n%s---- at a temperature of %.2f goes on (%.1f us a token):\n%s", gpt::shown(prompt).c_str(),
              options.temperature, time.count() / static_cast<double>(std::max<size_t>(drawn.size(), 1)),
              gpt::shown(drawn).c_str());
  const auto again = sampler.generate(*decoder, prompt.back(), 1);
  lesson::check(again.size() == 1 && again[0] >= 0 && again[0] < gpt::byteTokens, "what is drawn are bytes");
}

} // namespace

int main(int count, char** words) {
  const gpt::Options options = gpt::readOptions(count, words);
  const gpt::Text text = gpt::Text::read(options.text, options.sizes.context);
  const Machine machine = lesson::machineNamed(options.machine);

  const Graph step = lesson::orGiveUp(gpt::trainingStep(options.sizes, options.training));
  lesson::saveGraph(step, options.graphFile);
  const Plan training = lesson::compileAndPrint(step, machine, options.compile);
  const Plan forward = lesson::compileAndPrint(gpt::forwardPass(options.sizes), machine, options.compile);
  const Plan reading = lesson::compileAndPrint(gpt::readingStep(options.sizes), machine, options.compile);
  const gpt::Sampling sampling{gpt::byteTokens, options.temperature, options.training.seed};
  const Plan decoding =
      lesson::compileAndPrint(gpt::decodingStep(options.sizes, sampling), machine, options.compile);
  if (options.steps == 0) {
    return 0;
  }

  const NamedLiterals state = trainAndReport(training, text, options);
  const Literal whole = forwardLogits(*lesson::openWith(state, forward), text, options.sizes.context);
  const auto session = lesson::openWith(state, reading);
  compareLogits(whole, text, gpt::Sampler(*session, options.sizes), options);
  write(*session, decoding, text, options);
  return lesson::verdict();
}
