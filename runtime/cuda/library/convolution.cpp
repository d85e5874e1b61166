#include "runtime/cuda/library/convolution.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/convolution.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/library/cudnn_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace dfc::cuda {
namespace {

CudnnType typeOf(ElementType element) {
  switch (element) {
  case ElementType::F32: return CudnnType::Float;
  case ElementType::F64: return CudnnType::Double;
  case ElementType::F16: return CudnnType::Half;
  case ElementType::BF16: return CudnnType::BFloat16;
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("a convolution of no floats");
}

int number(int64_t value) { return static_cast<int>(value); }

class Descriptors {
 public:
  Descriptors(const Cudnn& library, const ConvolutionCall& call, ElementType element)
      : library_(library), format_(call.conv.layout == ImageLayout::Nhwc ? cudnnNhwc : cudnnNchw) {
    const Convolution& conv = call.conv;
    const CudnnType type = typeOf(element);
    const WindowAxis &rows = conv.windows.rows, &columns = conv.windows.columns;
    const bool wide = element == ElementType::F64, half = byteWidth(element) == 2;
    tensorCores_ = half || (element == ElementType::F32 && call.precision == Precision::Tf32);
    good_ = is(library.createTensor(&image)) && is(library.createTensor(&result)) &&
            is(library.createFilter(&filter)) && is(library.createConvolution(&convolution)) &&
            setPlanes(image, type, conv.image) && setPlanes(result, type, conv.result) &&
            is(library.setFilter(filter, type, format_, number(conv.filter[0]), number(conv.filter[1]),
                                 number(conv.filter[2]), number(conv.filter[3]))) &&
            is(library.setConvolution(convolution, number(rows.low), number(columns.low), number(rows.stride),
                                      number(columns.stride), number(rows.dilation), number(columns.dilation),
                                      cudnnCrossCorrelation, wide ? CudnnType::Double : CudnnType::Float)) &&
            is(library.setGroups(convolution, number(conv.groups))) &&
            is(library.setMath(convolution, tensorCores_ ? CudnnMath::TensorOp : CudnnMath::Fma));
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    if (image != nullptr) {
      library_.destroyTensor(image);
    }
    if (result != nullptr) {
      library_.destroyTensor(result);
    }
    if (filter != nullptr) {
      library_.destroyFilter(filter);
    }
    if (convolution != nullptr) {
      library_.destroyConvolution(convolution);
    }
  }
  bool good() const { return good_; }
  bool tensorCores() const { return tensorCores_; }

  CudnnTensor *image = nullptr, *result = nullptr;
  CudnnFilter* filter = nullptr;
  CudnnConvolution* convolution = nullptr;

 private:
  static bool is(int code) { return code == cudnnSuccess; }
  bool setPlanes(CudnnTensor* tensor, CudnnType type, const Shape& shape) const {
    return is(library_.setTensor(tensor, format_, type, number(shape[0]), number(shape[1]), number(shape[2]),
                                 number(shape[3])));
  }

  const Cudnn& library_;
  int format_;
  bool tensorCores_ = false, good_ = false;
};

class CudnnPlan;

class CudnnLaunch final : public StreamLaunch {
 public:
  CudnnLaunch(std::shared_ptr<const CudnnPlan> plan, llvm::ArrayRef<std::byte*> pointers,
              std::byte* workspace);
  CudnnLaunch(const CudnnLaunch&) = delete;
  CudnnLaunch& operator=(const CudnnLaunch&) = delete;
  ~CudnnLaunch() override;
  void enqueue(cudaStream_t stream) override;

 private:
  std::shared_ptr<const CudnnPlan> plan_;
  llvm::SmallVector<std::byte*, 4> pointers_;
};

class CudnnPlan {
 public:
  CudnnPlan(const Cudnn& library, const ConvolutionCall& call, ElementType element, int ordinal)
      : library_(library), device_(cudnnDevice(ordinal)), ordinal_(ordinal), pass_(call.pass),
        wide_(element == ElementType::F64), descriptors_(library, call, element) {}

  /// Whether cuDNN supports the call.
  bool prepare() {
    if (device_.context == nullptr || !descriptors_.good()) {
      return false;
    }
    const OnDevice current(ordinal_);
    const std::lock_guard lock(device_.mutex);
    return chooseAlgorithm() && askWorkspace() == cudnnSuccess;
  }

  int64_t workspaceBytes() const { return static_cast<int64_t>(workspaceBytes_); }

  void run(llvm::ArrayRef<std::byte*> pointers, cudaStream_t stream) const {
    const std::lock_guard lock(device_.mutex);
    int code = library_.setStream(device_.context, stream);
    code = code == cudnnSuccess ? convolve(pointers) : code;
    if (code != cudnnSuccess) {
      throw MachineError(fmt::format("cuDNN: a convolution: {}", library_.errorString(code)));
    }
  }

 private:
  // The quickest by cuDNN's heuristics among those that give the same bits every time.
  bool chooseAlgorithm() {
    constexpr int most = 16;
    std::array<CudnnProposal, most> proposals{};
    int count = 0;
    if (propose(most, &count, proposals.data()) != cudnnSuccess) {
      return false;
    }
    const auto end = proposals.begin() + count;
    const auto best = std::find_if(proposals.begin(), end, [&](const CudnnProposal& p) { return suits(p); });
    if (best == end) {
      return false;
    }
    algorithm_ = best->algorithm;
    // The default would allow tf32 for f32.
    const CudnnMath math = descriptors_.tensorCores() ? best->math : CudnnMath::Fma;
    return library_.setMath(descriptors_.convolution, math) == cudnnSuccess;
  }

  bool suits(const CudnnProposal& proposal) const {
    constexpr size_t mostWorkspace = size_t{256} << 20;
    return proposal.status == cudnnSuccess && proposal.deterministic == 1 &&
           proposal.workspaceBytes <= mostWorkspace && isDirect(proposal.algorithm) &&
           proposal.math != CudnnMath::TensorOpWithConversion &&
           (descriptors_.tensorCores() || proposal.math != CudnnMath::TensorOp);
  }

  // Implicit or explicit products of matrices, and direct convolution, by cuDNN's numbers. The error of
  // Fourier and Winograd transforms grows with the largest element of an image, not with that of a window.
  bool isDirect(int algorithm) const { return algorithm <= (pass_ == ConvolutionPass::Forward ? 3 : 1); }

  int propose(int most, int* count, CudnnProposal* proposals) const {
    const Descriptors& d = descriptors_;
    switch (pass_) {
    case ConvolutionPass::Forward:
      return library_.proposeForward(device_.context, d.image, d.filter, d.convolution, d.result, most, count,
                                     proposals);
    case ConvolutionPass::InputGradient:
      return library_.proposeData(device_.context, d.filter, d.result, d.convolution, d.image, most, count,
                                  proposals);
    case ConvolutionPass::FilterGradient:
      return library_.proposeFilter(device_.context, d.image, d.result, d.convolution, d.filter, most, count,
                                    proposals);
    }
    DFC_UNREACHABLE("pass of a convolution");
  }

  int askWorkspace() {
    const Descriptors& d = descriptors_;
    switch (pass_) {
    case ConvolutionPass::Forward:
      return library_.forwardWorkspace(device_.context, d.image, d.filter, d.convolution, d.result,
                                       algorithm_, &workspaceBytes_);
    case ConvolutionPass::InputGradient:
      return library_.dataWorkspace(device_.context, d.filter, d.result, d.convolution, d.image, algorithm_,
                                    &workspaceBytes_);
    case ConvolutionPass::FilterGradient:
      return library_.filterWorkspace(device_.context, d.image, d.result, d.convolution, d.filter, algorithm_,
                                      &workspaceBytes_);
    }
    DFC_UNREACHABLE("pass of a convolution");
  }

  int convolve(llvm::ArrayRef<std::byte*> pointers) const {
    const Descriptors& d = descriptors_;
    const std::byte *first = pointers[0], *second = pointers[1];
    std::byte *result = pointers[2], *workspace = pointers[3];
    switch (pass_) {
    case ConvolutionPass::Forward:
      return library_.forward(device_.context, factor(1), d.image, first, d.filter, second, d.convolution,
                              algorithm_, workspace, workspaceBytes_, factor(0), d.result, result);
    case ConvolutionPass::InputGradient:
      return library_.backwardData(device_.context, factor(1), d.filter, first, d.result, second,
                                   d.convolution, algorithm_, workspace, workspaceBytes_, factor(0), d.image,
                                   result);
    case ConvolutionPass::FilterGradient:
      return library_.backwardFilter(device_.context, factor(1), d.image, first, d.result, second,
                                     d.convolution, algorithm_, workspace, workspaceBytes_, factor(0),
                                     d.filter, result);
    }
    DFC_UNREACHABLE("pass of a convolution");
  }

  // 0 or 1 in the type that cuDNN scales with.
  const void* factor(size_t value) const {
    static constexpr float floats[2] = {0, 1};
    static constexpr double doubles[2] = {0, 1};
    return wide_ ? static_cast<const void*>(&doubles[value]) : &floats[value];
  }

  const Cudnn& library_;
  CudnnDevice& device_;
  int ordinal_;
  ConvolutionPass pass_;
  bool wide_;
  Descriptors descriptors_;
  int algorithm_ = 0;
  size_t workspaceBytes_ = 0;
};

CudnnLaunch::CudnnLaunch(std::shared_ptr<const CudnnPlan> plan, llvm::ArrayRef<std::byte*> pointers,
                         std::byte* workspace)
    : plan_(std::move(plan)), pointers_(pointers.begin(), pointers.end()) {
  pointers_.push_back(workspace);
}
CudnnLaunch::~CudnnLaunch() = default;
void CudnnLaunch::enqueue(cudaStream_t stream) { plan_->run(pointers_, stream); }

class CudnnFound final : public LibraryConvolution {
 public:
  explicit CudnnFound(std::shared_ptr<const CudnnPlan> plan) : plan_(std::move(plan)) {}
  int64_t workspaceBytes() const override { return plan_->workspaceBytes(); }
  std::unique_ptr<StreamLaunch> launch(llvm::ArrayRef<std::byte*> pointers,
                                       std::byte* workspace) const override {
    return std::make_unique<CudnnLaunch>(plan_, pointers, workspace);
  }

 private:
  std::shared_ptr<const CudnnPlan> plan_;
};

} // namespace

std::unique_ptr<LibraryConvolution> findConvolution(const OpAttributes& attributes, OperandTypes operands,
                                                    int ordinal) {
  const std::optional<ConvolutionCall> call = convolutionCall(attributes, operands);
  DFC_ASSERT(call.has_value(), "a convolution of the launch plan");
  if (cudnn() == nullptr) {
    return nullptr;
  }
  auto plan = std::make_shared<CudnnPlan>(*cudnn(), *call, operands[0].element, ordinal);
  return plan->prepare() ? std::make_unique<CudnnFound>(std::move(plan)) : nullptr;
}

} // namespace dfc::cuda
