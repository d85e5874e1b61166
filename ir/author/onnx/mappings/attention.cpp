// ONNX's ops of transformers: attention over heads and rotary positions (Su et al. 2021).
#include "ir/author/composites.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc::onnx {
namespace {

/// [batch, rows, heads x width] as [batch, heads, rows, width]; four axes stay.
Tensor headsFirst(NodeCall& call, Tensor a, int64_t heads) {
  if (a.shape().rank() == 4) {
    return a;
  }
  const Dims d = dimsOf(a);
  if (d.size() != 3 || heads < 1 || d[2] % heads != 0) {
    call.refuse(fmt::format("{} heads of shape {}", heads, toString(a.shape())));
  }
  return transpose(reshape(a, {d[0], d[1], heads, d[2] / heads}), {0, 2, 1, 3});
}

Tensor headsLast(Tensor a) {
  const Dims d = dimsOf(a);
  return reshape(transpose(a, {0, 2, 1, 3}), {d[0], d[2], d[1] * d[3]});
}

// Heads of keys or values as often as neighbouring heads of queries share them.
Tensor repeated(Tensor a, int64_t heads) {
  const Dims d = dimsOf(a);
  const int64_t times = heads / std::max<int64_t>(d[1], 1);
  if (times <= 1) {
    return a;
  }
  return reshape(broadcast(reshape(a, {d[0], d[1], 1, d[2], d[3]}), {d[0], d[1], times, d[2], d[3]}),
                 {d[0], d[1] * times, d[2], d[3]});
}

/// The operands of an Attention node, heads first.
struct Operands {
  Tensor q, k, v;
  double scale = 0;
};

// With a mask that is added, the scores are spelled out.
NodeResults spelled(NodeCall& call, const Operands& on, bool causal, double softcap) {
  const int64_t heads = on.q.shape()[1];
  Tensor scores = on.scale * matmul(on.q, repeated(on.k, heads), {.b = true});
  const Tensor products = scores;
  if (softcap != 0) {
    scores = softcap * tanh(scores / softcap);
  }
  const double nothing = -std::numeric_limits<double>::infinity();
  if (call.has(3)) {
    const Tensor mask = call.operand(3);
    scores = mask.type().element == ElementType::Bool ? select(mask, scores, nothing) : scores + mask;
  }
  if (causal) {
    const Tensor row = iota(call.builder(), i64({scores.shape()[2], 1}), 0);
    const Tensor column = iota(call.builder(), i64({scores.shape()[3]}), 0);
    scores = select(compare(column, row, Direction::Le), scores, nothing);
  }
  const Tensor weights = softmax(scores, -1);
  return {matmul(weights, repeated(on.v, heads)), products};
}

NodeResults attended(NodeCall& call) {
  const Tensor given = call.operandOfRank(0, 3);
  call.operandOfRank(1, 3);
  call.operandOfRank(2, 3);
  const bool packed = given.shape().rank() == 3;
  const int64_t heads = call.integer("q_num_heads", 0), keyHeads = call.integer("kv_num_heads", 0);
  Operands on{headsFirst(call, given, heads), headsFirst(call, call.operand(1), keyHeads),
              headsFirst(call, call.operand(2), keyHeads)};
  if (call.has(4) != call.has(5)) {
    call.refuse("a past of keys alone or of values alone");
  }
  if (call.has(4)) {
    on.k = concat({call.operand(4), on.k}, 2);
    on.v = concat({call.operand(5), on.v}, 2);
  }
  const auto width = static_cast<double>(on.q.shape()[3]);
  on.scale = call.real("scale", 1 / std::sqrt(width));
  const bool causal = call.integer("is_causal", 0) != 0;
  const double softcap = call.real("softcap", 0);
  call.ignore("softmax_precision"); // f32 or better
  call.only("qk_matmul_output_mode", 0);
  const bool added = call.has(3) && call.operand(3).type().element != ElementType::Bool;
  NodeResults results;
  if (added || softcap != 0 || call.wants(3) || on.scale == 0) {
    results = spelled(call, on, causal, softcap);
  } else {
    results = {attention(on.q, on.k, on.v,
                         {causal, on.scale, call.has(3) ? call.operand(3) : Tensor(), Precision::Unstated})};
  }
  NodeResults all{packed ? headsLast(results[0]) : results[0], on.k, on.v};
  all.insert(all.end(), results.begin() + 1, results.end());
  return all;
}

// Pairs of elements turned by an angle: (x cos - y sin, x sin + y cos).
NodeResults rotated(NodeCall& call) {
  const Tensor given = call.operandOfRank(0, 3);
  const bool packed = given.shape().rank() == 3;
  const int64_t heads = call.integer("num_heads", 0);
  const Tensor a = headsFirst(call, given, heads); // [batch, heads, rows, width]
  const Dims d = dimsOf(a);
  int64_t turned = call.integer("rotary_embedding_dim", 0);
  turned = turned == 0 ? d[3] : turned;
  if (turned < 2 || turned % 2 != 0 || turned > d[3]) {
    call.refuse(fmt::format("rotary_embedding_dim = {} of {}", turned, d[3]));
  }
  const auto angles = [&](size_t index) { // [batch, 1, rows, turned / 2]
    Tensor table = call.operand(index);
    table = call.has(3) ? gather(table, call.operand(3), 0) : table;
    return reshape(table, {d[0], 1, d[2], turned / 2});
  };
  const Tensor cosines = angles(1), sines = angles(2);
  const bool interleaved = call.integer("interleaved", 0) != 0;
  const Tensor part = turned == d[3] ? a : slice(a, {0, 0, 0, 0}, {d[0], d[1], d[2], turned});
  const Dims pairs =
      interleaved ? Dims{d[0], d[1], d[2], turned / 2, 2} : Dims{d[0], d[1], d[2], 2, turned / 2};
  const int64_t axis = interleaved ? 4 : 3;
  const std::vector<Tensor> both = split(reshape(part, pairs), {1, 1}, axis);
  const Tensor x = reshape(both[0], {d[0], d[1], d[2], turned / 2});
  const Tensor y = reshape(both[1], {d[0], d[1], d[2], turned / 2});
  Dims one = pairs;
  one[static_cast<size_t>(axis)] = 1;
  Tensor result =
      reshape(concat({reshape(x * cosines - y * sines, one), reshape(x * sines + y * cosines, one)}, axis),
              {d[0], d[1], d[2], turned});
  if (turned != d[3]) {
    result = concat({result, slice(a, {0, 0, 0, turned}, d)}, 3);
  }
  return {packed ? headsLast(result) : result};
}

} // namespace

MappingTable attentionMappings() { return {{"Attention", attended}, {"RotaryEmbedding", rotated}}; }

} // namespace dfc::onnx
