// The interface of libdfc_onednn.so: plain requests and the one function that it exports. No type of oneDNN
// appears, so that one runtime serves both major versions and loads oneDNN only when it is needed.
//
// Every primitive runs on the calling thread alone: the module sets OpenMP's thread count to one for that
// thread before it makes or runs a primitive, so that a result cannot depend on the number of threads.
// Kernels deal out primitives to the threads of their pool.
#pragma once

#include "ir/graph/tensor_type.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <variant>

namespace dfc::onednn {

/// c[rows, columns] = a[rows, inner] b[inner, columns], where a and b may lie transposed; c is row-major with
/// `cStride` elements from row to row, and so is the stored form of a and b.
struct MatmulRequest {
  ElementType type = ElementType::F32; ///< of all three; f32 or bf16, which accumulates in f32
  int64_t rows = 0, columns = 0, inner = 0;
  int64_t aStride = 0, bStride = 0, cStride = 0;
  bool transposeA = false, transposeB = false;
  /// Where not 0, b is packed by a PackRequest for products of so many rows; bStride and transposeB then
  /// describe b before packing.
  int64_t packedForRows = 0;
};

/// Packs b of `product`, a request with packedForRows, from its plain layout.
struct PackRequest {
  MatmulRequest product;
};

/// A part of a convolution of f32 or of one of its gradients, as ir/graph/rules/convolution.h says them:
/// `batch` images of `groups` groups of `channels` channels each, and as many groups of `filters` filters.
/// Planes, and the channels of a filter, are dense; strides, in elements, go from image to image, from result
/// to result and from filter to filter.
struct ConvolutionRequest {
  enum class Pass : uint8_t {
    Forward,       ///< image, filter -> result
    InputGradient, ///< filter, result -> image
    FilterGradient ///< image, result -> filter
  };
  Pass pass = Pass::Forward;
  int64_t batch = 0, groups = 1, channels = 0, filters = 0;
  std::array<int64_t, 2> image{}, result{}, window{}, stride{}, low{}, dilation{};
  int64_t imageStride = 0, resultStride = 0, filterStride = 0;
  /// Whether image and result are dense and have their channels last; not of FilterGradient. oneDNN then
  /// computes Forward with kernels of small matrix products (brgemm), or not at all, unless it may reorder
  /// them as it likes.
  bool channelsLast = false, reorders = false;
  bool filterLast = false; ///< whether the filter has its channels last, too
  /// Whether the filter comes packed by a PackFilterRequest for this very request; not of FilterGradient.
  bool packedFilter = false;
  /// Whether only kernels that oneDNN generates for the shape will do: nothing is made where it has plain
  /// loops, or a matrix of all windows (im2col) and products of it.
  bool generatedOnly = false;
};

/// Packs the filter of `convolution`, a request with packedFilter, from its plain layout.
struct PackFilterRequest {
  ConvolutionRequest convolution;
};

/// softmax of each of `rows` rows of f32 that lie one after the other.
struct SoftmaxRequest {
  int64_t rows = 0, length = 0;
};

/// Each of `rows` rows of f32, one after the other, brought to a mean of 0 and a variance of 1 but for
/// `epsilon`, times `scale`, and plus a bias if `biased`: rows, scale [length], bias [length] -> rows.
struct LayerNormRequest {
  int64_t rows = 0, length = 0;
  float epsilon = 0;
  bool biased = false;
};

/// Windows over `planes` dense planes of f32, one after the other, as ir/graph/rules/windows.h says them; or
/// the gradient of that. Of equals the first is the largest.
struct PoolRequest {
  enum class Kind : uint8_t { Largest, Mean, MeanWithPadding };
  enum class Pass : uint8_t {
    Forward, ///< image -> result
    Gradient ///< image (for Largest only), cotangents -> gradient of the image
  };
  Kind kind = Kind::Largest;
  Pass pass = Pass::Forward;
  int64_t planes = 0;
  std::array<int64_t, 2> image{}, result{}, window{}, stride{}, low{}, dilation{};
};

/// A matrix of elements of `width` bytes (1 or 2) written transposed: element (row, column) lies at
/// row + column * fromStride and goes to row * toStride + column.
struct TransposeRequest {
  int64_t width = 0, rows = 0, columns = 0, fromStride = 0, toStride = 0;
};

/// A primitive ready to run. Different slots may run at the same time, each on its own thread.
class Primitive {
 public:
  virtual ~Primitive() = default;
  virtual size_t scratchBytes() const = 0;
  /// `buffers`: the operands, then the result. `scratch`: scratchBytes(), aligned to 64. False when oneDNN
  /// fails.
  virtual bool run(uint32_t slot, const std::byte* const* operands, std::byte* result,
                   std::byte* scratch) noexcept = 0;
};

using Request = std::variant<MatmulRequest, PackRequest, ConvolutionRequest, PackFilterRequest,
                             SoftmaxRequest, LayerNormRequest, PoolRequest, TransposeRequest>;

class Module {
 public:
  virtual ~Module() = default;
  virtual std::string version() const = 0;
  /// Of the packed b of a request for one; 0 where oneDNN has no layout of its own for it.
  virtual size_t packedBytes(const MatmulRequest& request) = 0;
  /// Of the packed filter of a request for one; 0 where oneDNN takes it as it is, or not at all.
  virtual size_t packedBytes(const ConvolutionRequest& request) = 0;
  /// A text for the layout of that packed filter, the same for the same layout; "" where that gives 0.
  virtual std::string packedLayout(const ConvolutionRequest& request) = 0;
  /// Null where oneDNN has no implementation for this processor or, but for matmul, no more than plain loops.
  virtual std::unique_ptr<Primitive> make(const Request& request, uint32_t slots) = 0;
};

/// The symbol that the module exports: `extern "C" dfc::onednn::Module* dfcOnednnModule()`, never null.
inline constexpr const char* moduleSymbol = "dfcOnednnModule";
using ModuleFunction = Module* (*)();

} // namespace dfc::onednn
