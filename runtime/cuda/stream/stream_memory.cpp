#include "runtime/cuda/stream/stream_memory.h"

#include "runtime/cuda/check.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>

namespace dfc::cuda {
namespace {

constexpr unsigned since = 12000; // the driver's version of the functions' interfaces

/// Null where the driver has no function of this name.
template <class Function>
void find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t code = cudaGetDriverEntryPointByVersion(name, &found, since, cudaEnableDefault, &result);
  ignore(cudaGetLastError());
  if (code == cudaSuccess && result == cudaDriverEntryPointSuccess) {
    function = reinterpret_cast<Function>(found);
  }
}

void checkDriver(CUresult code, const char* doing) {
  if (code != CUDA_SUCCESS) {
    throw MachineError(fmt::format("{}: the driver answered {}", doing, static_cast<int>(code)));
  }
}

CUstreamBatchMemOpParams paramsOf(const WordOperation& operation, uint64_t step) {
  CUstreamBatchMemOpParams params{};
  const auto address = reinterpret_cast<CUdeviceptr>(operation.word);
  const uint64_t value = operation.perStep * step + operation.offset;
  switch (operation.kind) {
  case WordOperation::Kind::Wait:
    params.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    params.waitValue.address = address;
    params.waitValue.value64 = value;
    params.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    break;
  case WordOperation::Kind::Write:
    params.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    params.writeValue.address = address;
    params.writeValue.value64 = value;
    params.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT; // with a barrier before it
    break;
  }
  return params;
}

llvm::SmallVector<CUstreamBatchMemOpParams, 4> paramsOf(llvm::ArrayRef<WordOperation> operations,
                                                        uint64_t step) {
  llvm::SmallVector<CUstreamBatchMemOpParams, 4> params;
  for (const WordOperation& operation : operations) {
    params.push_back(paramsOf(operation, step));
  }
  return params;
}

} // namespace

StreamMemory::StreamMemory() {
  find("cuDeviceGetAttribute", getAttribute_);
  find("cuCtxGetCurrent", getContext_);
  find("cuStreamBatchMemOp", batchMemOp_);
  find("cuGraphExecBatchMemOpNodeSetParams", setParams_);
}

bool StreamMemory::serves(int ordinal) const {
  if (getAttribute_ == nullptr || getContext_ == nullptr || batchMemOp_ == nullptr || setParams_ == nullptr) {
    return false;
  }
  int able = 0;
  checkDriver(getAttribute_(&able, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, ordinal),
              "asking for stream memory operations");
  return able != 0;
}

void StreamMemory::enqueue(cudaStream_t stream, llvm::ArrayRef<WordOperation> operations,
                           uint64_t step) const {
  auto params = paramsOf(operations, step);
  checkDriver(batchMemOp_(stream, static_cast<unsigned>(params.size()), params.data(), 0),
              "waiting for the host or telling it");
}

void StreamMemory::update(cudaGraphExec_t exec, cudaGraphNode_t node,
                          llvm::ArrayRef<WordOperation> operations, uint64_t step) const {
  auto params = paramsOf(operations, step);
  CUDA_BATCH_MEM_OP_NODE_PARAMS nodeParams{};
  checkDriver(getContext_(&nodeParams.ctx), "finding a GPU's context");
  nodeParams.count = static_cast<unsigned>(params.size());
  nodeParams.paramArray = params.data();
  checkDriver(setParams_(exec, node, &nodeParams), "setting what a step waits for and tells");
}

} // namespace dfc::cuda
