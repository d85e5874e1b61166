// See kernel_testing.h.
#include "tests/runtime/kernels/kernel_testing.h"

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

struct Prepared {
  llvm::SmallVector<TensorType, 1> results;
  std::unique_ptr<CpuKernel> kernel;
};

Prepared prepared(const OpAttributes& attributes, const std::vector<Literal>& operands, ThreadPool& pool,
                  const SharedBuffers& exchanged) {
  const auto types = typesOf(operands);
  const TypeResult results = resultTypes(attributes, types);
  INFO(results.error);
  REQUIRE(results.ok());
  REQUIRE(hasCpuKernel(attributes, types, results.types));
  Prepared prepared{results.types, makeCpuKernel(attributes, types, results.types, pool, exchanged)};
  REQUIRE(prepared.kernel != nullptr);
  return prepared;
}

std::vector<const std::byte*> addressesOf(const std::vector<Literal>& operands) {
  std::vector<const std::byte*> addresses;
  for (const Literal& operand : operands) {
    addresses.push_back(operand.bytes().data());
  }
  return addresses;
}

std::vector<Literal> runInto(const Prepared& op, const std::vector<Literal>& operands) {
  std::vector<Literal> results;
  std::vector<std::byte*> outputs;
  for (const TensorType& type : op.results) {
    std::span<std::byte> bytes = results.emplace_back(type).mutableBytes();
    std::memset(bytes.data(), 0xA5, bytes.size());
    outputs.push_back(bytes.data());
  }
  op.kernel->run(addressesOf(operands), outputs);
  return results;
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

std::vector<Literal> runKernelForAll(const OpAttributes& attributes, const std::vector<Literal>& operands,
                                     uint32_t threads, const SharedBuffers& exchanged) {
  ThreadPool pool(threads);
  const Prepared op = prepared(attributes, operands, pool, exchanged);
  const std::vector<Literal> first = runInto(op, operands);
  CHECK(runInto(op, operands) == first); // a second run must not see anything of the first
  return first;
}

Literal runKernel(const OpAttributes& attributes, const std::vector<Literal>& operands, uint32_t threads,
                  const SharedBuffers& exchanged) {
  return runKernelForAll(attributes, operands, threads, exchanged).front();
}

Literal runKernelInPlace(const OpAttributes& attributes, const std::vector<Literal>& operands, size_t shared,
                         uint32_t threads, const SharedBuffers& exchanged) {
  ThreadPool pool(threads);
  const Prepared op = prepared(attributes, operands, pool, exchanged);
  std::vector<Literal> buffers = operands;
  std::byte* output = buffers[shared].mutableBytes().data();
  op.kernel->run(addressesOf(buffers), output);
  return buffers[shared];
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

namespace {

bool agrees(ElementType type, double value, double want, double ulps, double absolute) {
  if (value == want || (std::isnan(value) && std::isnan(want))) {
    return true;
  }
  if (!isFloat(type)) {
    return false;
  }
  const double stored = roundedTo(type, want);
  return value == stored || (std::isfinite(value) && std::isfinite(stored) &&
                             std::fabs(value - want) <= ulps * ulp(type, want) + absolute);
}

} // namespace

void checkElements(const Literal& got, const std::function<double(int64_t)>& expected, double ulps,
                   double absolute) {
  const ElementType type = got.type().element;
  const int64_t count = got.type().shape.elements();
  for (int64_t i = 0; i < count; ++i) {
    const double value = got.at(i);
    const double want = expected(i);
    if (!agrees(type, value, want, ulps, absolute)) {
      INFO("element " << i << " of " << toString(got.type()) << ": " << value << ", expected " << want);
      FAIL_CHECK("another value than expected");
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
