// Stream memory operations of the driver: a stream waits for a progress word or writes one without a kernel.
// They need no multiprocessor, so that a busy GPU does not delay them and they take nothing from its kernels.
//
// The values depend on the step. In a captured graph such operations are nodes that hold the values, which
// are set anew before each launch.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <llvm/ADT/ArrayRef.h>

#include <cstdint>

namespace dfc::cuda {

/// Waits until `*word >= perStep * step + offset`, or writes that.
struct WordOperation {
  enum class Kind : uint8_t { Wait, Write };
  Kind kind;
  uint64_t* word; ///< in pinned memory
  uint64_t perStep, offset;
};

class StreamMemory {
 public:
  /// Looks up the driver's functions. Throws MachineError.
  StreamMemory();

  /// Whether this driver and GPU can do 64-bit operations.
  bool serves(int ordinal) const;
  /// Enqueues the operations in this order. The host sees a write after all earlier effects of the stream.
  /// The stream's GPU must be the current one.
  void enqueue(cudaStream_t stream, llvm::ArrayRef<WordOperation> operations, uint64_t step) const;
  /// Sets the values of a graph node that `enqueue` of the same operations captured on that GPU.
  void update(cudaGraphExec_t exec, cudaGraphNode_t node, llvm::ArrayRef<WordOperation> operations,
              uint64_t step) const;

 private:
  using GetAttribute = CUresult (*)(int*, CUdevice_attribute, CUdevice);
  using GetContext = CUresult (*)(CUcontext*);
  using BatchMemOp = CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);
  using SetParams = CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS*);

  GetAttribute getAttribute_ = nullptr;
  GetContext getContext_ = nullptr;
  BatchMemOp batchMemOp_ = nullptr;
  SetParams setParams_ = nullptr;
};

} // namespace dfc::cuda
