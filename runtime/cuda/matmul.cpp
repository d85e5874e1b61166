// cuBLASLt thinks in columns: a row-major [m, n] result is its n x m result, so that b is its first operand.
#include "runtime/cuda/matmul.h"

#include "ir/assert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <vector>

namespace dfc::cuda {
namespace {

struct Scalars { // of the compute type, where cuBLASLt looks for alpha and beta
  float alphaF = 1, betaF = 0;
  double alphaD = 1, betaD = 0;
};

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

/// The batch axes as one strided batch a call, and the offsets of the calls.
struct Batches {
  int64_t count = 1;                                      ///< products a call
  int64_t strideA = 0, strideB = 0, strideC = 0;          ///< elements between them
  std::vector<std::array<int64_t, 3>> offsets{{0, 0, 0}}; ///< of a, b and the result, elements, a call each
};

int64_t matrixElements(const Shape& shape) { return shape[shape.rank() - 2] * shape[shape.rank() - 1]; }

/// Elements to step along each batch axis of the result: 0 where the operand is broadcast.
std::vector<int64_t> batchStrides(const Shape& operand, const Shape& result) {
  std::vector<int64_t> strides(result.rank() - 2);
  int64_t stride = matrixElements(operand);
  for (size_t back = 3; back <= operand.rank(); ++back) {
    const int64_t extent = operand[operand.rank() - back];
    strides[result.rank() - back] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return strides;
}

// The longest run of inner axes along which all three step evenly becomes the strided batch; the rest, calls.
Batches batchesOf(const Shape& a, const Shape& b, const Shape& result) {
  Batches batches;
  const std::array strides = {batchStrides(a, result), batchStrides(b, result), batchStrides(result, result)};
  size_t axis = result.rank() - 2;
  while (axis > 0 && result[axis - 1] == 1) {
    --axis;
  }
  if (axis > 0) {
    --axis;
    batches.count = result[axis];
    batches.strideA = strides[0][axis], batches.strideB = strides[1][axis],
    batches.strideC = strides[2][axis];
    while (axis > 0 && strides[0][axis - 1] == batches.strideA * batches.count &&
           strides[1][axis - 1] == batches.strideB * batches.count &&
           strides[2][axis - 1] == batches.strideC * batches.count) {
      batches.count *= result[--axis];
    }
  }
  while (axis > 0) {
    --axis;
    std::vector<std::array<int64_t, 3>> more;
    for (int64_t i = 0; i < result[axis]; ++i) {
      for (const auto& offset : batches.offsets) {
        more.push_back({offset[0] + i * strides[0][axis], offset[1] + i * strides[1][axis],
                        offset[2] + i * strides[2][axis]});
      }
    }
    batches.offsets = std::move(more);
  }
  return batches;
}

class Layout {
 public:
  /// A row-major rows x columns matrix, seen as a column-major columns x rows one.
  Layout(ElementType type, int64_t rows, int64_t columns, int64_t count, int64_t stride) {
    check(cublasLtMatrixLayoutCreate(&handle_, dataType(type), static_cast<uint64_t>(columns),
                                     static_cast<uint64_t>(rows), columns),
          "describing a matrix");
    const auto batch = static_cast<int32_t>(count);
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout() { cublasLtMatrixLayoutDestroy(handle_); }
  cublasLtMatrixLayout_t get() const { return handle_; }

 private:
  template <class T>
  void set(cublasLtMatrixLayoutAttribute_t attribute, T value) {
    check(cublasLtMatrixLayoutSetAttribute(handle_, attribute, &value, sizeof value), "describing a matrix");
  }
  cublasLtMatrixLayout_t handle_ = nullptr;
};

class Description {
 public:
  explicit Description(const MatmulCall& call) {
    check(cublasLtMatmulDescCreate(&handle_, computeType(call),
                                   call.a.element == ElementType::F64 ? CUDA_R_64F : CUDA_R_32F),
          "describing a product");
    set(CUBLASLT_MATMUL_DESC_TRANSA, call.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N); // its first operand is b
    set(CUBLASLT_MATMUL_DESC_TRANSB, call.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogueOf(call));
    if (call.bias != nullptr) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias);
    }
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  ~Description() { cublasLtMatmulDescDestroy(handle_); }
  cublasLtMatmulDesc_t get() const { return handle_; }

 private:
  static cublasLtEpilogue_t epilogueOf(const MatmulCall& call) {
    if (call.relu) {
      return call.bias != nullptr ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    }
    return call.bias != nullptr ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    check(cublasLtMatmulDescSetAttribute(handle_, attribute, &value, sizeof value), "describing a product");
  }
  cublasLtMatmulDesc_t handle_ = nullptr;
};

// "cublasLt 130100 0a1b…": the version and the algorithm's bytes, which that version reads back as they are.
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
    throw MachineError("the calibration's choice of a matmul algorithm is not of this cuBLASLt's version (" +
                       std::to_string(cublasLtGetVersion()) + "): run dfc calibrate again on this machine");
  }
  auto* bytes = reinterpret_cast<unsigned char*>(&algorithm);
  for (size_t i = 0; i < sizeof algorithm; ++i) {
    bytes[i] = static_cast<unsigned char>(std::stoi(choice.substr(start.size() + 2 * i, 2), nullptr, 16));
  }
  return algorithm;
}

class MatmulWork final : public Work {
 public:
  MatmulWork(const MatmulCall& call, cublasLtHandle_t handle, std::byte* workspace)
      : call_(call), handle_(handle), workspace_(workspace),
        batches_(batchesOf(call.a.shape, call.b.shape, call.result.shape)), description_(call),
        a_(layoutOf(call.a, batches_.strideA)), b_(layoutOf(call.b, batches_.strideB)),
        c_(layoutOf(call.result, batches_.strideC)), width_(byteWidth(call.result.element)) {
    scalars_.alphaF = static_cast<float>(call.alpha);
    scalars_.alphaD = call.alpha;
    scalars_.betaF = call.addend != nullptr ? 1 : 0;
    scalars_.betaD = scalars_.betaF;
    chooseAlgorithm();
  }

