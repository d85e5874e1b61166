// gelu(a, approximate=none): a times the normal distribution's share below a: a (1 + erf(a / sqrt(2))) / 2,
// or with approximate=tanh a (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3))) / 2 (Hendrycks and Gimpel 2016; ONNX
// Gelu).
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/ops/elementwise/formulas/sigmoid.h"

namespace dfc::ops {

struct Gelu : FormulaOp<1, 2> {
  using Approximation = dfc::Approximation;
  static constexpr std::array<std::string_view, 2> variantNames = {"none", "tanh"};
  // The distribution has 0.8413447460685429 below 1 and 7.619853024160527e-24 below -10; the tanh form is off
  // by 1.5e-4 at 1.
  static constexpr std::array known = {Known{{1}, 0.8413447460685429}, Known{{-10}, -7.619853024160527e-23},
                                       Known{{1}, 0.8411919906082768, 1}, Known{{-1e200}, 0, 1}};

  Approximation approximate = Approximation::None;
  uint8_t variant() const { return static_cast<uint8_t>(approximate); }
  void setVariant(uint8_t variant) { approximate = static_cast<Approximation>(variant); }
  void fields(AttributeVisitor& visitor) {
    uint8_t number = variant();
    visitor.choice("approximate", number, variantNames, Presence::Optional);
    setVariant(number);
  }

  template <uint8_t variant>
  static constexpr S of(S a) {
    if (variant == static_cast<uint8_t>(Approximation::None)) {
      return a * 0.5L * erfc(-a * rootHalf);
    }
    // (1 + tanh(x)) / 2 is the sigmoid of 2 x, which does not cancel below 0.
    const S linear = 1.5957691216057307L, cubic = 0.07135481627260025L, square = a * a;
    return Sigmoid::logistic(a * mulAdd(cubic, square, linear), a);
  }

  /// With Phi the distribution and phi its density, Phi(a) + a phi(a). The tanh form from a within bounds:
  /// beyond them its tanh is 1 or -1 in every type, where the square of a large a would be infinite and
  /// infinity times 0 no derivative.
  template <uint8_t variant>
  static constexpr S derivative(S a, S /*result*/) {
    if (variant == static_cast<uint8_t>(Approximation::None)) {
      const S below = 0.5L * (1 + erf(a * 1.41421356237309504880L / 2));
      const S density = exp(-0.5L * (a * a)) / 2.50662827463100050242L; // sqrt(2 pi)
      return below + a * density;
    }
    const S inside = clip(a, -12, 12), square = inside * inside;
    const S bent = tanh(scale * (inside + bend * (square * inside)));
    const S inner = scale * (1 + 3 * bend * square);
    return 0.5L * (1 + bent) + 0.5L * (inside * (1 - bent * bent) * inner);
  }

 private:
  static constexpr long double rootHalf = 0.70710678118654752440L; // sqrt(1/2)
  static constexpr long double scale = 0.79788456080286535588L;    // sqrt(2/pi)
  static constexpr long double bend = 0.044715L;
};

} // namespace dfc::ops
