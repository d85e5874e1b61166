// Waits for words and writes of words that a stream carries out by itself, without a kernel ("stream memory
// operations" of the driver): they need no multiprocessor, so that a GPU full of work neither delays them nor
// loses room to them.
//
// What is waited for and written depends on the round. In a captured graph such operations are nodes with
// numbers inside, which are set anew before each launch; that costs the host about a microsecond a node.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <llvm/ADT/ArrayRef.h>

#include <cstdint>

namespace dfc::cuda {

/// Waits until `*word >= perRound * round + offset`, or writes that.
struct WordOperation {
  enum class Kind : uint8_t { Wait, Write };
  Kind kind;
  uint64_t* word; ///< in pinned memory
  uint64_t perRound, offset;
};

class StreamMemory {
 public:
  /// Looks for the driver's functions. Throws MachineError when the driver refuses to be asked.
  StreamMemory();

  /// Whether this driver and GPU can do 64-bit operations.
  bool serves(int ordinal) const;
  /// In this order. Writes come after all that the stream did before is visible to the host. The stream's GPU
  /// must be the current one.
  void enqueue(cudaStream_t stream, llvm::ArrayRef<WordOperation> operations, uint64_t round) const;
  /// Sets the numbers of a node that `enqueue` of the same operations left in a graph of that GPU.
  void update(cudaGraphExec_t exec, cudaGraphNode_t node, llvm::ArrayRef<WordOperation> operations,
              uint64_t round) const;

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
