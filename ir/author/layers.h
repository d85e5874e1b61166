// Layers that own their parameters: each call makes them, by name, with the initialiser of its kind, and
// writes the formula. The same calls in a second graph (an evaluation) make parameters of the same names.
//
//   Layers net(g, Phase::Training);
//   Tensor h = relu(net.batchNorm("norm1", net.convolution("conv1", images, 16, 3)));
//   Tensor logits = net.linear("fc", reduceMean(h, {2, 3}), 10);
//   Tensor loss = softmaxCrossEntropy(logits, labels);
//   adam(net.trained(), gradients(loss, net.trained()));
//
// Names and shapes are those that PyTorch publishes weights with ("conv1.weight" [to, from, h, w],
// "norm1.running_mean"), but for linear layers, whose weight is [in, out] unless `outFirst`.
#pragma once

#include "ir/author/composites.h"
#include "ir/base/visibility.h"

#include <optional>
#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

/// What a graph is for: it decides on batch norms and dropout.
enum class Phase : uint8_t {
  Training,   ///< statistics of the batch, which the running ones follow; dropout drops
  Evaluation, ///< running statistics; dropout passes all
};

/// How Layers::linear is made.
struct LinearOptions {
  bool bias = true;                      ///< whether something is added
  bool outFirst = false;                 ///< the weight is [out, in], as PyTorch's, else [in, out]
  std::optional<Initialiser> start = {}; ///< of the weight; none: Glorot's
};

/// How Layers::convolution is made.
struct ConvolutionOptions {
  int64_t stride = 1;                    ///< of rows and columns
  std::optional<int64_t> padding = {};   ///< on all sides; none: as many as keep the length at stride 1
  int64_t groups = 1;                    ///< of channels, each convolved by itself
  bool bias = false;                     ///< whether something is added to each channel
  std::optional<Initialiser> start = {}; ///< of the filter; none: He's, normal
  int64_t dilation = 1;                  ///< from one element of a window to the next
  bool causal =
      false; ///< [batch, channels, length] only: all padding before, so that no position sees a later
};

/// How Layers::transposedConvolution is made.
struct TransposedConvolutionOptions {
  int64_t stride = 1;                    ///< from one window of the result to the next
  int64_t padding = 0;                   ///< taken off on all sides
  int64_t outputPadding = 0;             ///< added behind, below the stride
  int64_t groups = 1;                    ///< of channels, each by itself
  bool bias = false;                     ///< whether something is added to each channel
  std::optional<Initialiser> start = {}; ///< of the filter; none: He's, normal, by the terms of an element
};

/// How Layers::attention is made.
struct SelfAttentionOptions {
  bool causal = false;                   ///< position i sees positions 0, …, i only
  std::optional<int64_t> keyHeads = {};  ///< of keys and values; none: as many as heads
  bool bias = true;                      ///< of its four linear layers
  std::optional<Initialiser> start = {}; ///< of their weights; none: Glorot's
  Tensor memory = {}; ///< what keys and values are made of (cross-attention), [batch, positions, any width];
                      ///< empty: x
  Tensor mask = {};   ///< of dfc::attention
};

/// What a recurrent layer gives.
struct Recurrent {
  Tensor all;  ///< the hidden state behind every position, [batch, length, width]
  Tensor last; ///< behind the last one, [batch, width]
};

/// See the top of this file. Refers to its Builder, which must outlive it.
class Layers {
 public:
  /// `seed`: of the first weights; those of each parameter differ. `element`: of all parameters, the running
  /// statistics of batch norms among them; what goes into a layer has the same.
  explicit Layers(Builder& g, Phase phase = Phase::Training, int64_t seed = 0,
                  ElementType element = ElementType::F32)
      : g_(&g), phase_(phase), seed_(seed), element_(element) {}

  /// All parameters that are trained, in the order in which they were made: what gradients and optimisers
  /// take.
  const std::vector<Tensor>& trained() const { return trained_; }
  /// What the layers are for.
  Phase phase() const { return phase_; }
  /// A seed that no other parameter of these layers has, for an initialiser of one's own.
  int64_t nextSeed() const { return seed_ * 1000 + static_cast<int64_t>(trained_.size()); }

  /// A parameter of one's own that is trained with the others, of the layers' element type.
  Tensor parameter(std::string_view name, const Shape& shape, const Initialiser& start,
                   std::source_location where = std::source_location::current());

