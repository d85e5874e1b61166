// Several oneDNN primitives that run one after the other as one: those that bring operands into the layout
// that the main one likes best, that one, and what brings its result back. Between them lie buffers in the
// caller's scratch memory.
#pragma once

#include "runtime/cpu/onednn/primitive.h"

namespace dfc::onednn {

/// Where a primitive's argument lies.
struct Place {
  enum class In : uint8_t { Operand, Result, Scratch };
  In in = In::Operand;
  size_t at = 0; ///< number of the operand, or offset into the scratch
};

class SequenceMaker {
 public:
  explicit SequenceMaker(uint32_t slots) : slots_(slots) {}

  /// `from`, lying at `place`, in the layout `to`: where it already lies, or in scratch after a reorder.
  Place brought(Place place, const dnnl::memory::desc& from, const dnnl::memory::desc& to);
  /// Room in scratch.
  Place room(const dnnl::memory::desc& layout);

  struct PlacedArgument {
    int index;
    dnnl::memory::desc layout;
    Place place;
  };
  void add(const dnnl::primitive& primitive, std::vector<PlacedArgument> arguments,
           const dnnl::memory::desc& scratch);
  /// What `from` holds, into `to`.
  void reorder(Place from, const dnnl::memory::desc& fromLayout, Place to,
               const dnnl::memory::desc& toLayout);

  std::unique_ptr<Primitive> finish() &&;

  struct Step {
    dnnl::primitive primitive;
    std::vector<PlacedArgument> arguments;
  };

 private:
  uint32_t slots_;
  size_t scratchBytes_ = 0;
  std::vector<Step> steps_;
};

} // namespace dfc::onednn
