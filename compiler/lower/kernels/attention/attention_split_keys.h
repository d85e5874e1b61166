// Attention of few queries over many keys, as decoding has it: the keys of a head are split among blocks, so
// that all multiprocessors read them.
#pragma once

#include "compiler/lower/kernels/attention/attention.h"

namespace dfc::cuda {

/// How the keys are split among blocks and threads.
struct SplitKeys {
  int64_t chunk = 64;      ///< keys of a block
  int64_t splits = 1;      ///< blocks of a head of keys
  int64_t threads = 256;   ///< of a block
  int64_t pack = 1;        ///< elements of a load
  int64_t keyLanes = 1;    ///< threads that share a key
  int64_t valueLanes = 1;  ///< and a value
  int64_t joinThreads = 1; ///< of a block of the second launch

  /// None where tiles of queries serve better: more than 16 rows for a head of keys, few keys, or tiles that
  /// fill the GPU as they are.
  static std::optional<SplitKeys> of(const AttentionProblem& problem, const GpuShape& gpu);
};

/// Operands q, k, v [, mask]; results o, logSumExp, as of `attentionKernels`. Sums in f32.
GeneratedKernels splitKeysKernels(const AttentionProblem& problem, const SplitKeys& split);

/// Constant definitions that the kernel texts need: strides of the results, and strides of the operands.
std::string constantsOfRows(const AttentionProblem& problem);
std::string constantsOfKeys(const AttentionProblem& problem);

} // namespace dfc::cuda
