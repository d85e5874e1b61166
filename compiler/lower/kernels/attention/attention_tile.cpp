#include "compiler/lower/kernels/attention/attention_tile.h"

#include "compiler/lower/kernels/code.h"
#include "ir/base/assert.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

int64_t widestRow(const AttentionProblem& problem) { return std::max(problem.width, problem.valueWidth); }

// As in tile_memory.cuh.
int64_t sharedStride(const AttentionProblem& problem, const AttentionTile& tile, int64_t width) {
  const int64_t step = widthStep(problem, tile);
  return ceilDiv(width, step) * step * byteWidth(problem.element) + 16;
}

using AttentionTiles = std::vector<AttentionTile>;

// {warps, rowTiles, columns, chunk, stages, kept, parts, minBlocks}
AttentionTiles forwardTiles(const AttentionProblem& problem) {
  const int64_t width = widestRow(problem);
  if (!onTensorCores(problem)) {
    return width <= 64
               ? AttentionTiles{{8, 4, 64, 64, 1}, {8, 4, 32, 32, 1}, {4, 2, 32, 32, 1}, {2, 1, 32, 32, 1}}
           : width <= 128
               ? AttentionTiles{{8, 4, 32, 32, 1}, {4, 4, 32, 32, 1}, {4, 2, 32, 32, 1}, {2, 1, 32, 32, 1}}
               : AttentionTiles{{8, 2, 32, 32, 1}, {4, 2, 16, 16, 1}, {4, 1, 16, 16, 1}};
  }
  if (problem.tf32) {
    return width <= 64
               ? AttentionTiles{{4, 2, 32, 32, 2, 0, 1, 3}, {4, 1, 32, 32}, {2, 1, 32, 32}, {1, 1, 32, 32}}
           : width <= 128 ? AttentionTiles{{4, 1, 32, 32}, {2, 1, 32, 32}, {1, 1, 16, 16}}
                          : AttentionTiles{{4, 1, 16, 16}, {2, 1, 16, 16}, {1, 1, 16, 16}};
  }
  return width <= 64 ? AttentionTiles{{4, 2, 64, 64}, {4, 1, 64, 64}, {2, 1, 64, 64}, {1, 1, 64, 64}}
         : width <= 128
             ? AttentionTiles{{4, 2, 32, 32}, {4, 1, 64, 64}, {4, 1, 32, 32}, {2, 1, 32, 32}, {1, 1, 32, 32}}
             : AttentionTiles{{4, 1, 32, 32}, {2, 1, 16, 16}, {1, 1, 16, 16}};
}

// Of either gradient, without tensor cores.
AttentionTiles plainGradientTiles(int64_t width) {
  return width <= 64 ? AttentionTiles{{8, 4, 64, 64, 1}, {8, 2, 32, 32, 1}, {4, 1, 32, 32, 1}}
         : width <= 128
             ? AttentionTiles{{8, 4, 32, 32, 1}, {4, 4, 32, 32, 1}, {4, 2, 32, 32, 1}, {4, 1, 16, 16, 1}}
             : AttentionTiles{{8, 2, 16, 16, 1}, {4, 1, 16, 16, 1}};
}

AttentionTiles queryGradientTiles(const AttentionProblem& problem) {
  const int64_t width = widestRow(problem);
  if (!onTensorCores(problem)) {
    return plainGradientTiles(width);
  }
  if (problem.tf32) {
    return width <= 64 ? AttentionTiles{{4, 2, 32, 32, 2, 1}, {4, 1, 32, 32}, {2, 1, 32, 32}, {1, 1, 32, 32}}
           : width <= 128 ? AttentionTiles{{4, 1, 32, 32}, {2, 1, 32, 32}, {2, 1, 16, 16}, {1, 1, 16, 16}}
                          : AttentionTiles{{4, 1, 16, 16}, {2, 1, 16, 16, 1}, {1, 1, 16, 16, 1}};
  }
  return width <= 64    ? AttentionTiles{{4, 2, 64, 32, 2, 2}, {4, 1, 64, 64}, {2, 1, 64, 64}, {1, 1, 64, 64}}
         : width <= 128 ? AttentionTiles{{4, 1, 64, 32}, {4, 1, 32, 32}, {2, 1, 32, 32}, {1, 1, 32, 32}}
                        : AttentionTiles{{4, 1, 32, 32}, {2, 1, 16, 16}, {1, 1, 16, 16}};
}

