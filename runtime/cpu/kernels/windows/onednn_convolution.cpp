// Parts of a convolution of f32 through oneDNN, one primitive for each shape of a part. A filter gradient
// that is cut along the batch is made in pieces, which are added in order. A held filter stays packed. Where
// oneDNN has kernels of small matrix products, a part brings its images with their channels last.
#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/movement/transpose_words.h"
#include "runtime/cpu/kernels/packed_operand.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/kernels/windows/convolution_plan.h"
#include "runtime/cpu/kernels/windows/onednn_windows.h"
#include "runtime/cpu/onednn_library.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

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
  OnednnConvolution(ConvolutionPass pass, const Convolution& conv, ThreadPool& pool, OnednnKernels kernels)
      : pool_(pool), pass_(pass), kernels_(kernels), conv_(conv), cut_(pass, conv_), plan_(pass, conv),
        threads_(partCount(pool, plan_.parts(), conv.flops() / 50)) {
    if (addsPieces()) {
      pieces_ = std::make_unique<AlignedBuffer>(
          static_cast<size_t>(plan_.batchParts() * conv.filter.elements()) * sizeof(float));
    }
  }

  /// False where oneDNN has nothing for a part.
  bool prepare() {
    constexpr int64_t fewestChannels = 32; // with fewer, blocked layouts are quicker
    channelsLast_ = pass_ == ConvolutionPass::Forward && conv_.groups == 1 &&
                    plan_.part(0).channels >= fewestChannels && makePrimitives(primitives_, true, false);
    return channelsLast_ || makePrimitives(primitives_, false, false);
  }

  bool hold(llvm::ArrayRef<Held> operands) override {
    if (pass_ == ConvolutionPass::FilterGradient || operands[filterOperand()] != Held::Yes) {
      return false;
    }
    std::vector<PackedOperand::Piece> pieces; // all parts of the batch but a smaller last one share theirs
    std::map<std::pair<int64_t, int64_t>, size_t> numbers;
    for (int64_t index = 0; index < plan_.parts(); ++index) {
      const ConvolutionPart part = plan_.part(index);
      const auto [known, isNew] = numbers.try_emplace({part.images, part.first}, pieces.size());
      pieceOfPart_.push_back(known->second);
      if (isNew) {
        pieces.push_back(
            {shapeOf(part), requestOf(part, channelsLast_, true), cut_.offsets(part).filter * width});
      }
    }
    std::unique_ptr<PackedOperand> packed = PackedOperand::make(std::move(pieces), pool_);
    ShapedPrimitives primitives;
    if (packed == nullptr || !makePrimitives(primitives, channelsLast_, true)) {
      return false;
    }
    primitives_ = std::move(primitives);
    filters_ = std::move(packed);
    return true;
  }

  void heldChanged() override { filters_->forget(); }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (filters_ != nullptr) {
      filters_->pack(operands[filterOperand()]);
    }
    pool_.run(threads_, [&](uint32_t thread) {
      const TaskRange range = tasksOfPart(plan_.parts(), threads_, thread);
      std::byte* const scratch = channelsLast_ ? threadScratch(bytesWithChannelsLast()) : nullptr;
      int64_t brought = -1; // the part of the batch whose images lie in the scratch
      for (int64_t index = range.begin; index < range.end; ++index) {
        if (channelsLast_) {
          const int64_t batch = index / plan_.channelParts();
          runPartWithChannelsLast(thread, index, operands, results[0],
                                  {scratch, std::exchange(brought, batch) != batch});
        } else {
          runPart(thread, index, operands, results[0]);
        }
      }
    });
    if (addsPieces()) {
      addPieces(reinterpret_cast<float*>(results[0]));
    }
  }

 private:
  using Shape = ShapedPrimitives::Shape;

  static Shape shapeOf(const ConvolutionPart& part) { return {part.images, part.channels}; }

  ConvolutionRequest requestOf(const ConvolutionPart& part, bool channelsLast, bool packedFilter) const {
    ConvolutionRequest request = cut_.request(part);
    request.channelsLast = channelsLast;
    request.packedFilter = packedFilter;
    request.generatedOnly = kernels_ == OnednnKernels::Generated;
    return request;
  }

  bool makePrimitives(ShapedPrimitives& primitives, bool channelsLast, bool packedFilter) const {
    primitives = ShapedPrimitives();
    for (int64_t index = 0; index < plan_.parts(); ++index) {
      const ConvolutionPart part = plan_.part(index);
      if (!primitives.add(shapeOf(part), [&] {
            return onednnModule().make(requestOf(part, channelsLast, packedFilter), threads_);
          })) {
        return false;
      }
    }
    return true;
  }

  /// Of a pass that reads the filter.
  size_t filterOperand() const { return pass_ == ConvolutionPass::Forward ? 1 : 0; }

  const std::byte* filterOf(const std::byte* plain, int64_t index, const Offsets& at) {
    return filters_ != nullptr ? filters_->piece(pieceOfPart_[static_cast<size_t>(index)])
                               : plain + at.filter * width;
  }

  bool addsPieces() const { return pass_ == ConvolutionPass::FilterGradient && plan_.batchParts() > 1; }

  void runPart(uint32_t thread, int64_t index, llvm::ArrayRef<const std::byte*> operands, std::byte* result) {
    const ConvolutionPart part = plan_.part(index);
    const Offsets at = cut_.offsets(part);
    const std::byte* inputs[2] = {operands[0], operands[1]};
    switch (pass_) {
    case ConvolutionPass::Forward:
      inputs[0] += at.image * width;
      inputs[1] = filterOf(inputs[1], index, at);
      result += at.result * width;
      break;
    case ConvolutionPass::InputGradient:
      inputs[0] = filterOf(inputs[0], index, at);
      inputs[1] += at.result * width;
      result += at.image * width;
      break;
    case ConvolutionPass::FilterGradient:
      inputs[0] += at.image * width;
      inputs[1] += at.result * width;
      result = (addsPieces() ? piece(index / plan_.channelParts()) : result) + at.filter * width;
      break;
    }
    primitives_.run(shapeOf(part), thread, inputs, result, threadScratch(primitives_.scratchBytes()),
                    "convolution");
  }

  // The scratch: that of oneDNN, images, results.
  size_t bytesWithChannelsLast() const { return primitives_.scratchBytes() + imageBytes() + resultBytes(); }
  size_t imageBytes() const { return bytesOf(plan_.part(0).images * conv_.image[1] * conv_.imagePixels()); }
  size_t resultBytes() const {
    return bytesOf(plan_.part(0).images * plan_.part(0).channels * conv_.pixels());
  }

  struct Scratch {
    std::byte* bytes = nullptr;
    bool bringImages = true; ///< whether the images of the part do not lie in it yet
  };

  void runPartWithChannelsLast(uint32_t thread, int64_t index, llvm::ArrayRef<const std::byte*> operands,
                               std::byte* result, const Scratch& scratch) {
    const ConvolutionPart part = plan_.part(index);
    const Offsets at = cut_.offsets(part);
    const int64_t channels = conv_.image[1], pixels = conv_.imagePixels(), madePixels = conv_.pixels();
    std::byte* const images = scratch.bytes + primitives_.scratchBytes();
    std::byte* const made = images + imageBytes();
    if (scratch.bringImages) {
      for (int64_t image = 0; image < part.images; ++image) {
        const int64_t from = image * channels * pixels;
        transposeWords(words(operands[0]) + at.image + from, words(images) + from,
                       {pixels, channels, pixels, channels});
      }
    }
    const std::byte* inputs[2] = {images, filterOf(operands[1], index, at)};
    primitives_.run(shapeOf(part), thread, inputs, made, scratch.bytes, "convolution");
    for (int64_t image = 0; image < part.images; ++image) {
      transposeWords(words(made) + image * part.channels * madePixels,
                     words(result) + at.result + image * conv_.filter[0] * madePixels,
                     {part.channels, madePixels, part.channels, madePixels});
    }
  }

  static size_t bytesOf(int64_t elements) { return static_cast<size_t>((elements * width + 63) / 64 * 64); }
  static const uint32_t* words(const std::byte* floats) { return reinterpret_cast<const uint32_t*>(floats); }
  static uint32_t* words(std::byte* floats) { return reinterpret_cast<uint32_t*>(floats); }

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
  OnednnKernels kernels_;
  Convolution conv_;
  Cut cut_; // refers to conv_
  ConvolutionPlan plan_;
  uint32_t threads_;
  bool channelsLast_ = false;
  ShapedPrimitives primitives_;
  std::unique_ptr<PackedOperand> filters_; // of a held filter
  std::vector<size_t> pieceOfPart_;        // in filters_
  std::unique_ptr<AlignedBuffer> pieces_;  // partial sums, one for each part of the batch
};

} // namespace

std::unique_ptr<CpuKernel> makeOnednnConvolution(ConvolutionPass pass, const Convolution& conv,
                                                 ThreadPool& pool, OnednnKernels kernels) {
  auto kernel = std::make_unique<OnednnConvolution>(pass, conv, pool, kernels);
  return kernel->prepare() ? std::move(kernel) : nullptr;
}

} // namespace dfc
