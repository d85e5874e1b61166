// FamilyModel: shared by the model families: a graph with its trained parameters, the layers that most of
// them have, and the update in the end. Written for one device, without a pin.
#pragma once

#include "ir/author/builder.h"
#include "ir/author/dsl.h"

#include <string>
#include <vector>

namespace dfc::bench {

/// Numbers that every family reads in its own way; model_families.cpp says which.
struct FamilySizes {
  int64_t layers = 2;
  int64_t width = 64;  ///< of the residual stream, or channels of the first stage
  int64_t batch = 16;  ///< windows, images or rows in a step
  int64_t length = 64; ///< tokens of a window, or rows of an image
};

/// The rule of the update.
enum class Update {
  Momentum,
  Adam,
  ClippedAdam, ///< of gradients whose global norm is at most 1
};

class FamilyModel {
 public:
  explicit FamilyModel(const std::string& name) : g(name) {}

  /// A parameter that is trained; `deviation` 0: ones for scales of norms, see `vector`.
  Tensor weight(const std::string& name, const Shape& shape);
  Tensor vector(const std::string& name, int64_t length, double start);
  /// One that is read only.
  Tensor frozen(const std::string& name, const Shape& shape);

  /// x: [rows, from]. Result: [rows, to].
  Tensor linear(const std::string& name, Tensor x, int64_t to);
  /// The same without a bias.
  Tensor product(const std::string& name, Tensor x, int64_t to);
  /// Over the last axis.
  Tensor layerNormOf(const std::string& name, Tensor x);
  /// x: [batch, from, h, w]. A square filter, padded so that a stride of 1 keeps the image's size.
  Tensor convolution(const std::string& name, Tensor x, int64_t to, int64_t size, int64_t stride = 1,
                     int64_t groups = 1);
  /// Batch norm with the statistics of the batch, and running ones beside.
  Tensor batchNormOf(const std::string& name, Tensor x);

  /// Multi-head self-attention of x [batch * length, width]; result the same shape, before its projection.
  Tensor selfAttention(Tensor q, Tensor k, Tensor v, int64_t batch, int64_t heads, int64_t keyHeads,
                       bool causal);

  /// The cross-entropy of logits [rows, classes] and of labels that are fed under `name`.
  Tensor classLoss(const std::string& name, Tensor logits);
  /// The mean of the squares of a - b.
  static Tensor squaredLoss(Tensor a, Tensor b);

  /// One update of every trained parameter; the graph with "loss" fetched.
  Result<Graph> minimise(Tensor loss, Update update) &&;

  Builder g;

 private:
  std::vector<Tensor> weights_;
};

} // namespace dfc::bench