AttentionTiles keyGradientTiles(const AttentionProblem& problem) {
  const int64_t width = widestRow(problem);
  if (!onTensorCores(problem)) {
    return plainGradientTiles(width);
  }
  if (problem.tf32) {
    return width <= 64 ? AttentionTiles{{4, 2, 32, 32}, {4, 1, 32, 32}, {2, 1, 32, 32}, {1, 1, 32, 32}}
           : width <= 128
               ? AttentionTiles{{4, 1, 32, 16}, {2, 1, 16, 16}, {1, 1, 16, 16}}
               : AttentionTiles{{4, 1, 16, 16, 2, 0, 2}, {2, 1, 16, 16, 1, 0, 2}, {1, 1, 16, 16, 1, 0, 2}};
  }
  return width <= 64 ? AttentionTiles{{4, 2, 64, 32}, {4, 1, 64, 32}, {2, 1, 64, 32}, {1, 1, 64, 32}}
         : width <= 128
             ? AttentionTiles{{4, 1, 64, 32}, {4, 1, 32, 32}, {2, 1, 32, 32}, {1, 1, 32, 32}}
             : AttentionTiles{{4, 1, 32, 16, 2, 0, 2}, {2, 1, 32, 16, 1, 0, 2}, {1, 1, 16, 16, 1, 0, 2}};
}

AttentionTiles tilesOfPass(const AttentionProblem& problem, AttentionPass pass) {
  switch (pass) {
  case AttentionPass::Forward: return forwardTiles(problem);
  case AttentionPass::QueryGradient: return queryGradientTiles(problem);
  case AttentionPass::KeyGradient: return keyGradientTiles(problem);
  }
  DFC_ASSERT(false, "no such pass");
}

} // namespace

bool onTensorCores(const AttentionProblem& problem) { return isHalf(problem.element) || problem.tf32; }

int64_t widthStep(const AttentionProblem& problem, const AttentionTile& tile) {
  const int64_t step = isHalf(problem.element) ? 16 : problem.tf32 ? 8 : 64;
  return step * tile.parts;
}

int64_t AttentionTile::rows(const AttentionProblem& problem) const {
  return warps * rowTiles * (onTensorCores(problem) ? 16 : 2);
}

int64_t AttentionTile::blocks(const AttentionProblem& problem, AttentionPass pass) const {
  const bool ofKeys = pass == AttentionPass::KeyGradient;
  return problem.batch * (ofKeys ? problem.keyHeads : problem.heads) * parts *
         ceilDiv(ofKeys ? problem.keys : problem.queries, rows(problem));
}

int64_t AttentionTile::sharedBytes(const AttentionProblem& problem, AttentionPass pass) const {
  const int64_t first = sharedStride(problem, *this, problem.width),
                second = sharedStride(problem, *this, problem.valueWidth);
  const int64_t kept = pass == AttentionPass::Forward ? std::max(first, second) : first + second;
  const int64_t numbers = pass == AttentionPass::KeyGradient ? 2 * ceilDiv(columns * 4, 16) * 16 : 0;
  const int64_t scratch = onTensorCores(problem) ? 0 : chunk * 4 + 16;
  return rows(problem) * (kept + scratch) + stages * (columns * (first + second) + numbers);
}

AttentionTiles attentionTiles(const AttentionProblem& problem, AttentionPass pass) {
  AttentionTiles tiles = tilesOfPass(problem, pass);
  if (problem.maskStrides && onTensorCores(problem)) { // whose addresses take registers, too
    llvm::erase_if(tiles, [](const AttentionTile& tile) { return tile.rowTiles > 1; });
  }
  return tiles;
}

// Of the tiles that fit, the first that gives every multiprocessor a block; else the one of most blocks.
AttentionTile attentionTile(const AttentionProblem& problem, AttentionPass pass, const GpuShape& gpu) {
  std::optional<AttentionTile> chosen;
  for (const AttentionTile& tile : attentionTiles(problem, pass)) {
    if (tile.sharedBytes(problem, pass) <= gpu.sharedBytesPerBlock &&
        (!chosen || tile.blocks(problem, pass) > chosen->blocks(problem, pass))) {
      chosen = tile;
      if (tile.blocks(problem, pass) >= gpu.multiprocessors) {
        break;
      }
    }
  }
  DFC_ASSERT(chosen, "no tile fits the GPU's shared memory");
  return *chosen;
}

} // namespace dfc::cuda
