// How attention is divided among blocks and threads: a choice of speed alone, by the problem and the GPU's
// data.
#pragma once

#include "compiler/lower/kernels/attention/attention.h"

#include <vector>

namespace dfc::cuda {

enum class AttentionPass : uint8_t { Forward, QueryGradient, KeyGradient };

struct AttentionTile {
  int64_t warps = 4;     ///< of a block
  int64_t rowTiles = 1;  ///< of 16 rows a warp; without tensor cores: rows a thread
  int64_t columns = 64;  ///< that a block walks at once
  int64_t chunk = 64;    ///< of them that are computed at once; forward: all
  int64_t stages = 2;    ///< tiles in shared memory: 2 where the next is copied meanwhile
  int64_t kept = 0;      ///< factors whose rows stay in registers; forward: 0 or 1, gradient: 0 to 2
  int64_t parts = 1;     ///< blocks that share the columns of results of the gradient
  int64_t minBlocks = 1; ///< that a multiprocessor must have registers for

  int64_t rows(const AttentionProblem& problem) const;
  int64_t blocks(const AttentionProblem& problem, AttentionPass pass) const;
  int64_t sharedBytes(const AttentionProblem& problem, AttentionPass pass) const;
};

/// Whether products run on tensor cores.
bool onTensorCores(const AttentionProblem& problem);
/// Elements to whole multiples of which rows are padded in shared memory.
int64_t widthStep(const AttentionProblem& problem, const AttentionTile& tile);

/// The tiles that were found worth trying for these types and widths, the fastest for many rows first. All
/// fit the registers; the last fit the shared memory of any GPU.
std::vector<AttentionTile> attentionTiles(const AttentionProblem& problem, AttentionPass pass);
/// The one of them that suits the GPU.
AttentionTile attentionTile(const AttentionProblem& problem, AttentionPass pass, const GpuShape& gpu);

/// The launch of a pass in such tiles.
GeneratedLaunch attentionLaunch(const AttentionProblem& problem, AttentionPass pass,
                                const AttentionTile& tile);

} // namespace dfc::cuda
