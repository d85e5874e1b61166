#include "runtime/cuda/library/matmul_problem.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace dfc::cuda {
namespace {

cudaDataType dataType(ElementType type) {
  switch (type) {
  case ElementType::F32: return CUDA_R_32F;
  case ElementType::F64: return CUDA_R_64F;
  case ElementType::F16: return CUDA_R_16F;
  case ElementType::BF16: return CUDA_R_16BF;
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("an element type that cuBLASLt does not multiply");
}

cublasComputeType_t computeType(const MatmulCall& call) {
  if (call.a.element == ElementType::F64) {
    return CUBLAS_COMPUTE_64F;
  }
  return call.a.element == ElementType::F32 && call.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t epilogueOf(const MatmulCall& call) {
  const bool bias = call.bias;
  switch (call.activation) {
  case Activation::None: return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  case Activation::Relu: return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  case Activation::Gelu: return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  }
  DFC_UNREACHABLE("an epilogue");
}

} // namespace

MatrixLayout::MatrixLayout(const TensorType& type, int64_t count, int64_t stride) {
  const int64_t rows = type.shape[type.shape.rank() - 2], columns = type.shape[type.shape.rank() - 1];
  check(cublasLtMatrixLayoutCreate(&handle_, dataType(type.element), static_cast<uint64_t>(columns),
                                   static_cast<uint64_t>(rows), columns),
        "describing a matrix");
  const auto set = [this](cublasLtMatrixLayoutAttribute_t attribute, auto value) {
    check(cublasLtMatrixLayoutSetAttribute(handle_, attribute, &value, sizeof value), "describing a matrix");
  };
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(count));
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
}

MatmulDescription::MatmulDescription(const MatmulCall& call) {
  check(cublasLtMatmulDescCreate(&handle_, computeType(call),
                                 call.a.element == ElementType::F64 ? CUDA_R_64F : CUDA_R_32F),
        "describing a product");
  set(CUBLASLT_MATMUL_DESC_TRANSA, call.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N); // its first operand is b
  set(CUBLASLT_MATMUL_DESC_TRANSB, call.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogueOf(call));
  if (call.bias) {
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.biasData);
  }
}

MatmulProblem::MatmulProblem(const MatmulCall& call, cublasLtHandle_t handle)
    : call_(call), handle_(handle), batches_(matmulBatches(call.a.shape, call.b.shape, call.result.shape)),
      description_(call), a_(call.a, batches_.count, batches_.strideA),
      b_(call.b, batches_.count, batches_.strideB), c_(call.result, batches_.count, batches_.strideC) {}

std::vector<cublasLtMatmulAlgo_t> MatmulProblem::proposals(int atMost) const {
  const MatmulDescription plain(withEpilogue(false, Activation::None));
  auto found = heuristics(plain, atMost);
  const auto hasBoth = [&](const cublasLtMatmulAlgo_t& one) {
    return runs(one, false, Activation::None) && runs(one, true, Activation::None) &&
           runs(one, false, Activation::Relu) && runs(one, true, Activation::Relu);
  };
  found.erase(std::remove_if(found.begin(), found.end(), std::not_fn(hasBoth)), found.end());
  if (!found.empty()) {
    return found;
  }
  // An activation that depends on the algorithm was asked for with the plain product's, which stays.
  return dependsOnAlgorithm(call_.activation) ? heuristics(plain, atMost) : heuristics(description_, atMost);
}

bool MatmulProblem::runs(const cublasLtMatmulAlgo_t& algorithm, bool bias, Activation activation) const {
  const MatmulDescription description(withEpilogue(bias, activation));
  cublasLtMatmulHeuristicResult_t result{};
  return cublasLtMatmulAlgoCheck(handle_, description.get(), b_.get(), a_.get(), c_.get(), c_.get(),
                                 &algorithm, &result) == CUBLAS_STATUS_SUCCESS &&
         result.workspaceSize <= static_cast<size_t>(matmulWorkspaceBytes);
}

MatmulCall MatmulProblem::withEpilogue(bool bias, Activation activation) const {
  // cuBLASLt checks that the bias is not null and how it is aligned: all values are aligned as this array is.
  alignas(256) static std::array<std::byte, 256> somewhere;
  MatmulCall call = call_;
  call.bias = bias;
  call.biasData = bias ? somewhere.data() : nullptr;
  call.activation = activation;
  return call;
}

// The alignment of every pointer of every call.
uint32_t MatmulProblem::alignment() const {
  uint64_t bits = 256;
  for (const auto& offset : batches_.offsets) {
    bits |= static_cast<uint64_t>((offset[0] | offset[1] | offset[2]) * byteWidth(call_.result.element));
  }
  return static_cast<uint32_t>(bits & (~bits + 1));
}

std::vector<cublasLtMatmulAlgo_t> MatmulProblem::heuristics(const MatmulDescription& description,
                                                            int atMost) const {
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "choosing an algorithm");
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
          "choosing an algorithm");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(matmulWorkspaceBytes));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    set(attribute, alignment());
  }
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<size_t>(atMost));
  int count = 0;
  const cublasStatus_t code =
      cublasLtMatmulAlgoGetHeuristic(handle_, description.get(), b_.get(), a_.get(), c_.get(), c_.get(),
                                     preference, atMost, found.data(), &count);
  cublasLtMatmulPreferenceDestroy(preference);
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; code == CUBLAS_STATUS_SUCCESS && i < count; ++i) {
    algorithms.push_back(found[static_cast<size_t>(i)].algo);
  }
  return algorithms;
}

std::string choiceOf(const cublasLtMatmulAlgo_t& algorithm) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&algorithm);
  return fmt::format("cublasLt {} {:02x}", cublasLtGetVersion(),
                     fmt::join(bytes, bytes + sizeof algorithm, ""));
}

cublasLtMatmulAlgo_t algorithmIn(const std::string& choice) {
  const std::string start = fmt::format("cublasLt {} ", cublasLtGetVersion());
  cublasLtMatmulAlgo_t algorithm{};
  if (!choice.starts_with(start) || choice.size() != start.size() + 2 * sizeof algorithm ||
      choice.find_first_not_of("0123456789abcdef", start.size()) != std::string::npos) {
    throw MachineError(fmt::format("the calibration's choice of a matmul algorithm, '{}', is not of this "
                                   "cuBLASLt's version ({}), nor tiles of dfc's that make this product: run "
                                   "dfc calibrate again on this machine",
                                   choice, cublasLtGetVersion()));
  }
  auto* bytes = reinterpret_cast<unsigned char*>(&algorithm);
  for (size_t i = 0; i < sizeof algorithm; ++i) {
    bytes[i] = static_cast<unsigned char>(std::stoi(choice.substr(start.size() + 2 * i, 2), nullptr, 16));
  }
  return algorithm;
}

} // namespace dfc::cuda
