// AttentionInLayouts: one attention heads first and in another layout, with operands of the same numbers:
// four heads of q in two batches, which share two of k and v.
#pragma once

#include "ir/graph/op.h"
#include "tests/support/random_values.h"

#include <optional>
#include <vector>

namespace dfc::test {

class AttentionInLayouts {
 public:
  AttentionInLayouts(ElementType type, AttentionLayout layout, int64_t length, int64_t width, bool masked)
      : layout_(layout), q_(some({type, {2, 4, length, width}}, 1)),
        k_(some({type, {2, 2, length, width}}, 2)), v_(some({type, {2, 2, length, width}}, 3)),
        cotangent_(some(q_.type(), 4)),
        delta_(some({type == ElementType::F64 ? type : ElementType::F32, {2, 4, length}}, 5)) {
    if (masked) { // by batch and head; every query sees its own key
      mask_ = Literal({ElementType::Bool, {2, 4, length, length}});
      for (int64_t i = 0; i < mask_->type().shape.elements(); ++i) {
        const int64_t key = i % length, row = i / length;
        mask_->set(i, key == row % length || (row * 7 + key * 3) % 5 < 3 ? 1 : 0);
      }
    }
  }

  ops::Attention forward(bool moved) const {
    ops::Attention op;
    op.causal = true;
    op.layout = moved ? layout_ : AttentionLayout::Heads;
    op.keyHeads = op.layout == AttentionLayout::Packed ? 2 : 0;
    return op;
  }
  ops::AttentionGradient gradient(bool moved) const { return {{}, forward(moved)}; }

  std::vector<Literal> operands(bool moved) const {
    std::vector<Literal> all = moved ? factors() : std::vector<Literal>{q_, k_, v_};
    if (mask_) {
      all.push_back(*mask_);
    }
    return all;
  }
  /// `results`: of the attention heads first.
  std::vector<Literal> gradientOperands(bool inLayout, const std::vector<Literal>& results) const {
    std::vector<Literal> all = inLayout ? factors() : std::vector<Literal>{q_, k_, v_};
    all.push_back(inLayout ? moved(cotangent_) : cotangent_);
    all.push_back(inLayout ? movedStatistics(results[1]) : results[1]);
    all.push_back(inLayout ? movedStatistics(delta_) : delta_);
    if (mask_) {
      all.push_back(*mask_);
    }
    return all;
  }

  /// [batch, heads, rows, width] as [batch, rows, heads, width], and [batch, heads, rows] alike.
  static Literal moved(const Literal& x) { return swapped(x, x.type().shape[3]); }
  static Literal movedStatistics(const Literal& x) { return swapped(x, 1); }
  /// The gradients of q, k and v as the layout gives them.
  std::vector<Literal> joined(const std::vector<Literal>& parts) const {
    std::vector<Literal> all;
    for (const Literal& part : parts) {
      all.push_back(moved(part));
    }
    return layout_ == AttentionLayout::Packed ? std::vector<Literal>{packed(all)} : all;
  }

 private:
  static Literal some(const TensorType& type, uint64_t seed) {
    Dice dice(seed);
    return randomLiteral(type, dice, Mood::Tame);
  }
  // Axes 1 and 2 in each other's place; `width` elements behind them move together.
  static Literal swapped(const Literal& x, int64_t width) {
    const Shape& shape = x.type().shape;
    Dims dims(shape.dims().begin(), shape.dims().end());
    std::swap(dims[1], dims[2]);
    Literal result({x.type().element, Shape(dims)});
    for (int64_t i = 0; i < shape.elements(); ++i) {
      const int64_t column = i % width, row = i / width % shape[2], head = i / width / shape[2] % shape[1],
                    batch = i / width / shape[2] / shape[1];
      result.set(((batch * shape[2] + row) * shape[1] + head) * width + column, x.at(i));
    }
    return result;
  }
  // [batch, rows, heads, width], one behind the other along the heads.
  static Literal packed(const std::vector<Literal>& parts) {
    Dims dims(parts[0].type().shape.dims().begin(), parts[0].type().shape.dims().end());
    dims[2] = 0;
    for (const Literal& part : parts) {
      dims[2] += part.type().shape[2];
    }
    Literal result({parts[0].type().element, Shape(dims)});
    int64_t before = 0; // elements of a row of heads
    for (const Literal& part : parts) {
      const int64_t own = part.type().shape[2] * dims[3];
      for (int64_t i = 0; i < part.type().shape.elements(); ++i) {
        result.set(i / own * (dims[2] * dims[3]) + before + i % own, part.at(i));
      }
      before += own;
    }
    return result;
  }
  std::vector<Literal> factors() const {
    std::vector<Literal> all = {moved(q_), moved(k_), moved(v_)};
    return layout_ == AttentionLayout::Packed ? std::vector<Literal>(3, packed(all)) : all;
  }

  AttentionLayout layout_;
  Literal q_, k_, v_, cotangent_, delta_;
  std::optional<Literal> mask_;
};

} // namespace dfc::test
