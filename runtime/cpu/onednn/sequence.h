// Several oneDNN primitives that run in sequence as one: reorders of operands into the layouts that the main
// primitive wants, the main primitive, and a reorder of its result. Intermediate buffers are in the caller's
// scratch memory.
#pragma once

#include "runtime/cpu/onednn/primitive.h"

namespace dfc::onednn {

/// The memory of a primitive's argument.
struct Place {
  enum class In : uint8_t { Operand, Result, Scratch };
  In in = In::Operand;
  size_t at = 0; ///< number of the operand, or offset into the scratch
};

class SequenceMaker {
 public:
  explicit SequenceMaker(uint32_t slots) : slots_(slots) {}

  /// `from`, at `place`, in the layout `to`: in place, or in scratch after a reorder.
  Place brought(Place place, const dnnl::memory::desc& from, const dnnl::memory::desc& to);
  /// A new buffer in scratch.
  Place scratch(const dnnl::memory::desc& layout);

  struct PlacedArgument {
    int index;
    dnnl::memory::desc layout;
    Place place;
  };
  void add(const dnnl::primitive& primitive, std::vector<PlacedArgument> arguments,
           const dnnl::memory::desc& scratch);
  /// Reorders `from` into `to`.
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
