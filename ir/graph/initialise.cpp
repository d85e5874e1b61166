// See initialise.h.
#include "ir/graph/initialise.h"

#include "ir/base/assert.h"
#include "ir/base/philox.h"

#include <cmath>

namespace dfc {
namespace {

// Natural logarithm of 0 < x < 1 in exact operations: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and
// log m = 2 artanh((m - 1) / (m + 1)) by its series, whose argument is at most 0.172.
double logarithm(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double series = 0;
  for (int odd = 23; odd >= 1; odd -= 2) { // the first term left out is 0.172^25 / 25 < 1e-20
    series = series * square + 1.0 / odd;
  }
  constexpr double ln2 = 0.69314718055994530942;
  return exponent * ln2 + 2 * s * series;
}

// Numerator and denominator of a rational function of degree 7, lowest power first.
struct Rational {
  double numerator[8], denominator[8];

  double at(double r) const {
    double above = numerator[7], below = denominator[7];
    for (int power = 6; power >= 0; --power) {
      above = above * r + numerator[power];
      below = below * r + denominator[power];
    }
    return above / below;
  }
};

// The coefficients of AS 241's PPND16: the middle, the tails up to sqrt(-log p) = 5, and beyond.
constexpr Rational middle = {
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
    {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
     3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}};
constexpr Rational nearTail = {{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                                3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4},
                               {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
                                6.89767334985100004550e-1, 1.48103976427480074590e-1,
                                1.51986665636164571966e-2, 5.47593808499534494600e-4,
                                1.05075007164441684324e-9}};
constexpr Rational farTail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5,
     2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

uint64_t bits64(uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; }

// In [0, 1).
double fraction(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// Fills a literal of T with value(i), i by i, counted in the whole that it is a part of.
template <class T, class Value>
void fill(Literal& literal, const TensorPart& part, Value value) {
  const Shape shape = literal.type().shape;
  const std::span<T> data = literal.mutableData<T>();
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = value(static_cast<uint64_t>(part.indexInWhole(shape, static_cast<int64_t>(i))));
  }
}

// Calls fill with the literal's float type and draw<T>(i) for each element.
template <class Draw>
Literal drawn(const ops::Parameter& parameter, const Draw& draw) {
  const TensorType& type = parameter.type;
  const TensorPart& part = parameter.part;
  Literal literal(type);
  switch (type.element) {
  case ElementType::F32:
    fill<float>(literal, part, [&](uint64_t i) { return draw.template at<float>(i); });
    break;
  case ElementType::F64:
    fill<double>(literal, part, [&](uint64_t i) { return draw.template at<double>(i); });
    break;
  case ElementType::F16:
    fill<Half>(literal, part, [&](uint64_t i) { return draw.template at<Half>(i); });
    break;
  case ElementType::BF16:
    fill<BFloat16>(literal, part, [&](uint64_t i) { return draw.template at<BFloat16>(i); });
    break;
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: DFC_UNREACHABLE("a random initialiser of " + toString(type));
  }
  return literal;
}

// Rounds as a cast does: the 16-bit types by way of f32.
template <class T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    return T(static_cast<float>(value));
  }
}

struct UniformDraw {
  double low, high;
  uint64_t seed;

  template <class T>
  T at(uint64_t index) const {
    const PhiloxCounter block = philoxBlock(seed, index);
    for (const uint64_t bits : {bits64(block[0], block[1]), bits64(block[2], block[3])}) {
      const double u = fraction(bits);
      const T value = rounded<T>(low * (1 - u) + high * u); // no overflow however far the ends lie apart
      if (static_cast<double>(widened(value)) < high) {
        return value;
      }
    }
    return rounded<T>(low);
  }

  template <class T>
  static auto widened(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return value;
    } else {
      return static_cast<float>(value);
    }
  }
};

struct NormalDraw {
  double mean, deviation;
  uint64_t seed;

  template <class T>
  T at(uint64_t index) const {
    const PhiloxCounter block = philoxBlock(seed, index);
    // The middle of one of 2^52 equal pieces of (0, 1): never an end, and exact.
    const double p = (static_cast<double>(bits64(block[0], block[1]) >> 12) + 0.5) * 0x1p-52;
    return rounded<T>(mean + deviation * normalQuantile(p));
  }
};

Literal drawnEvenly(const ops::Parameter& parameter, double limit) {
  return drawn(parameter, UniformDraw{-limit, limit, static_cast<uint64_t>(parameter.seed)});
}

} // namespace

Fans fansOf(const Shape& shape) {
  DFC_ASSERT(shape.rank() >= 2, "fans of " + toString(shape));
  if (shape.rank() == 2) {
    return {static_cast<double>(shape[0]), static_cast<double>(shape[1])};
  }
  double window = 1;
  for (const int64_t length : dimRange(shape).drop_front(2)) {
    window *= static_cast<double>(length);
  }
  return {static_cast<double>(shape[1]) * window, static_cast<double>(shape[0]) * window};
}

double normalQuantile(double p) {
  DFC_ASSERT(p > 0 && p < 1, "a probability strictly between 0 and 1");
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    return q * middle.at(0.180625 - q * q);
  }
  const double r = std::sqrt(-logarithm(q < 0 ? p : 1 - p));
  const double magnitude = r <= 5 ? nearTail.at(r - 1.6) : farTail.at(r - 5);
  return q < 0 ? -magnitude : magnitude;
}

Literal initialise(const ops::Parameter& parameter) {
  const TensorType& type = parameter.type;
  const Shape whole = parameter.part.shapeOf(type.shape);
  const auto seed = static_cast<uint64_t>(parameter.seed);
  switch (parameter.initialiser) {
  case ops::Parameter::Initialiser::Zeros: return Literal(type);
  case ops::Parameter::Initialiser::Constant: return filledLiteral(type, parameter.a);
  case ops::Parameter::Initialiser::Uniform:
    return drawn(parameter, UniformDraw{parameter.a, parameter.b, seed});
  case ops::Parameter::Initialiser::Normal:
    return drawn(parameter, NormalDraw{parameter.a, parameter.b, seed});
  case ops::Parameter::Initialiser::Glorot: {
    const Fans fans = fansOf(whole);
    return drawnEvenly(parameter, std::sqrt(6 / (fans.in + fans.out)));
  }
  case ops::Parameter::Initialiser::HeNormal:
    return drawn(parameter, NormalDraw{0, std::sqrt(2 / fansOf(whole).in), seed});
  case ops::Parameter::Initialiser::HeUniform: return drawnEvenly(parameter, std::sqrt(6 / fansOf(whole).in));
  case ops::Parameter::Initialiser::File: break;
  }
  DFC_UNREACHABLE("a parameter that starts from a file");
}

} // namespace dfc
