// Attention of few queries: a block takes a chunk of the keys of one head of keys, for all its queries
// (Flash-Decoding: Dao, Haziza, Massa and Sizov, 2023). Each key and value is read once. The
// partial result of a block for a row is the maximum score, the sum of exponentials and the weighted sum of
// values; a second launch combines the partial results (attention_join_keys.cuh). Chunks of masked keys alone
// are not read.
constexpr bool hides = masked || causal;
constexpr int warps = threads / 32;

struct Shared {
  f32 scores[rows][chunk]; // then powers
  f32 sums[warps][valueWidth];
  int sees[rows];
};

// Elements of a row that a lane holds, `packs` packs of it.
template <int packs>
struct OfLane {
  f32 at[packs * pack];
  template <int extent>
  DFC_INLINE void load(const Element* row, int lane, int lanes, bool present) {
#pragma unroll
    for (int n = 0; n < packs; ++n) {
      const int first = (n * lanes + lane) * pack;
      if (present && first < extent) {
        const Pack<Element, pack> loaded = loadPack<pack>(row + first);
#pragma unroll
        for (int e = 0; e < pack; ++e) at[n * pack + e] = valueOf(loaded.at[e]);
      } else {
#pragma unroll
        for (int e = 0; e < pack; ++e) at[n * pack + e] = 0.0f;
      }
    }
  }
};

// Writes the mask of the chunk into `scores`: 0 or -infinity. Returns whether any key is unmasked.
DFC_INLINE bool look(const u8* mask, int ofBatch, int keyHead, int firstKey, Shared& shared) {
  if (threadIdx.x < rows) shared.sees[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (int n = threadIdx.x; n < rows * chunk; n += threads) {
    const int r = n / chunk, j = n % chunk, key = firstKey + j, query = queryOf(r);
    bool sees = key < keys && (!causal || key <= startOfQueries + query);
    if constexpr (masked) {
      sees =
          sees &&
          mask[ofBatch * maskBatch + headOf(keyHead, r) * maskHead + query * maskQuery + key * maskKey] != 0;
    }
    shared.scores[r][j] = sees ? 0.0f : -infinity();
    if (sees) shared.sees[r] = 1;
  }
  __syncthreads();
  int any = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) any |= shared.sees[r];
  return any != 0;
}

DFC_INLINE void scoreKeys(const Element* q, const Element* k, int ofBatch, int keyHead, int present,
                          Shared& shared) {
  constexpr int packs = stepsOf(width, keyLanes * pack), keyGroups = threads / keyLanes;
  const int lane = threadIdx.x % keyLanes, first = threadIdx.x / keyLanes;
  OfLane<packs> own[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    own[r].template load<width>(q + ofQ::at(ofBatch, headOf(keyHead, r), queryOf(r)), lane, keyLanes, true);
  }
#pragma unroll 4
  for (int step = 0; step < stepsOf(chunk, keyGroups); ++step) {
    const int j = step * keyGroups + first;
    OfLane<packs> key;
    key.template load<width>(k + i64(j) * ofK::row, lane, keyLanes, j < present);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      f32 score = 0.0f;
#pragma unroll
      for (int e = 0; e < packs * pack; ++e) score = fmaf(own[r].at[e], key.at[e], score);
#pragma unroll
      for (int apart = keyLanes / 2; apart > 0; apart /= 2)
        score += __shfl_xor_sync(0xffffffffu, score, apart);
      if (lane == 0 && j < chunk) {
        if constexpr (scalesFirst) score *= f32(scale * 1.44269504088896340736);
        const bool hidden = hides ? shared.scores[r][j] != 0.0f : j >= present;
        shared.scores[r][j] = hidden ? -infinity() : score;
      }
    }
  }
}

// A warp a row. NaN scores do not count for the maximum and become NaN powers.
DFC_INLINE void raise(f32* parts, Shared& shared) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int r = threadIdx.x / 32; r < rows; r += warps) {
    f32 most = -infinity(), total = 0.0f;
    for (int j = lane; j < chunk; j += 32) most = fmaxf(most, shared.scores[r][j]);
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, apart));
    const f32 from = most == -infinity() ? 0.0f : most;
    for (int j = lane; j < chunk; j += 32) {
      const f32 power = power2((shared.scores[r][j] - from) * scaleOfScores);
      shared.scores[r][j] = power;
      total += power;
    }
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(0xffffffffu, total, apart);
    if (lane == 0) {
      f32* const state = parts + r * (splits * partStride) + partStride - 4;
      state[0] = most;
      state[1] = total;
      state[2] = hides && shared.sees[r] == 0 ? 0.0f : 1.0f;
    }
  }
}

