// A product as cuBLASLt describes it: its layouts, its epilogue, and the algorithms that compute it. cuBLASLt
// is column-major: a row-major [m, n] result is its n x m result, so that b is its first operand.
#pragma once

#include "runtime/cuda/check.h"
#include "runtime/cuda/library/matmul_batches.h"
#include "runtime/cuda/library/matmul_call.h"

#include <cublasLt.h>

#include <string>
#include <vector>

namespace dfc::cuda {

inline constexpr int64_t matmulWorkspaceBytes = int64_t{32} << 20;

class MatrixLayout {
 public:
  /// A row-major rows x columns matrix, seen as a column-major columns x rows one.
  MatrixLayout(const TensorType& type, int64_t count, int64_t stride);
  MatrixLayout(const MatrixLayout&) = delete;
  MatrixLayout& operator=(const MatrixLayout&) = delete;
  ~MatrixLayout() { cublasLtMatrixLayoutDestroy(handle_); }
  cublasLtMatrixLayout_t get() const { return handle_; }

 private:
  cublasLtMatrixLayout_t handle_ = nullptr;
};

class MatmulDescription {
 public:
  explicit MatmulDescription(const MatmulCall& call);
  MatmulDescription(const MatmulDescription&) = delete;
  MatmulDescription& operator=(const MatmulDescription&) = delete;
  ~MatmulDescription() { cublasLtMatmulDescDestroy(handle_); }
  cublasLtMatmulDesc_t get() const { return handle_; }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    check(cublasLtMatmulDescSetAttribute(handle_, attribute, &value, sizeof value), "describing a product");
  }
  cublasLtMatmulDesc_t handle_ = nullptr;
};

class MatmulProblem {
 public:
  MatmulProblem(const MatmulCall& call, cublasLtHandle_t handle);

  /// cuBLASLt's best guess first. The heuristic is asked for the plain product, without its epilogue, and
  /// only algorithms with bias and ReLU as epilogues are kept: a product's bits then do not depend on its
  /// epilogue, which the author's pins may change. If there are none, the algorithms of this call, or for
  /// GELU those of the plain product.
  std::vector<cublasLtMatmulAlgo_t> proposals(int atMost) const;
  /// Whether the algorithm computes the product with that epilogue, at any aligned addresses.
  bool runs(const cublasLtMatmulAlgo_t& algorithm, bool bias, Activation activation) const;

  const MatmulCall& call() const { return call_; }
  const MatmulBatches& batches() const { return batches_; }
  cublasLtHandle_t handle() const { return handle_; }
  const MatmulDescription& description() const { return description_; }
  const MatrixLayout& a() const { return a_; }
  const MatrixLayout& b() const { return b_; }
  const MatrixLayout& c() const { return c_; }

 private:
  MatmulCall withEpilogue(bool bias, Activation activation) const;
  uint32_t alignment() const;
  std::vector<cublasLtMatmulAlgo_t> heuristics(const MatmulDescription& description, int atMost) const;

  MatmulCall call_;
  cublasLtHandle_t handle_;
  MatmulBatches batches_;
  MatmulDescription description_;
  MatrixLayout a_, b_, c_;
};

/// "cublasLt 130100 0a1b…": the version and the algorithm's bytes, which that version reads back as they are.
std::string choiceOf(const cublasLtMatmulAlgo_t& algorithm);
/// Throws MachineError for a choice of another version.
cublasLtMatmulAlgo_t algorithmIn(const std::string& choice);

} // namespace dfc::cuda
