#include "samples/09_cholesky/tasks.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace dfc::lesson {
namespace {

using In = std::span<const double>;
using Out = std::span<double>;

size_t rowsOf(const CustomCall& call) { return static_cast<size_t>(call.types().results[0].shape[0]); }

// In place: the lower factor of `a`.
void factorise(Out a, size_t n) {
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < k; ++j) {
      a[k * n + k] -= a[k * n + j] * a[k * n + j];
    }
    if (!(a[k * n + k] > 0)) {
      throw std::runtime_error("the matrix is not positive definite"); // ends the step, with the op's name
    }
    a[k * n + k] = std::sqrt(a[k * n + k]);
    for (size_t i = k + 1; i < n; ++i) {
      for (size_t j = 0; j < k; ++j) {
        a[i * n + k] -= a[i * n + j] * a[k * n + j];
      }
      a[i * n + k] /= a[k * n + k];
      a[k * n + i] = 0;
    }
  }
}

// L of a diagonal tile: a = L·Lᵀ.
void potrf(const CustomCall& call) {
  const In a = call.operand<double>(0);
  const Out l = call.result<double>(0);
  std::copy(a.begin(), a.end(), l.begin());
  factorise(l, rowsOf(call));
}

// x of x·Lᵀ = a.
void trsm(const CustomCall& call) {
  const size_t n = rowsOf(call);
  const In a = call.operand<double>(0), l = call.operand<double>(1);
  const Out x = call.result<double>(0);
  for (size_t row = 0; row < n; ++row) {
    for (size_t k = 0; k < n; ++k) {
      double sum = a[row * n + k];
      for (size_t j = 0; j < k; ++j) {
        sum -= x[row * n + j] * l[k * n + j];
      }
      x[row * n + k] = sum / l[k * n + k];
    }
  }
}

// c - a·bᵀ.
void subtractProduct(In c, In a, In b, Out result, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = c[i * n + j];
      for (size_t k = 0; k < n; ++k) {
        sum -= a[i * n + k] * b[j * n + k];
      }
      result[i * n + j] = sum;
    }
  }
}

void syrk(const CustomCall& call) {
  const In a = call.operand<double>(1);
  subtractProduct(call.operand<double>(0), a, a, call.result<double>(0), rowsOf(call));
}

void gemm(const CustomCall& call) {
  subtractProduct(call.operand<double>(0), call.operand<double>(1), call.operand<double>(2),
                  call.result<double>(0), rowsOf(call));
}

CustomFunction onTiles(void (*run)(const CustomCall&), size_t operands) {
  CustomFunction function(run);
  function.check = [operands](const CustomTypes& types) -> std::string {
    const TensorType& tile = types.results[0];
    const bool square =
        tile.element == ElementType::F64 && tile.shape.rank() == 2 && tile.shape[0] == tile.shape[1];
    const bool same = std::all_of(types.operands.begin(), types.operands.end(),
                                  [&](const TensorType& type) { return type == tile; });
    return square && same && types.operands.size() == operands && types.results.size() == 1
               ? ""
               : "it takes " + std::to_string(operands) + " square tiles of f64 and gives one";
  };
  return function;
}

} // namespace

CustomFunctions tileFunctions() {
  return {{"potrf", onTiles(potrf, 1)},
          {"trsm", onTiles(trsm, 2)},
          {"syrk", onTiles(syrk, 2)},
          {"gemm", onTiles(gemm, 3)}};
}

std::vector<double> plainCholesky(std::vector<double> a, size_t size) {
  factorise(a, size);
  return a;
}

} // namespace dfc::lesson
