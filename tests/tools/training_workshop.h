// A small training with everything that a step may depend on: momentum, dropout by a step counter, a rate
// that is fed, rows that are shuffled and do not fill the last batch; and its evaluation.
#pragma once

#include "tests/tools/run_workshop.h"

#include <random>

namespace dfc::test {

inline constexpr const char* noisy = R"(graph noisy {
  input x : f32[8, 6]
  input y : f32[8, 1]
  input rate : f32[]
  parameter step : i64[] = zeros()
  parameter w1 : f32[6, 16] = glorot(seed=1)
  parameter w2 : f32[16, 1] = glorot(seed=2)
  parameter w1.velocity : f32[6, 16] = zeros()
  parameter w2.velocity : f32[16, 1] = zeros()
  assign(step, step + 1)
  h = dropout(relu(matmul(x, w1)), step, rate=0.3, seed=5)
  d = matmul(h, w2) - y
  loss = reduceMean(d * d)
  dw1, dw2 = gradients(loss, w1, w2)
  v1 = assign(w1.velocity, w1.velocity * 0.9 + dw1)
  v2 = assign(w2.velocity, w2.velocity * 0.9 + dw2)
  assign(w1, w1 - rate * v1)
  assign(w2, w2 - rate * v2)
  fetch loss
}
)";

inline constexpr const char* noisyEvaluation = R"(graph noisy_eval {
  input x : f32[10, 6]
  input y : f32[10, 1]
  parameter w1 : f32[6, 16] = zeros()
  parameter w2 : f32[16, 1] = zeros()
  d = matmul(relu(matmul(x, w1)), w2) - y
  loss = reduceMean(d * d)
  fetch loss
}
)";

struct TrainingShop : Workshop {
  TrainingShop() {
    write("noisy.dfg", noisy);
    write("noisy_eval.dfg", noisyEvaluation);
    std::mt19937 random(7);
    const auto drawn = [&](size_t count) {
      std::vector<float> values(count);
      for (float& value : values) {
        value = static_cast<float>(random() % 2001) / 1000.0F - 1;
      }
      return values;
    };
    save(*this, "x.npy", floats({50, 6}, drawn(300))); // 6 batches of 8, 2 rows left over
    save(*this, "y.npy", floats({50, 1}, drawn(50)));
  }

  /// `dfc run noisy.dfg` with its feeds and these words.
  static std::vector<std::string> training(std::vector<std::string> more) {
    std::vector<std::string> words = {"run",     "noisy.dfg", "--feed",    "x=x.npy",   "--feed",
                                      "y=y.npy", "--feed",    "rate=0.01", "--shuffle", "3"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Outcome train(std::vector<std::string> more) const { return dfc(training(std::move(more))); }
};

} // namespace dfc::test