constexpr int valuePacks = stepsOf(valueWidth, valueLanes*pack), valueGroups = threads / valueLanes;
constexpr int valueSteps = stepsOf(chunk, valueGroups);
constexpr int heldSteps = valueSteps * valuePacks * pack <= mostHeld ? valueSteps : 1;

DFC_INLINE void addValues(const OfLane<valuePacks>& value, int j, f32 (&sums)[rows][valuePacks * pack],
                          const Shared& shared) {
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const f32 power = j < chunk ? shared.scores[r][j] : 0.0f;
#pragma unroll
    for (int e = 0; e < valuePacks * pack; ++e) sums[r][e] = fmaf(power, value.at[e], sums[r][e]);
  }
}

DFC_INLINE void leaveSums(f32 (&sums)[rows][valuePacks * pack], f32* parts, Shared& shared) {
  const int lane = threadIdx.x % valueLanes;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (r > 0) __syncthreads();
#pragma unroll
    for (int n = 0; n < valuePacks; ++n) {
#pragma unroll
      for (int e = 0; e < pack; ++e) {
        f32 sum = sums[r][n * pack + e];
#pragma unroll
        for (int apart = valueLanes; apart < 32; apart *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        const int w = (n * valueLanes + lane) * pack + e;
        if (threadIdx.x % 32 < valueLanes && w < valueWidth) shared.sums[threadIdx.x / 32][w] = sum;
      }
    }
    __syncthreads();
    for (int w = threadIdx.x; w < valueWidth; w += threads) {
      f32 sum = 0.0f;
#pragma unroll
      for (int warp = 0; warp < warps; ++warp) sum += shared.sums[warp][w];
      parts[r * (splits * partStride) + w] = sum;
    }
  }
}

DFC_INLINE void attend(const Element* q, const Element* k, const Element* v, const u8* mask, f32* parts,
                       const Block& block, Shared& shared) {
  const int split = block.x % splits, headOfAll = block.x / splits;
  const int ofBatch = headOfAll / keyHeads, keyHead = headOfAll % keyHeads;
  const int firstKey = split * chunk, present = keys - firstKey < chunk ? keys - firstKey : chunk;
  parts += (i64(headOfAll) * rows * splits + split) * partStride;
  if constexpr (hides) {
    if (!look(mask, ofBatch, keyHead, firstKey, shared)) {
      if (threadIdx.x < rows) {
        f32* const state = parts + threadIdx.x * (splits * partStride) + partStride - 4;
        state[0] = -infinity();
        state[1] = 0.0f;
        state[2] = 0.0f;
      }
      return;
    }
  }
  k += ofK::at(ofBatch, keyHead, firstKey);
  v += ofV::at(ofBatch, keyHead, firstKey);
  const int lane = threadIdx.x % valueLanes, first = threadIdx.x / valueLanes;
  OfLane<valuePacks> held[heldSteps]; // on their way while scores are computed
#pragma unroll
  for (int step = 0; step < heldSteps; ++step) {
    const int j = step * valueGroups + first;
    held[step].template load<valueWidth>(v + i64(j) * ofV::row, lane, valueLanes, j < present);
  }
  scoreKeys(q, k, ofBatch, keyHead, present, shared);
  __syncthreads();
  raise(parts, shared);
  __syncthreads();
  f32 sums[rows][valuePacks * pack] = {};
#pragma unroll
  for (int step = 0; step < heldSteps; ++step)
    addValues(held[step], step * valueGroups + first, sums, shared);
#pragma unroll 4
  for (int step = heldSteps; step < valueSteps; ++step) {
    const int j = step * valueGroups + first;
    OfLane<valuePacks> value;
    value.template load<valueWidth>(v + i64(j) * ofV::row, lane, valueLanes, j < present);
    addValues(value, j, sums, shared);
  }
  leaveSums(sums, parts, shared);
}
