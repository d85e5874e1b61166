// PackedOperand: the filter of a convolution, or the right operand of a product, in the layouts that oneDNN
// computes with, kept from run to run. For an operand that steps do not change, such as a parameter in
// evaluation.
#pragma once

#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/thread_pool.h"

#include <memory>
#include <variant>
#include <vector>

namespace dfc {

class PackedOperand {
 public:
  /// A part of the operand. Pieces of one shape have one request.
  struct Piece {
    ShapedPrimitives::Shape shape;
    /// Of the primitive that reads the piece: with packedFilter, with packedForRows.
    std::variant<onednn::ConvolutionRequest, onednn::MatmulRequest> reader;
    int64_t from = 0; ///< where it begins in the plain operand, in bytes
  };
  /// Null where oneDNN takes one of the pieces as it is. `pool` outlives it.
  static std::unique_ptr<PackedOperand> make(std::vector<Piece> pieces, ThreadPool& pool);

  const std::byte* piece(size_t index) { return memory_.data() + offsets_[index]; }
  size_t bytes() const { return memory_.bytes(); }
  /// Packs all pieces of `operand`, unless they have been packed since the last call of `forget`.
  void pack(const std::byte* operand);
  void forget() { packed_ = false; }

 private:
  PackedOperand(std::vector<Piece> pieces, std::vector<size_t> offsets, size_t bytes, ThreadPool& pool);

  std::vector<Piece> pieces_;
  std::vector<size_t> offsets_; // of the packed pieces, in bytes
  AlignedBuffer memory_;
  ThreadPool& pool_;
  uint32_t threads_;
  ShapedPrimitives packers_;
  bool packed_ = false;
};

} // namespace dfc
