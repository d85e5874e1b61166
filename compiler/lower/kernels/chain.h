// Chain: what is computed for each element of a row-major walk, as CUDA text. Elementwise ops, fused bodies,
// movement and the loaders of reductions are all chains; they differ in what is done with the results.
//
// The text defines Index, Element (storage of a result), Operands (the pointers), Inputs<W> (W elements of
// each operand), `gather<W>(operands, i)` and `applied(inputs)`, a Pack<Element, W>.
#pragma once

#include "compiler/lower/kernels/access.h"
#include "compiler/lower/kernels/generated_kernel.h"
#include "ir/graph/op.h"

#include <functional>
#include <string>

namespace dfc::cuda {

struct Chain {
  /// A buffer that the chain reads.
  struct Source {
    std::string type;     ///< of storage, or of bits that only move
    int64_t bytes = 0;    ///< of an element
    bool streamed = true; ///< has elements enough to count when bandwidth is planned
    int64_t reach = 0;    ///< elements that indices may address
    /// The statements of `Pack<type, W> read(const type* from, Index i)` where W divides `width`.
    std::function<std::string(int64_t width, const IndexText& index)> reader;
    uint32_t operand = 0; ///< of the op
    bool flat = false;    ///< element i of the walk reads element i of it
    /// A later source of which `read` gets the pointer as well, as `beside`: indices. 0: none.
    size_t beside = 0;
    bool read = true; ///< false: only a pointer, for the source that it stands beside
  };

  int64_t count = 0;   ///< elements of the walk
  std::string element; ///< storage of what it gives
  int64_t elementBytes = 0;
  llvm::SmallVector<Source, 4> sources;
  /// Statements of `Element apply(<value of source 0> r0, …)`; empty: source 0 as it is.
  std::string body;
  bool kept = false; ///< there is a pointer more, behind the sources', to write what it gives to

  /// Elements of one access: the widest streamed storage fills a pack.
  int64_t fullWidth() const;
  size_t streamedSources() const;
  /// Index arithmetic that reaches every element of every source.
  IndexText index() const;
  /// The definitions above. `width` is the largest W that is used.
  std::string text(int64_t width) const;
  /// "const f32* p0, const f16* p1, Element* kept, " and "p0, p1, kept": of the kernel, and to make Operands
  /// of.
  std::string parameters() const;
  std::string pointers() const;
  llvm::SmallVector<Argument, 4> arguments() const;
};

Chain::Source sourceOf(const TensorType& type, const Access& access, uint32_t operand);
/// The same as bits that only move.
Chain::Source bitsOf(const TensorType& type, const Access& access, uint32_t operand);

/// A source that lends another its pointer and is not read itself.
Chain::Source pointerTo(const TensorType& type, uint32_t operand);

/// An elementwise op, or a fused op without its closing reduction, over the shape its operands broadcast to.
Chain elementwiseChain(const OpAttributes& attributes, OperandTypes operands, ElementType result);
/// The elements of one operand as they are.
Chain identityChain(const TensorType& operand);
/// The elements of `operand` that `access` walks, as bits that only move.
Chain movedChain(const TensorType& operand, const TensorType& result, const Access& access);
/// A constant of storage `type` in every element, no sources.
Chain constantChain(int64_t count, ElementType type, std::string value);
/// The bits of `value` in a tensor of `type`, as an integer's text.
std::string bitsText(ElementType type, double value);

} // namespace dfc::cuda