  /// x: [..., in]. Result: [..., to], x times "<name>.weight" plus "<name>.bias".
  Tensor linear(std::string_view name, Tensor x, int64_t to, const LinearOptions& options = {},
                std::source_location where = std::source_location::current());
  /// x: [batch, channels, h, w]; a filter of `size` x `size`. Result: [batch, to, …]. Or [batch, channels,
  /// length] and a filter of `size`.
  Tensor convolution(std::string_view name, Tensor x, int64_t to, int64_t size,
                     const ConvolutionOptions& options = {},
                     std::source_location where = std::source_location::current());
  /// x: [batch, channels, h, w]; convTranspose2d with a filter "<name>.weight" of [channels, to / groups,
  /// size, size]. Result: [batch, to, …].
  Tensor transposedConvolution(std::string_view name, Tensor x, int64_t to, int64_t size,
                               const TransposedConvolutionOptions& options = {},
                               std::source_location where = std::source_location::current());
  /// x: [batch, channels, …], normalised for each channel. The running statistics keep `kept` of what they
  /// were at each step.
  Tensor batchNorm(std::string_view name, Tensor x, double kept = 0.9, double epsilon = 1e-5,
                   std::source_location where = std::source_location::current());
  /// x normalised along its last axis, scaled by "<name>.weight", shifted by "<name>.bias".
  Tensor layerNorm(std::string_view name, Tensor x, double epsilon = 1e-5,
                   std::source_location where = std::source_location::current());
  /// x: [batch, channels, …], each of `groups` groups of channels normalised by itself, scaled by
  /// "<name>.weight", shifted by "<name>.bias", one of each for a channel.
  Tensor groupNorm(std::string_view name, Tensor x, int64_t groups, double epsilon = 1e-5,
                   std::source_location where = std::source_location::current());
  /// x over its root mean square along the last axis, scaled by "<name>.weight".
  Tensor rmsNorm(std::string_view name, Tensor x, double epsilon = 1e-5,
                 std::source_location where = std::source_location::current());
  /// The rows of the table "<name>.weight" [entries, width] that `ids` name: [ids…, width].
  Tensor embedding(std::string_view name, Tensor ids, int64_t entries, int64_t width,
                   std::source_location where = std::source_location::current());
  /// Self-attention with linear layers "<name>.q", ".k", ".v" and ".out", or with `memory` cross-attention.
  /// x: [batch, length, width], `heads` divide the width. Result: of the shape of x.
  Tensor attention(std::string_view name, Tensor x, int64_t heads, const SelfAttentionOptions& options = {},
                   std::source_location where = std::source_location::current());
  /// LSTM (Hochreiter and Schmidhuber 1997, with a forget gate), a formula for each position. x: [batch,
  /// length, in]. Parameters as PyTorch's: "<name>.weight_ih" [4 width, in], "….weight_hh" [4 width, width],
  /// "….bias_ih" and "….bias_hh" [4 width], gates in the order input, forget, cell, output.
  Recurrent lstm(std::string_view name, Tensor x, int64_t width,
                 std::source_location where = std::source_location::current());
  /// GRU (Cho et al. 2014) likewise, gates in the order reset, update, new.
  Recurrent gru(std::string_view name, Tensor x, int64_t width,
                std::source_location where = std::source_location::current());
  /// In training each element is 0 with probability `rate`, else x / (1 - rate). No two calls, and no two
  /// steps, drop alike: the draws go by the call and by Builder::step.
  Tensor dropout(Tensor x, double rate = 0.5, std::source_location where = std::source_location::current());

 private:
  bool areGroups(std::string_view what, std::string_view name, Tensor x, int64_t to, int64_t groups,
                 std::source_location where);
  Tensor withBias(std::string_view name, Tensor x);
  bool fits(std::string_view what, std::string_view name, Tensor x, size_t least, size_t most,
            std::source_location where);
  struct Gates {
    Tensor fromInput, toHidden, hiddenBias;
  };
  Gates gates(std::string_view name, Tensor x, int64_t count, int64_t width);
  Builder* g_;
  Phase phase_;
  int64_t seed_, drops_ = 0;
  ElementType element_;
  std::vector<Tensor> trained_;
};

} // namespace dfc
