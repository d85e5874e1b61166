#include "runtime/cpu/kernels/shaped_primitives.h"

#include "ir/base/assert.h"
#include "runtime/errors.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {

onednn::Primitive* ShapedPrimitives::find(Shape shape) const {
  const auto found = std::find_if(shaped_.begin(), shaped_.end(),
                                  [&](const Shaped& shaped) { return shaped.shape == shape; });
  return found == shaped_.end() ? nullptr : found->primitive.get();
}

bool ShapedPrimitives::add(Shape shape, llvm::function_ref<std::unique_ptr<onednn::Primitive>()> make) {
  if (find(shape) != nullptr) {
    return true;
  }
  auto primitive = make();
  if (primitive == nullptr) {
    return false;
  }
  scratchBytes_ = std::max(scratchBytes_, (primitive->scratchBytes() + 63) / 64 * 64);
  shaped_.push_back({shape, std::move(primitive)});
  return true;
}

void ShapedPrimitives::run(Shape shape, uint32_t slot, const std::byte* const* operands, std::byte* result,
                           std::byte* scratch, const char* what) const {
  onednn::Primitive* const primitive = find(shape);
  DFC_ASSERT(primitive != nullptr, "a shape that was not added");
#ifdef DFC_DEBUG_CHECKS
  std::fill_n(scratch, primitive->scratchBytes(),
              std::byte{0xFF}); // NaN: a read of uninitialised scratch shows in the result
#endif
  if (!primitive->run(slot, operands, result, scratch)) {
    throw MachineError(
        fmt::format("oneDNN failed in a {}; its own log (ONEDNN_VERBOSE=1) may say why", what));
  }
}

} // namespace dfc
