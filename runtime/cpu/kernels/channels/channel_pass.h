// ChannelPass: one elementwise pass over tensors [outer, channels, inner] with a few numbers for each
// channel, by the engine of fused bodies; and the vectors [channels] of operands and results as doubles.
#pragma once

#include "ir/graph/rules/batch_norm_rules.h"
#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/kernel.h"

#include <vector>

namespace dfc {

class ChannelPass {
 public:
  /// `body`: a fused body over registers %0, …: the tensors in their compute type, then the vectors; "@"
  /// stands for that type. Tensors and result have the type of `a`.
  ChannelPass(std::string_view body, size_t tensors, size_t vectors, const TensorType& a, int64_t axis,
              ThreadPool& pool);
  /// Sets vector number `index`, rounded to the compute type.
  void set(size_t index, const std::vector<double>& numbers);
  void run(llvm::ArrayRef<const std::byte*> tensors, std::byte* result);

 private:
  ElementType computeType_;
  std::unique_ptr<CpuKernel> kernel_;
  std::vector<AlignedBuffer> vectors_;
};

void readVector(ElementType type, const std::byte* from, std::vector<double>& numbers);
/// Rounds once.
void writeVector(ElementType type, const std::vector<double>& numbers, std::byte* to);

} // namespace dfc
