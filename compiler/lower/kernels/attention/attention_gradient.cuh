// The gradient of attention in tiles, by FlashAttention-2 (Dao, 2023), without atomic additions: the powers
// are made again, once by blocks that keep queries and walk keys (`ofQueries`), and once by blocks that keep
// keys and walk the queries of all heads of their group.
//
// With p = exp(score - logSumExp) and ds = p * (cotangent v^T - delta) * scale:
// dq = ds k; dk = ds^T q; dv = p^T cotangent. The scale is applied to the sums.
//
// A block keeps rows of two factors and walks columns in tiles, each in chunks of `chunk` columns that are
// computed together. Results wider than a thread's registers are made in `parts` by several blocks.
constexpr int count = perThread(chunk), chunks = columns / chunk;
constexpr int firstBytes = tileRows * strideOf(width), secondBytes = tileRows * strideOf(valueWidth);
constexpr int firstStageBytes = columns * strideOf(width);
constexpr int statisticsBytes = ofQueries ? 0 : ceilDiv(columns * 4, 16) * 16; // logSumExp, and delta
constexpr int statisticsAt = firstStageBytes + columns * strideOf(valueWidth);
constexpr int stageBytes = statisticsAt + 2 * statisticsBytes;
constexpr int ofStages = firstBytes + secondBytes, ofScratch = ofStages + stages * stageBytes;
constexpr int partOfWidth = paddedWidth(width) / parts, outputs = perThread(partOfWidth);
constexpr f32 log2OfE = 1.44269504088896340736f;

struct Shared {
  alignas(16) u8 at[ofScratch + scratchBytes(chunk)];
};

template <int outputs>
DFC_INLINE void multiplyAll(f32 (&sums)[rowsPerThread][outputs], f32 factor) {
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
    for (int w = 0; w < outputs; ++w) sums[r][w] *= factor;
  }
}

// Hidden powers are 0, whatever their score.
template <class Visible>
DFC_INLINE void hide(f32 (&powers)[rowsPerThread][count], const Visible& visible) {
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
    for (int c = 0; c < count; ++c) powers[r][c] = visible(rowOf(r), columnOf(c)) ? powers[r][c] : 0.0f;
  }
}