  void enqueue(cudaStream_t stream) override {
    for (const auto& offset : batches_.offsets) {
      std::byte* out = call_.out + offset[2] * width_;
      const std::byte* c = call_.addend != nullptr ? call_.addend + offset[2] * width_ : out;
      check(cublasLtMatmul(handle_, description_.get(), alpha(), call_.bData + offset[1] * width_, b_.get(),
                           call_.aData + offset[0] * width_, a_.get(), beta(), c, c_.get(), out, c_.get(),
                           &algorithm_, workspace_, matmulWorkspaceBytes, stream),
            "a matrix product");
    }
  }

 private:
  Layout layoutOf(const TensorType& type, int64_t stride) const {
    const size_t rank = type.shape.rank();
    return {type.element, type.shape[rank - 2], type.shape[rank - 1], batches_.count, stride};
  }
  bool isDouble() const { return call_.a.element == ElementType::F64; }
  const void* alpha() const {
    return isDouble() ? static_cast<const void*>(&scalars_.alphaD) : &scalars_.alphaF;
  }
  const void* beta() const {
    return isDouble() ? static_cast<const void*>(&scalars_.betaD) : &scalars_.betaF;
  }

  // What every pointer of every call is a multiple of.
  uint32_t alignment() const {
    uint64_t bits = 256;
    for (const auto& offset : batches_.offsets) {
      bits |= static_cast<uint64_t>((offset[0] | offset[1] | offset[2]) * width_);
    }
    return static_cast<uint32_t>(bits & (~bits + 1));
  }

  void chooseAlgorithm() {
    if (!call_.choice.empty()) {
      algorithm_ = algorithmIn(call_.choice);
      return;
    }
    const auto found = proposals(8);
    if (found.empty()) {
      throw MachineError(
          fmt::format("cuBLASLt has no algorithm for {} by {}", toString(call_.a), toString(call_.b)));
    }
    algorithm_ = found[0];
  }

