// The second launch of attention with split keys: each block rescales and adds the partial results of one
// row, in chunk order. A query row that every key is masked for gives zeros; a row whose unmasked scores are
// all -infinity gives NaN.
constexpr f32 logOf2 = 0.69314718055994530942f;

struct Shared {
  f32 weights[splits];
};

DFC_INLINE void join(const f32* parts, Element* o, f32* logSumExp, const Block& block, Shared& shared) {
  const int headOfAll = block.x / rows, r = block.x % rows;
  const int ofBatch = headOfAll / keyHeads, head = headOf(headOfAll % keyHeads, r), query = queryOf(r);
  parts += i64(block.x) * splits * partStride;
  f32 most = -infinity();
#pragma unroll 8
  for (int s = 0; s < splits; ++s) most = fmaxf(most, parts[s * partStride + partStride - 4]);
  const f32 from = most == -infinity() ? 0.0f : most;
  f32 total = 0.0f, sees = 0.0f;
#pragma unroll 8
  for (int s = 0; s < splits; ++s) {
    const f32* const state = parts + s * partStride + partStride - 4;
    const f32 weight = power2((state[0] - from) * scaleOfScores);
    total = fmaf(weight, state[1], total);
    sees += state[2];
    if (threadIdx.x == s % threads) shared.weights[s] = state[2] == 0.0f ? 0.0f : weight;
  }
  __syncthreads();
  const bool empty = total == 0.0f;
  const f32 share = empty ? (sees != 0.0f ? notANumber() : 0.0f) : 1.0f / total;
  for (int w = threadIdx.x; w < valueWidth; w += threads) {
    f32 sum = 0.0f;
#pragma unroll 8
    for (int s = 0; s < splits; ++s) {
      const f32 weight = shared.weights[s];
      if (weight != 0.0f) sum = fmaf(weight, parts[s * partStride + w], sum);
    }
    o[ofO::at(ofBatch, head, query) + w] = stored<Element>(sum * share);
  }
  if (threadIdx.x == 0) {
    logSumExp[ofStatistics::at(ofBatch, head, query)] =
        empty ? -infinity() : fmaf(most, scaleOfScores * logOf2, logf(total));
  }
}
