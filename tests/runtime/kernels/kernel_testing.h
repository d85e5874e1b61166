// What the kernel tests share: running an op's cpu kernel on literals, operands of every kind, and oracles
// that walk indices one by one.
#pragma once

#include "ir/graph/op.h"
#include "runtime/cpu/kernels/kernel.h"

#include <functional>

namespace dfc::testing {

/// Every element type with fractions.
inline const std::vector<ElementType> floatTypes = {ElementType::F32, ElementType::F64, ElementType::F16,
                                                    ElementType::BF16};

/// The op's kernel on these operands, with `threads` threads; checks the types first. The result is filled
/// with a pattern before the kernel runs, so that an element left out shows.
Literal runKernel(const OpAttributes& attributes, const std::vector<Literal>& operands, uint32_t threads = 1,
                  const SharedBuffers& exchanged = {});

/// The same, and all its results.
std::vector<Literal> runKernelForAll(const OpAttributes& attributes, const std::vector<Literal>& operands,
                                     uint32_t threads = 1, const SharedBuffers& exchanged = {});

/// The same with the result in the buffer of operand `shared`.
Literal runKernelInPlace(const OpAttributes& attributes, const std::vector<Literal>& operands, size_t shared,
                         uint32_t threads = 1, const SharedBuffers& exchanged = {});

/// Elements drawn evenly from [low, high], rounded to the type; the same for the same seed.
Literal randomLiteral(const TensorType& type, uint32_t seed, double low = -4, double high = 4);

/// A literal of these numbers, each converted to the type.
Literal literalOf(ElementType type, const Shape& shape, const std::vector<double>& values);

using Index = std::vector<int64_t>;
/// The multi-index of element `at` of a shape, and back.
Index indexOf(const Shape& shape, int64_t at);
int64_t offsetOf(const Shape& shape, const Index& index);
/// The element of an operand that a broadcast result's element at `index` reads.
int64_t broadcastOffset(const Shape& operand, const Shape& result, int64_t at);

/// Spacing of the type's numbers at `value`: what an error of one unit in the last place is.
double ulp(ElementType type, double value);

/// Rounds a double to a float type, as its literal would hold it.
double roundedTo(ElementType type, double value);

/// Checks every element: equal bits for NaN-ness and infinities, otherwise within `ulps` of expected(element)
/// plus `absolute`.
void checkElements(const Literal& got, const std::function<double(int64_t)>& expected, double ulps,
                   double absolute = 0);

/// The elements' raw bits, for comparisons that a report can print.
std::vector<uint8_t> bitsOf(const Literal& literal);

} // namespace dfc::testing
