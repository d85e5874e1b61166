// cuDNN, where this machine has it: opened at run time, so that neither building nor running dfc needs it.
// The few entry points that convolutions use are declared here, as cuDNN 9 exports them; NVIDIA's cuDNN API
// reference documents their parameters. No name of cuDNN's own headers is used.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

namespace dfc::cuda {

/// cuDNN's opaque handles and its enumerations, of which these values are used.
struct CudnnContext;
struct CudnnTensor;
struct CudnnFilter;
struct CudnnConvolution;
enum class CudnnType : int { Float = 0, Double = 1, Half = 2, BFloat16 = 9 };
enum class CudnnMath : int { Default = 0, TensorOp = 1, TensorOpWithConversion = 2, Fma = 3 };
inline constexpr int cudnnSuccess = 0, cudnnNchw = 0, cudnnNhwc = 1, cudnnCrossCorrelation = 1;

/// What cuDNN's heuristics say of an algorithm; quickest first.
struct CudnnProposal {
  int algorithm;
  int status;
  float milliseconds;
  size_t workspaceBytes;
  int deterministic; ///< 1: it is
  CudnnMath math;
  int reserved[3];
};

struct Cudnn {
  int (*create)(CudnnContext**);
  int (*setStream)(CudnnContext*, cudaStream_t);
  const char* (*errorString)(int);
  int (*createTensor)(CudnnTensor**);
  int (*destroyTensor)(CudnnTensor*);
  int (*setTensor)(CudnnTensor*, int format, CudnnType, int n, int c, int h, int w);
  int (*createFilter)(CudnnFilter**);
  int (*destroyFilter)(CudnnFilter*);
  int (*setFilter)(CudnnFilter*, CudnnType, int format, int k, int c, int h, int w);
  int (*createConvolution)(CudnnConvolution**);
  int (*destroyConvolution)(CudnnConvolution*);
  int (*setConvolution)(CudnnConvolution*, int padRows, int padColumns, int strideRows, int strideColumns,
                        int dilationRows, int dilationColumns, int mode, CudnnType compute);
  int (*setGroups)(CudnnConvolution*, int);
  int (*setMath)(CudnnConvolution*, CudnnMath);
  int (*proposeForward)(CudnnContext*, CudnnTensor*, CudnnFilter*, CudnnConvolution*, CudnnTensor*, int most,
                        int* count, CudnnProposal*);
  int (*proposeData)(CudnnContext*, CudnnFilter*, CudnnTensor*, CudnnConvolution*, CudnnTensor*, int most,
                     int* count, CudnnProposal*);
  int (*proposeFilter)(CudnnContext*, CudnnTensor*, CudnnTensor*, CudnnConvolution*, CudnnFilter*, int most,
                       int* count, CudnnProposal*);
  int (*forwardWorkspace)(CudnnContext*, CudnnTensor*, CudnnFilter*, CudnnConvolution*, CudnnTensor*,
                          int algorithm, size_t*);
  int (*dataWorkspace)(CudnnContext*, CudnnFilter*, CudnnTensor*, CudnnConvolution*, CudnnTensor*,
                       int algorithm, size_t*);
  int (*filterWorkspace)(CudnnContext*, CudnnTensor*, CudnnTensor*, CudnnConvolution*, CudnnFilter*,
                         int algorithm, size_t*);
  int (*forward)(CudnnContext*, const void* alpha, CudnnTensor*, const void* x, CudnnFilter*, const void* w,
                 CudnnConvolution*, int algorithm, void* workspace, size_t, const void* beta, CudnnTensor*,
                 void* y);
  int (*backwardData)(CudnnContext*, const void* alpha, CudnnFilter*, const void* w, CudnnTensor*,
                      const void* dy, CudnnConvolution*, int algorithm, void* workspace, size_t,
                      const void* beta, CudnnTensor*, void* dx);
  int (*backwardFilter)(CudnnContext*, const void* alpha, CudnnTensor*, const void* x, CudnnTensor*,
                        const void* dy, CudnnConvolution*, int algorithm, void* workspace, size_t,
                        const void* beta, CudnnFilter*, void* dw);
};

/// Null where the machine has no cuDNN 9 with all of these. Opened once for the process.
const Cudnn* cudnn();

/// A GPU's one context, created on first use and never closed. The mutex guards its stream and every call
/// with it. Null where cuDNN could not create one.
struct CudnnDevice {
  CudnnContext* context = nullptr;
  std::mutex mutex;
};
CudnnDevice& cudnnDevice(int ordinal);

} // namespace dfc::cuda
