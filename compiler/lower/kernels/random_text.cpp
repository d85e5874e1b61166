#include "compiler/lower/kernels/random_text.h"

#include "compiler/lower/kernels/code.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

constexpr std::string_view wordsText = R"(
struct Words { u32 word[4]; };
DFC_INLINE Words drawn(u64 group, u64 step) {
  u32 a = u32(group), b = u32(group >> 32), c = u32(step), d = u32(step >> 32);
  u32 key0 = $key0$u, key1 = $key1$u;
#pragma unroll
  for (int turn = 0; turn < 10; ++turn) {
    const u64 product0 = u64(0xD2511F53u) * a, product1 = u64(0xCD9E8D57u) * c;
    a = u32(product1 >> 32) ^ b ^ key0;
    b = u32(product1);
    c = u32(product0 >> 32) ^ d ^ key1;
    d = u32(product0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}
)";

} // namespace

std::string randomWordsText(int64_t given) {
  const auto seed = static_cast<uint64_t>(given);
  return filled(wordsText, {{"key0", fmt::format("{}", static_cast<uint32_t>(seed))},
                            {"key1", fmt::format("{}", static_cast<uint32_t>(seed >> 32))}});
}

std::string placeText(const TensorPart& part, const Shape& shape) {
  std::string text;
  int64_t stride = 1;
  for (size_t axis = shape.rank(); axis-- > 0;) {
    text += fmt::format("    place += (rest % {0}ull + {1}ull) * {2}ull;\n    rest /= {0}ull;\n", shape[axis],
                        part.starts[axis], stride);
    stride *= part.whole[axis];
  }
  return text;
}

bool drawsWholeBlocks(const TensorPart& part, const Shape& shape) {
  return part.indexInWhole(shape, 0) % 4 == 0 && part.contiguous(shape) == shape.elements();
}

} // namespace dfc::cuda
