// See kernel_testing.h.
#include "tests/runtime/kernel_testing.h"

#include "tests/support/catch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace dfc::testing {
namespace {

llvm::SmallVector<TensorType, 4> typesOf(const std::vector<Literal>& literals) {
  llvm::SmallVector<TensorType, 4> types;
  for (const Literal& literal : literals) {
    types.push_back(literal.type());
  }
  return types;
}

Literal runInto(const OpAttributes& attributes, std::vector<Literal> operands, uint32_t threads, int shared,
                const SharedBuffers& exchanged) {
  const auto types = typesOf(operands);
  const TypeResult results = resultTypes(attributes, types);
  INFO(results.error);
  REQUIRE(results.ok());
  ThreadPool pool(threads);
  REQUIRE(hasCpuKernel(attributes, types, results.types));
  const auto kernel = makeCpuKernel(attributes, types, results.types, pool, exchanged);
  REQUIRE(kernel != nullptr);
  Literal result(results.types.front());
  std::memset(result.mutableBytes().data(), 0xA5, result.bytes().size());
  std::vector<const std::byte*> inputs;
  for (const Literal& operand : operands) {
    inputs.push_back(operand.bytes().data());
  }
  std::byte* output = result.mutableBytes().data();
  if (shared >= 0) {
    output = operands[static_cast<size_t>(shared)].mutableBytes().data();
    inputs[static_cast<size_t>(shared)] = output;
  }
  kernel->run(inputs, output);
  if (shared < 0) {
    const Literal first(result); // a second run must not see anything of the first
    output = result.mutableBytes().data();
    kernel->run(inputs, output);
    CHECK(result == first);
  }
  return shared >= 0 ? operands[static_cast<size_t>(shared)] : result;
}

int mantissaBits(ElementType type) {
  switch (type) {
  case ElementType::F16: return 10;
  case ElementType::BF16: return 7;
  case ElementType::F32: return 23;
  default: return 52;
  }
}

int leastExponent(ElementType type) {
  switch (type) {
  case ElementType::F16: return -14;
  case ElementType::F64: return -1022;
  default: return -126;
  }
}

} // namespace

Literal runKernel(const OpAttributes& attributes, const std::vector<Literal>& operands, uint32_t threads,
                  const SharedBuffers& exchanged) {
  return runInto(attributes, operands, threads, -1, exchanged);
}

Literal runKernelInPlace(const OpAttributes& attributes, const std::vector<Literal>& operands, size_t shared,
                         const SharedBuffers& exchanged) {
  return runInto(attributes, operands, 1, static_cast<int>(shared), exchanged);
}

Literal randomLiteral(const TensorType& type, uint32_t seed, double low, double high) {
  std::mt19937 generator(seed);
  Literal literal(type);
  const double least = type.element == ElementType::U8 ? std::max(low, 0.0) : low;
  std::uniform_real_distribution<double> draw(least, high);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    literal.set(i, type.element == ElementType::Bool ? double(generator() % 2) : draw(generator));
  }
  return literal;
}

Literal literalOf(ElementType type, const Shape& shape, const std::vector<double>& values) {
  Literal literal(TensorType{type, shape});
  REQUIRE(shape.elements() == static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.set(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

Index indexOf(const Shape& shape, int64_t at) {
  Index index(shape.rank());
  for (size_t axis = shape.rank(); axis-- > 0;) {
    index[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return index;
}

int64_t offsetOf(const Shape& shape, const Index& index) {
  int64_t at = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    at = at * shape[axis] + index[axis];
  }
  return at;
}

int64_t broadcastOffset(const Shape& operand, const Shape& result, int64_t at) {
  const Index whole = indexOf(result, at);
  Index own(operand.rank());
  for (size_t axis = 0; axis < own.size(); ++axis) {
    own[axis] = operand[axis] == 1 ? 0 : whole[result.rank() - operand.rank() + axis];
  }
  return offsetOf(operand, own);
}

double ulp(ElementType type, double value) {
  const int exponent = value == 0 ? leastExponent(type) : std::max(std::ilogb(value), leastExponent(type));
  return std::ldexp(1.0, exponent - mantissaBits(type));
}

double roundedTo(ElementType type, double value) {
  Literal one(TensorType{type, {}});
  one.set(0, value);
  return one.at(0);
}

void checkElements(const Literal& got, const std::function<double(int64_t)>& expected, double ulps,
                   double absolute) {
  const ElementType type = got.type().element;
  for (int64_t i = 0; i < got.type().shape.elements(); ++i) {
    const double value = got.at(i);
    const double want = expected(i);
    const double stored = isFloat(type) ? roundedTo(type, want) : want;
    const bool same = value == stored || (std::isnan(value) && std::isnan(want));
    const bool near = isFloat(type) && std::isfinite(value) && std::isfinite(stored) &&
                      std::fabs(value - want) <= ulps * ulp(type, want) + absolute;
    if (!same && !near) {
      INFO("element " << i << " of " << toString(got.type()) << ": " << value << ", expected " << want);
      CHECK((same || near));
      return; // one report a tensor is enough
    }
  }
  CHECK(true);
}

std::vector<uint8_t> bitsOf(const Literal& literal) {
  std::vector<uint8_t> bits;
  for (const std::byte byte : literal.bytes()) {
    bits.push_back(static_cast<uint8_t>(byte));
  }
  return bits;
}

} // namespace dfc::testing
