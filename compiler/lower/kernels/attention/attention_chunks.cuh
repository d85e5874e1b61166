// Shared by the two launches of attention with split keys: the numbering of rows (all queries of all query
// heads that use one key head), and the layout of the partial result of a row and a chunk of keys.
constexpr bool scalesFirst = !(scale > 0.0); // as in attention_scores.cuh
constexpr f32 scaleOfScores = scalesFirst ? 1.0f : f32(scale * 1.44269504088896340736);
constexpr int group = heads / keyHeads, rows = group * queries;
// Elements of a partial result: the weighted sum of values, then the maximum score, the sum of exponentials,
// and 1 if the chunk has an unmasked key for the row.
constexpr int partStride = (valueWidth + 3) / 4 * 4 + 4;

#ifndef DFC_ON_HOST
DFC_INLINE f32 power2(f32 a) {
  f32 power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(a));
  return power;
}
#endif
DFC_INLINE f32 infinity() { return __int_as_float(0x7f800000); }
DFC_INLINE f32 notANumber() { return __int_as_float(0x7fffffff); }
DFC_INLINE constexpr int stepsOf(int a, int b) { return (a + b - 1) / b; }

// Row r of a head of keys: its query head and its query.
DFC_INLINE int headOf(int keyHead, int r) { return keyHead * group + r / queries; }
DFC_INLINE int queryOf(int r) { return r % queries; }
