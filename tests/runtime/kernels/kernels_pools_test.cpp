// Pools of many planes, which are oneDNN's, beside our own: the same but for roundings where all is tame, the
// same values where a plane holds what oneDNN would lose, and nothing of that in the planes beside it.
#include "ir/graph/rules/windows.h"
#include "runtime/cpu/kernels/windows/own_pools.h"
#include "runtime/cpu/kernels/windows/pools.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

constexpr int64_t planes = 41;

/// A pool or a gradient: as a session would run it, and by our own.
struct Both {
  std::string what;
  std::vector<Literal> operands; ///< tame ones
  TensorType result;
  std::unique_ptr<CpuKernel> chosen;
  std::unique_ptr<OwnPool> own;
};

Literal runAlone(CpuKernel& kernel, const std::vector<Literal>& operands, const TensorType& result) {
  Literal made(result);
  llvm::SmallVector<const std::byte*, 2> from;
  for (const Literal& operand : operands) {
    from.push_back(operand.bytes().data());
  }
  std::byte* to[1] = {made.mutableBytes().data()};
  kernel.run(from, to);
  return made;
}

/// Windows of `size`, moved by 2, with a border of 1.
template <class Op>
Op shaped(const Dims& size) {
  Op op;
  op.window = size;
  op.strides = {2, 2};
  op.low = {1, 1};
  op.high = {1, 1};
  return op;
}

/// Every pool and gradient over `planes` planes of 12 x 13.
std::vector<Both> poolsOf(ElementType type, const Dims& size, ThreadPool& pool) {
  const TensorType image{type, {1, planes, 12, 13}};
  const auto largest = shaped<ops::MaxPool>(size);
  const Windows windows = windowsOf(image.shape, windowAttributes(largest));
  const TensorType result{type, {1, planes, windows.rows.count, windows.columns.count}};
  const TensorType imageAndResult[2] = {image, result};
  const Literal a = randomLiteral(image, 11, -2, 2), g = randomLiteral(result, 12, -2, 2);
  std::vector<Both> both;
  both.push_back({"maxPool",
                  {a},
                  result,
                  makeMaxPoolKernel(largest, {image}, {result}, pool),
                  makeOwnMaxPool(windows, image, pool)});
  both.push_back({"maxPoolGradient",
                  {a, g},
                  image,
                  makeMaxPoolGradientKernel(shaped<ops::MaxPoolGradient>(size), imageAndResult, pool),
                  makeOwnMaxPoolGradient(windows, image, pool)});
  for (const bool countPadding : {false, true}) {
    auto mean = shaped<ops::AveragePool>(size);
    auto toMean = shaped<ops::AveragePoolGradient>(size);
    mean.countPadding = countPadding;
    toMean.countPadding = countPadding;
    both.push_back({"averagePool",
                    {a},
                    result,
                    makeAveragePoolKernel(mean, {image}, {result}, pool),
                    makeOwnAveragePool(windows, countPadding, image, pool)});
    both.push_back({"averagePoolGradient",
                    {g},
                    image,
                    makeAveragePoolGradientKernel(toMean, {image}, pool),
                    makeOwnAveragePoolGradient(windows, countPadding, image, pool)});
  }
  return both;
}

struct WildPlane {
  int64_t plane;
  double value;
};

std::vector<WildPlane> wildPlanes(ElementType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<WildPlane> wild = {{0, std::nan("")}, {3, infinity}, {17, -infinity}};
  if (type == ElementType::F32) {
    wild.push_back({39, std::numeric_limits<float>::max()});
    wild.push_back({40, -std::numeric_limits<float>::max()});
  }
  return wild;
}

// Each wild plane full of its value, and one NaN in plane 20.
Literal spoilt(const Literal& tame, const std::vector<WildPlane>& wild) {
  Literal literal = tame;
  const int64_t elements = tame.type().shape.elements() / planes;
  for (const WildPlane& one : wild) {
    for (int64_t i = 0; i < elements; ++i) {
      literal.set(one.plane * elements + i, one.value);
    }
  }
  literal.set(20 * elements + 7, std::nan(""));
  return literal;
}

} // namespace

TEST_CASE("our own pools and oneDNN's agree") {
  ThreadPool threads(2);
  for (const ElementType type : {ElementType::F32, ElementType::F16, ElementType::BF16}) {
    for (const Dims& size : {Dims{3, 3}, Dims{2, 5}, Dims{11, 12}}) {
      for (Both& both : poolsOf(type, size, threads)) {
        INFO(both.what << " of " << name(type) << ", windows of " << size[0] << " x " << size[1]);
        const Literal own = runAlone(*both.own, both.operands, both.result);
        // Sums in f32, an addition a term, each of less than 2 for a term so far; both are rounded once.
        const double sums = 2.0 * static_cast<double>(size[0] * size[1]) * 0x1p-24;
        checkElements(
            runAlone(*both.chosen, both.operands, both.result), [&](int64_t i) { return own.at(i); }, 1.01,
            sums);
      }
    }
  }
}

TEST_CASE("what is odd in a plane of a pool is as our own makes it, and stays in the plane") {
  ThreadPool threads(2);
  for (const ElementType type : {ElementType::F32, ElementType::F16, ElementType::BF16}) {
    const std::vector<WildPlane> wild = wildPlanes(type);
    for (Both& both : poolsOf(type, {3, 3}, threads)) {
      const Literal tame = runAlone(*both.chosen, both.operands, both.result);
      for (size_t operand = 0; operand < both.operands.size(); ++operand) {
        std::vector<Literal> operands = both.operands;
        operands[operand] = spoilt(operands[operand], wild);
        const Literal own = runAlone(*both.own, operands, both.result);
        const Literal chosen = runAlone(*both.chosen, operands, both.result);
        const int64_t elements = both.result.shape.elements() / planes;
        for (int64_t i = 0; i < both.result.shape.elements(); ++i) {
          const int64_t plane = i / elements;
          const bool odd = plane == 20 || std::any_of(wild.begin(), wild.end(), [&](const WildPlane& one) {
                             return one.plane == plane;
                           });
          const double got = chosen.at(i), expected = odd ? own.at(i) : tame.at(i);
          INFO(both.what << " of " << name(type) << ", operand " << operand << ", element " << i << ": "
                         << got << ", expected " << expected);
          CHECK((got == expected || (std::isnan(got) && std::isnan(expected))));
        }
      }
    }
  }
}

} // namespace dfc::testing
