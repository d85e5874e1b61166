// What the forward and the gradient kernels know of scores: which are visible, and powers of them.
// Scores become powers of 2 by one multiply-add. A scale that is not positive would turn maxima into minima
// and hidden scores into NaN: then scores are scaled first.
constexpr bool scalesFirst = !(scale > 0.0);
constexpr f32 scaleOfScores = scalesFirst ? 1.0f : f32(scale * 1.44269504088896340736);
constexpr int group = heads / keyHeads; // query heads of a key head

DFC_INLINE f32 infinity() { return __int_as_float(0x7f800000); }
DFC_INLINE f32 notANumber() { return __int_as_float(0x7fffffff); }

template <int count>
DFC_INLINE void scaled(f32 (&scores)[rowsPerThread][count]) {
  if constexpr (scalesFirst) {
#pragma unroll
    for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
      for (int c = 0; c < count; ++c) scores[r][c] *= f32(scale * 1.44269504088896340736);
    }
  }
}

// The mask of a query head.
struct Visibility {
  const u8* mask;
  DFC_INLINE bool operator()(int query, int key) const {
    bool sees = key < keys && (!causal || key <= startOfQueries + query);
    if constexpr (masked) {
      sees = sees && query < queries && mask[query * maskQuery + key * maskKey] != 0;
    }
    return sees;
  }
};
DFC_INLINE Visibility visibilityOf(const u8* mask, int batchIndex, int head) {
  return {masked ? mask + (batchIndex * maskBatch + head * maskHead) : mask};
}
