#include "ir/author/kv_cache.h"

#include <fmt/format.h>

namespace dfc {
namespace {

TensorType typeOf(const KvCacheSizes& sizes) {
  return {sizes.element, {sizes.batch, sizes.heads, sizes.rows, sizes.width}};
}

// Of numbers that are not negative.
Tensor remainder(Tensor a, int64_t divisor) {
  const auto number = static_cast<double>(divisor);
  return a - a / number * number;
}

} // namespace

KvCache::KvCache(Builder& builder, const std::string& name, const KvCacheSizes& sizes,
                 std::source_location where)
    : builder_(builder), sizes_(sizes),
      keys_(builder.parameter(name + ".keys", typeOf(sizes), zeros(), where)),
      values_(builder.parameter(name + ".values", typeOf(sizes), zeros(), where)) {}

Tensor KvCache::attend(Tensor q, Tensor k, Tensor v, Tensor position, AttentionOptions options,
                       std::source_location where) {
  if (!fits(k, v, position, where)) {
    return {&builder_, {}};
  }
  const auto place = builder_.at(builder_.locate(where));
  const Tensor row = sizes_.ring ? remainder(position, sizes_.rows) : position;
  const Tensor keys = builder_.assign(keys_, dynamicUpdateSlice(keys_, k, row, {2}), where);
  const Tensor values = builder_.assign(values_, dynamicUpdateSlice(values_, v, row, {2}), where);
  const Tensor seen = visible(position, k.shape()[2]);
  options.causal = false; // the mask says it
  options.mask = options.mask.valid() ? options.mask & seen : seen;
  return attention(q, keys, values, options);
}

bool KvCache::fits(Tensor k, Tensor v, Tensor position, std::source_location where) const {
  if (!k.valid() || !v.valid() || !position.valid() || !keys_.valid() || !values_.valid()) {
    return false; // reported before, or empty
  }
  const TensorType cache = typeOf(sizes_);
  const int64_t tokens = k.shape().rank() == 4 ? k.shape()[2] : 0;
  const TensorType wanted{cache.element, {sizes_.batch, sizes_.heads, tokens, sizes_.width}};
  if (!(k.type() == wanted && v.type() == wanted) || tokens < 1 || tokens > sizes_.rows) {
    builder_.report(
        where,
        fmt::format("a cache of {} cannot take keys of {} and values of {}", toString(cache),
                    toString(k.type()), toString(v.type())),
        "both are [batch, heads, tokens, width] of the cache's element type, and 1 <= tokens <= rows");
    return false;
  }
  if (!(position.type() == TensorType{ElementType::I64, {}})) {
    builder_.report(where, fmt::format("a position of {}", toString(position.type())), "give an i64 scalar");
    return false;
  }
  if (sizes_.ring && (sizes_.rows % tokens != 0 || sizes_.window > sizes_.rows - tokens + 1)) {
    builder_.report(where,
                    fmt::format("a ring of {} rows and a window of {} cannot take {} tokens a step",
                                sizes_.rows, sizes_.window, tokens),
                    "the tokens of a step divide the rows, and the window is at most rows - tokens + 1");
    return false;
  }
  return true;
}

// [tokens, rows]: whether a token of the step sees a row. A row without a ring holds the token of its own
// number; in a ring the last one whose position, modulo the rows, is its number.
Tensor KvCache::visible(Tensor position, int64_t tokens) const {
  const Tensor row = iota(builder_, i64({1, sizes_.rows}), 1);
  const Tensor query = iota(builder_, i64({tokens, 1}), 0) + position;
  const Tensor last = position + static_cast<double>(tokens - 1);
  const Tensor held =
      sizes_.ring ? last - remainder(last - row + static_cast<double>(sizes_.rows), sizes_.rows) : row;
  Tensor seen = compare(held, query, Direction::Le);
  const int64_t window = sizes_.window == 0 && sizes_.ring ? sizes_.rows - tokens + 1 : sizes_.window;
  if (window > 0) {
    seen = seen & compare(held, query - static_cast<double>(window), Direction::Gt);
  }
  return sizes_.ring ? seen & compare(held, 0, Direction::Ge) : seen;
}

Tensor countedPosition(Builder& builder, const std::string& name, int64_t tokens, Tensor reset,
                       std::source_location where) {
  const auto place = builder.at(builder.locate(where));
  const Tensor kept = builder.parameter(name, i64({}), zeros(), where);
  const Tensor position =
      reset.builder() == nullptr ? kept : select(reset, builder.scalar(ElementType::I64, 0), kept);
  builder.assign(kept, position + static_cast<double>(tokens), where);
  return position;
}

} // namespace dfc
