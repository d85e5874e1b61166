#include "tools/bench/graphs/transformer.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"
#include "ir/graph/graph.h"

#include <cmath>

namespace dfc::bench {
namespace {

class BlockWriter {
 public:
  explicit BlockWriter(const BlockSpec& spec) : spec_(spec), g_("transformer block") {}

  Result<Graph> forward() {
    g_.fetch("y", block());
    return std::move(g_).finish();
  }

  Result<Graph> training() {
    const Tensor y = block();
    const Tensor t = g_.parameter("t", tokens(), normal(0, 1, 2));
    const Tensor miss = y - t;
    const Tensor loss = reduceMean(miss * miss);
    sgd(weights_, gradients(loss, weights_), spec_.rate);
    return std::move(g_).finish();
  }

 private:
  TensorType tokens() const { return f32({spec_.batch, spec_.sequence, spec_.width}); }

  Tensor weight(const std::string& name, Shape shape, Initialiser start) {
    weights_.push_back(g_.parameter(name, f32(shape), std::move(start)));
    return weights_.back();
  }

  Tensor dense(const std::string& name, Tensor x, int64_t from, int64_t to) {
    const Tensor w = weight(name + " weight", {from, to}, glorot(static_cast<int64_t>(weights_.size())));
    return matmul(x, w) + weight(name + " bias", {to}, zeros());
  }

  Tensor norm(const std::string& name, Tensor x) {
    const Tensor gain = weight(name + " gain", {spec_.width}, constantInit(1));
    return layerNorm(x, gain, weight(name + " bias", {spec_.width}, zeros()));
  }

  /// Rows of one of query, key and value as [batch, heads, sequence, width / heads].
  Tensor heads(Tensor all, int64_t part) {
    const int64_t from = part * spec_.width, rows = spec_.batch * spec_.sequence;
    const Tensor own = slice(all, {0, from}, {rows, from + spec_.width});
    return transpose(reshape(own, {spec_.batch, spec_.sequence, spec_.heads, spec_.width / spec_.heads}),
                     {0, 2, 1, 3});
  }

  Tensor attention(Tensor x) {
    const int64_t rows = spec_.batch * spec_.sequence;
    const Tensor all = dense("qkv", x, spec_.width, 3 * spec_.width);
    const double scale = 1 / std::sqrt(static_cast<double>(spec_.width) / static_cast<double>(spec_.heads));
    const Tensor scores = matmul(heads(all, 0), heads(all, 1), {false, true}) * scale;
    const Tensor mixed = matmul(softmax(scores), heads(all, 2));
    return dense("out", reshape(transpose(mixed, {0, 2, 1, 3}), {rows, spec_.width}), spec_.width,
                 spec_.width);
  }

  Tensor block() {
    const int64_t rows = spec_.batch * spec_.sequence, inner = spec_.width * spec_.expansion;
    Tensor x = reshape(g_.parameter("x", tokens(), normal(0, 1, 1)), {rows, spec_.width});
    x = x + attention(norm("norm1", x));
    const Tensor hidden = gelu(dense("up", norm("norm2", x), spec_.width, inner), Approximation::Tanh);
    x = x + dense("down", hidden, inner, spec_.width);
    return reshape(x, {spec_.batch, spec_.sequence, spec_.width});
  }

  BlockSpec spec_;
  Builder g_;
  std::vector<Tensor> weights_;
};

} // namespace

Result<Graph> blockForward(const BlockSpec& spec) { return BlockWriter(spec).forward(); }

Result<Graph> blockTraining(const BlockSpec& spec) { return BlockWriter(spec).training(); }

} // namespace dfc::bench
