// ShapedPrimitives: the oneDNN primitives of a kernel that computes piece by piece, one for each shape of a
// piece. Most pieces have one shape; the last ones along an axis may be smaller.
#pragma once

#include "runtime/cpu/onednn/api.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <utility>
#include <vector>

namespace dfc {

class ShapedPrimitives {
 public:
  using Shape = std::pair<int64_t, int64_t>;

  ShapedPrimitives() = default;
  ShapedPrimitives(ShapedPrimitives&&) noexcept = default; // and no copies
  ShapedPrimitives& operator=(ShapedPrimitives&&) noexcept = default;

  /// Keeps what `make` gives for pieces of this shape, unless there is one. False where oneDNN has none.
  bool add(Shape shape, llvm::function_ref<std::unique_ptr<onednn::Primitive>()> make);
  /// Of one caller; a multiple of 64, which aligns the scratch behind it.
  size_t scratchBytes() const { return scratchBytes_; }
  /// For a shape that was added. `scratch`: aligned to 64. Callers that run at the same time have slots of
  /// their own. Throws MachineError, with `what` for the kernel's name, when oneDNN fails.
  void run(Shape shape, uint32_t slot, const std::byte* const* operands, std::byte* result,
           std::byte* scratch, const char* what) const;

 private:
  struct Shaped {
    Shape shape;
    std::unique_ptr<onednn::Primitive> primitive;
  };
  onednn::Primitive* find(Shape shape) const;

  std::vector<Shaped> shaped_;
  size_t scratchBytes_ = 0;
};

} // namespace dfc
