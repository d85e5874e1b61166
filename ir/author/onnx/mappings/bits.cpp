// ONNX's ops on the bits of integers. Element types that dfc holds in an i64 have the bits of their own
// width.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/author/onnx/widened.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace dfc::onnx {
namespace {

template <Tensor (*function)(Operand, Operand)>
NodeResults bitwise(NodeCall& call) {
  return {function(call.operand(0), call.operand(1))};
}

Tensor both(Operand a, Operand b) { return a & b; }
Tensor either(Operand a, Operand b) { return a | b; }
Tensor one(Operand a, Operand b) { return a ^ b; }

NodeResults opposite(NodeCall& call) { return {~call.operand(0)}; }

// How many bits an unsigned type has; 0 for types that ONNX does not shift.
int64_t bitsOf(int64_t element) {
  switch (element) {
  case element::u8: return 8;
  case element::u16: return 16;
  case element::u32: return 32;
  case element::u64: return 64;
  default: return 0;
  }
}

// 2 to the powers 0, 1, … or, downwards, to the powers …, 1, 0.
Tensor powersOfTwo(NodeCall& call, int64_t count, bool downwards) {
  std::vector<int64_t> powers;
  for (int64_t i = 0; i < count; ++i) {
    powers.push_back(static_cast<int64_t>(uint64_t{1} << i));
  }
  if (downwards) {
    std::reverse(powers.begin(), powers.end());
  }
  return call.whole(powers);
}

// By products and quotients with powers of two: of a shift by all bits or more the gather gives 0, and so do
// a product with 0 and a quotient by it. The highest bit of 64 is the sign of an i64; it is shifted apart.
NodeResults shifted(NodeCall& call) {
  const Tensor a = call.operand(0), places = cast(call.operand(1), ElementType::I64);
  const int64_t element = call.elementOf(a), bits = bitsOf(element);
  if (bits == 0) {
    call.refuse(fmt::format("operands of {}; it shifts unsigned integers", elementName(element)));
  }
  const Tensor wide = cast(a, ElementType::I64), power = gather(powersOfTwo(call, bits, false), places);
  call.attribute("direction"); // no default
  if (call.choice("direction", {"LEFT", "RIGHT"}) == "LEFT") {
    return {call.ofElement(cast(narrowed(wide * power, element), a.type().element), element)};
  }
  Tensor result = wide / power;
  if (bits == 64) {
    const Tensor low = call.constant(Literal::scalar(std::numeric_limits<int64_t>::max()));
    const Tensor high = gather(powersOfTwo(call, bits, true), places);
    result = (wide & low) / power + select(compare(wide, 0, Direction::Lt), high, 0);
  }
  return {call.ofElement(cast(result, a.type().element), element)};
}

} // namespace

MappingTable bitMappings() {
  return {{"BitShift", shifted},
          {"BitwiseAnd", bitwise<both>},
          {"BitwiseNot", opposite},
          {"BitwiseOr", bitwise<either>},
          {"BitwiseXor", bitwise<one>}};
}

} // namespace dfc::onnx
