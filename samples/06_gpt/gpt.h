// The model: a decoder-only transformer of GPT-2's architecture (Radford et al. 2019), and its graphs: a
// training step, the forward pass of one window, and one token with a cache of keys and values, read or
// drawn. Written for one device, without a pin. Parameters have the names of GPT-2's published weights;
// linear layers hold theirs as [in, out], as there.
#pragma once

#include "ir/author/builder.h"
#include "ir/author/quantized.h"

#include <optional>

namespace dfc::gpt {

/// The sizes of a model.
struct Sizes {
  int64_t layers = 2;       ///< blocks
  int64_t heads = 4;        ///< of attention; they divide the width
  int64_t width = 64;       ///< of the residual stream
  int64_t context = 64;     ///< the most tokens that the model sees at once
  int64_t vocabulary = 256; ///< tokens are below it
  /// Of weights, caches and activations, in graphs that are not for training.
  ElementType element = ElementType::F32;
  /// How the matrices of linear layers and of the head are quantised, in the same graphs: parameters
  /// "….weight.q" and "….weight.scales" of the transposed matrix, [out, in].
  std::optional<Quantization> quantized = {};

  int64_t headWidth() const { return width / heads; }
};

/// How a model is trained.
struct Training {
  int64_t batch = 16;  ///< windows in a step
  double rate = 4e-3;  ///< AdamW's
  double decay = 0.1;  ///< AdamW's, of matrices alone
  double beta2 = 0.99; ///< AdamW's, of the second moment
  int64_t seed = 1;    ///< of the first weights
};

/// One step of AdamW. Feeds "tokens" i64[batch, context + 1]: each row's first `context` tokens are what the
/// model sees, its last `context` what it is to predict. Fetches "loss", the mean of -log p(next token).
Result<Graph> trainingStep(const Sizes& sizes, const Training& training);

/// The forward pass of the training step on `batch` windows. Feeds "tokens" i64[batch, context], fetches
/// "logits" f32[batch * context, vocabulary].
Result<Graph> forwardPass(const Sizes& sizes, int64_t batch = 1);

/// One token of a growing text. Feeds "token" i64[1, 1] and its "position" i64[], below `context`; fetches
/// "logits" f32[vocabulary] of the token that follows. The caches, parameters named "….keys" and "….values",
/// keep what the earlier positions gave attention; a text begins anew at position 0.
Result<Graph> readingStep(const Sizes& sizes);

/// How tokens are drawn.
struct Sampling {
  int64_t tokens = 256;   ///< of the vocabulary, the first ones
  double temperature = 1; ///< below 1 likely tokens become likelier
  int64_t seed = 1;
};

/// One token more, without a feed: reads the token "decoding.token" i64[1, 1] at "decoding.position" i64[],
/// draws the next one from softmax(logits / temperature), fetches it as "token" i64[1], and leaves it in
/// "decoding.token". It has the weights and the caches of `readingStep`, for sessions that share state.
Result<Graph> decodingStep(const Sizes& sizes, const Sampling& sampling);

} // namespace dfc::gpt
