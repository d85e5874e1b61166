// Parts of a convolution of f32 through oneDNN, one primitive for each shape of a part. A filter gradient
// that is cut along the batch is made in pieces, which are added in order.
#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/kernels/windows/convolution_plan.h"
#include "runtime/cpu/kernels/windows/onednn_windows.h"
#include "runtime/cpu/onednn_library.h"

#include <algorithm>

namespace dfc {
namespace {

using onednn::ConvolutionRequest;
constexpr int64_t width = sizeof(float);

ConvolutionRequest::Pass requested(ConvolutionPass pass) {
  switch (pass) {
  case ConvolutionPass::Forward: return ConvolutionRequest::Pass::Forward;
  case ConvolutionPass::InputGradient: return ConvolutionRequest::Pass::InputGradient;
  case ConvolutionPass::FilterGradient: return ConvolutionRequest::Pass::FilterGradient;
  }
  return {};
}

// Where a part's three tensors begin, in elements.
struct Offsets {
  int64_t image = 0, filter = 0, result = 0;
};

class Cut {
 public:
  Cut(ConvolutionPass pass, const Convolution& conv) : pass_(pass), conv_(conv) {}

  ConvolutionRequest request(const ConvolutionPart& part) const {
    ConvolutionRequest request;
    request.pass = requested(pass_);
    request.batch = part.images;
    request.groups = conv_.groups > 1 ? part.channels : 1;
    request.channels = madeOfChannels() ? part.channels : conv_.groupChannels();
    request.filters = madeOfFilters() ? part.channels : conv_.groupFilters();
    setWindows(request, conv_.windows);
    request.imageStride = conv_.image[1] * conv_.imagePixels();
    request.resultStride = conv_.filter[0] * conv_.pixels();
    request.filterStride = conv_.terms();
    return request;
  }

  Offsets offsets(const ConvolutionPart& part) const {
    const int64_t group = conv_.groups > 1 ? part.first : 0;
    const int64_t channel = group * conv_.groupChannels() + (madeOfChannels() ? part.first : 0);
    const int64_t filter = group * conv_.groupFilters() + (madeOfFilters() ? part.first : 0);
    return {(part.batch * conv_.image[1] + channel) * conv_.imagePixels(),
            filter * conv_.terms() + (madeOfChannels() ? part.first : 0) * conv_.windows.size(),
            (part.batch * conv_.filter[0] + filter) * conv_.pixels()};
  }

 private:
  bool madeOfChannels() const { return conv_.groups == 1 && pass_ == ConvolutionPass::InputGradient; }
  bool madeOfFilters() const { return conv_.groups == 1 && pass_ != ConvolutionPass::InputGradient; }

  ConvolutionPass pass_;
  const Convolution& conv_;
};

class OnednnConvolution final : public CpuKernel {
 public:
  OnednnConvolution(ConvolutionPass pass, const Convolution& conv, ThreadPool& pool)
      : pool_(pool), pass_(pass), conv_(conv), cut_(pass, conv_), plan_(pass, conv),
        threads_(partCount(pool, plan_.parts(), conv.flops() / 50)) {
    if (addsPieces()) {
      pieces_ = std::make_unique<AlignedBuffer>(
          static_cast<size_t>(plan_.batchParts() * conv.filter.elements()) * sizeof(float));
    }
  }

  /// False where oneDNN has nothing for a part.
  bool prepare() {
    for (int64_t index = 0; index < plan_.parts(); ++index) {
      const ConvolutionPart part = plan_.part(index);
      if (!primitives_.add({part.images, part.channels},
                           [&] { return onednnModule().make(cut_.request(part), threads_); })) {
        return false;
      }
    }
    return true;
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(threads_, [&](uint32_t thread) {
      const TaskRange range = tasksOfPart(plan_.parts(), threads_, thread);
      for (int64_t index = range.begin; index < range.end; ++index) {
        runPart(thread, index, operands, results[0]);
      }
    });
    if (addsPieces()) {
      addPieces(reinterpret_cast<float*>(results[0]));
    }
  }

 private:
  bool addsPieces() const { return pass_ == ConvolutionPass::FilterGradient && plan_.batchParts() > 1; }

  void runPart(uint32_t thread, int64_t index, llvm::ArrayRef<const std::byte*> operands, std::byte* result) {
    const ConvolutionPart part = plan_.part(index);
    const Offsets at = cut_.offsets(part);
    const std::byte* inputs[2] = {operands[0], operands[1]};
    switch (pass_) {
    case ConvolutionPass::Forward:
      inputs[0] += at.image * width;
      inputs[1] += at.filter * width;
      result += at.result * width;
      break;
    case ConvolutionPass::InputGradient:
      inputs[0] += at.filter * width;
      inputs[1] += at.result * width;
      result += at.image * width;
      break;
    case ConvolutionPass::FilterGradient:
      inputs[0] += at.image * width;
      inputs[1] += at.result * width;
      result = (addsPieces() ? piece(index / plan_.channelParts()) : result) + at.filter * width;
      break;
    }
    primitives_.run({part.images, part.channels}, thread, inputs, result,
                    threadScratch(primitives_.scratchBytes()), "convolution");
  }

  std::byte* piece(int64_t index) {
    return pieces_->data() + index * conv_.filter.elements() * static_cast<int64_t>(sizeof(float));
  }

  void addPieces(float* result) {
    const int64_t elements = conv_.filter.elements();
    const uint32_t parts = partCount(pool_, elements, static_cast<double>(elements * plan_.batchParts()) / 2);
    pool_.run(parts, [&](uint32_t part) {
      const TaskRange range = tasksOfPart(elements, parts, part);
      std::copy_n(reinterpret_cast<const float*>(piece(0)) + range.begin, range.end - range.begin,
                  result + range.begin);
      for (int64_t index = 1; index < plan_.batchParts(); ++index) {
        const auto* added = reinterpret_cast<const float*>(piece(index));
        for (int64_t i = range.begin; i < range.end; ++i) {
          result[i] += added[i];
        }
      }
    });
  }

  ThreadPool& pool_;
  ConvolutionPass pass_;
  Convolution conv_;
  Cut cut_; // refers to conv_
  ConvolutionPlan plan_;
  uint32_t threads_;
  ShapedPrimitives primitives_;
  std::unique_ptr<AlignedBuffer> pieces_; // partial sums, one for each part of the batch
};

} // namespace

std::unique_ptr<CpuKernel> makeOnednnConvolution(ConvolutionPass pass, const Convolution& conv,
                                                 ThreadPool& pool) {
  auto kernel = std::make_unique<OnednnConvolution>(pass, conv, pool);
  return kernel->prepare() ? std::move(kernel) : nullptr;
}

} // namespace dfc
