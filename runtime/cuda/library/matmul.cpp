#include "runtime/cuda/library/matmul.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <optional>

namespace dfc::cuda {
namespace {

struct Scalars { // alpha and beta in the compute type, to which cuBLASLt takes pointers
  float alphaF = 1, betaF = 0;
  double alphaD = 1, betaD = 0;
};

/// None where cuBLASLt has no algorithm.
std::optional<cublasLtMatmulAlgo_t> algorithmFor(const MatmulProblem& problem) {
  if (const std::string& choice = problem.call().choice; !choice.empty()) {
    return algorithmIn(choice);
  }
  const auto found = problem.proposals(8);
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

class MatmulLaunch final : public StreamLaunch {
 public:
  MatmulLaunch(const MatmulCall& call, cublasLtHandle_t handle, std::byte* workspace)
      : problem_(call, handle), workspace_(workspace), width_(byteWidth(call.result.element)) {
    scalars_.alphaF = static_cast<float>(call.alpha);
    scalars_.alphaD = call.alpha;
    scalars_.betaF = call.addend ? 1 : 0;
    scalars_.betaD = scalars_.betaF;
    const auto algorithm = algorithmFor(problem_);
    if (!algorithm) {
      throw MachineError(
          fmt::format("cuBLASLt has no algorithm for {} by {}", toString(call.a), toString(call.b)));
    }
    algorithm_ = *algorithm;
  }

  void enqueue(cudaStream_t stream) override {
    const MatmulCall& call = problem_.call();
    const cublasLtMatrixLayout_t c = problem_.c().get();
    for (const auto& offset : problem_.batches().offsets) {
      std::byte* out = call.out + offset[2] * width_;
      const std::byte* addend = call.addend ? call.addendData + offset[2] * width_ : out;
      check(cublasLtMatmul(problem_.handle(), problem_.description().get(), alpha(),
                           call.bData + offset[1] * width_, problem_.b().get(),
                           call.aData + offset[0] * width_, problem_.a().get(), beta(), addend, c, out, c,
                           &algorithm_, workspace_, matmulWorkspaceBytes, stream),
            "a matrix product");
    }
  }

 private:
  bool isDouble() const { return problem_.call().a.element == ElementType::F64; }
  const void* alpha() const {
    return isDouble() ? static_cast<const void*>(&scalars_.alphaD) : &scalars_.alphaF;
  }
  const void* beta() const {
    return isDouble() ? static_cast<const void*>(&scalars_.betaD) : &scalars_.betaF;
  }

  MatmulProblem problem_;
  std::byte* workspace_;
  int64_t width_;
  Scalars scalars_;
  cublasLtMatmulAlgo_t algorithm_{};
};

/// A product with an inner dimension of 0: every element is an empty sum. It never has an epilogue.
class ZeroFill final : public StreamLaunch {
 public:
  ZeroFill(std::byte* out, int64_t bytes) : out_(out), bytes_(static_cast<size_t>(bytes)) {}
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

std::vector<std::string> matmulChoices(const ProductCall& call, int ordinal, int atMost) {
  const OnDevice current(ordinal);
  std::vector<std::string> choices;
  for (const auto& algorithm : MatmulProblem({call}, matmulHandle(ordinal)).proposals(atMost)) {
    choices.push_back(choiceOf(algorithm));
  }
  return choices;
}

bool hasEpilogue(const ProductCall& call, int ordinal) {
  const OnDevice current(ordinal);
  const MatmulProblem problem({call}, matmulHandle(ordinal));
  const auto algorithm = algorithmFor(problem);
  return algorithm && problem.runs(*algorithm, call.bias, call.activation);
}

std::unique_ptr<StreamLaunch> makeMatmul(const MatmulCall& call, int ordinal, std::byte* workspace) {
  const size_t rank = call.a.shape.rank();
  const int64_t inner = call.a.shape[rank - (call.transposeA ? 2 : 1)];
  if (inner == 0) {
    DFC_ASSERT(!call.bias && !call.addend, "an empty product has no epilogue");
    return std::make_unique<ZeroFill>(call.out, call.result.bytes());
  }
  const OnDevice current(ordinal);
  return std::make_unique<MatmulLaunch>(call, matmulHandle(ordinal), workspace);
}

} // namespace dfc::cuda
