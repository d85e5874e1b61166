// See sample.h.
#include "samples/06_gpt/sample.h"

#include "samples/data/lesson.h"

#include <algorithm>
#include <cmath>

namespace dfc::gpt {
namespace {

/// An index by its weight. Written out, since the distributions of the standard library differ between
/// libraries.
int64_t draw(const std::vector<double>& weights, std::mt19937& random) {
  double sum = 0;
  for (const double weight : weights) {
    sum += weight;
  }
  double left = sum * (static_cast<double>(random()) / 4294967296.0);
  for (size_t i = 0; i < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) {
      return static_cast<int64_t>(i);
    }
  }
  return static_cast<int64_t>(weights.size()) - 1;
}

/// exp((logit - the largest) / temperature): the softmax but for its sum.
std::vector<double> weightsOf(std::span<const float> logits, double temperature) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> weights;
  for (const float logit : logits) {
    weights.push_back(std::exp(static_cast<double>(logit - largest) / temperature));
  }
  return weights;
}

} // namespace

Literal Sampler::run(int64_t token) {
  const auto position = static_cast<int64_t>(cached_.size());
  cached_.push_back(token);
  return lesson::orGiveUp(session_.run({{"token", Literal::of<int64_t>({1, 1}, {token})},
                                        {"position", Literal::scalar(position)}}))
      .at("logits");
}

Literal Sampler::append(int64_t token) {
  if (static_cast<int64_t>(cached_.size()) == sizes_.context) {
    const std::vector<int64_t> again(cached_.end() - sizes_.context / 2, cached_.end());
    cached_.clear();
    for (const int64_t old : again) {
      run(old);
    }
  }
  return run(token);
}

std::vector<int64_t> Sampler::generate(const std::vector<int64_t>& prompt, int64_t count, int64_t tokens,
                                       double temperature, std::mt19937& random) {
  Literal logits;
  for (const int64_t token : prompt) {
    logits = append(token);
  }
  std::vector<int64_t> drawn;
  for (int64_t i = 0; i < count; ++i) {
    const auto first = logits.data<float>().first(static_cast<size_t>(tokens));
    drawn.push_back(draw(weightsOf(first, temperature), random));
    logits = append(drawn.back());
  }
  return drawn;
}

} // namespace dfc::gpt