 public:
  // Asked for the plain product, whatever ends it, and only those that could end it in every way: so that a
  // product's bits do not depend on what was fused behind it, which pins may change.
  std::vector<cublasLtMatmulAlgo_t> proposals(int atMost) const {
    auto found = heuristics(Description(ending(false, false)), atMost);
    found.erase(std::remove_if(found.begin(), found.end(),
                               [&](const cublasLtMatmulAlgo_t& one) { return !runsWithEveryEpilogue(one); }),
                found.end());
    return found.empty() ? heuristics(description_, atMost) : found;
  }

 private:
  MatmulCall ending(bool bias, bool relu) const {
    alignas(256) static std::array<std::byte, 256> somewhere; // cuBLASLt looks whether there is a bias
    MatmulCall call = call_;
    call.bias = bias ? somewhere.data() : nullptr;
    call.relu = relu;
    return call;
  }

  bool runsWithEveryEpilogue(const cublasLtMatmulAlgo_t& algorithm) const {
    for (const auto& [bias, relu] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
      const Description description(ending(bias, relu));
      cublasLtMatmulHeuristicResult_t result{};
      if (cublasLtMatmulAlgoCheck(handle_, description.get(), b_.get(), a_.get(), c_.get(), c_.get(),
                                  &algorithm, &result) != CUBLAS_STATUS_SUCCESS ||
          result.workspaceSize > static_cast<size_t>(matmulWorkspaceBytes)) {
        return false;
      }
    }
    return true;
  }

  std::vector<cublasLtMatmulAlgo_t> heuristics(const Description& description, int atMost) const {
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

  MatmulCall call_;
  cublasLtHandle_t handle_;
  std::byte* workspace_;
  Batches batches_;
  Description description_;
  Layout a_, b_, c_;
  int64_t width_;
  Scalars scalars_;
  cublasLtMatmulAlgo_t algorithm_{};
};

/// An empty sum: every element is what the epilogue makes of nothing. Only the plain product comes here.
class ZeroWork final : public Work {
 public:
  ZeroWork(std::byte* out, int64_t bytes) : out_(out), bytes_(static_cast<size_t>(bytes)) {}
  void enqueue(cudaStream_t stream) override {
    check(cudaMemsetAsync(out_, 0, bytes_, stream), "an empty product");
  }

 private:
  std::byte* out_;
  size_t bytes_;
};

} // namespace

cublasLtHandle_t matmulHandle(int ordinal) {
  static std::mutex mutex;
  static auto* const handles = new std::map<int, cublasLtHandle_t>; // outlives static destruction
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = (*handles)[ordinal];
  if (handle == nullptr) {
    const OnDevice current(ordinal);
    check(cublasLtCreate(&handle), fmt::format("opening cuBLASLt on GPU {}", ordinal));
  }
  return handle;
}

std::vector<std::string> matmulChoices(const MatmulCall& call, int ordinal, int atMost) {
  const OnDevice current(ordinal);
  std::vector<std::string> choices;
  for (const auto& algorithm : MatmulWork(call, matmulHandle(ordinal), nullptr).proposals(atMost)) {
    choices.push_back(choiceOf(algorithm));
  }
  return choices;
}

std::unique_ptr<Work> makeMatmul(const MatmulCall& call, int ordinal, std::byte* workspace) {
  const size_t rank = call.a.shape.rank();
  const int64_t inner = call.a.shape[rank - (call.transposeA ? 2 : 1)];
  if (inner == 0) {
    DFC_ASSERT(call.bias == nullptr && call.addend == nullptr, "an empty product has no epilogue");
    return std::make_unique<ZeroWork>(call.out, call.result.bytes());
  }
  const OnDevice current(ordinal);
  return std::make_unique<MatmulWork>(call, matmulHandle(ordinal), workspace);
}

} // namespace dfc::cuda
