// Attention in tiles that never leave the multiprocessor: FlashAttention-2 (Dao, 2023). A block keeps a tile
// of queries and walks the keys that they see; each row's greatest score, sum of powers and weighted sum of
// values are corrected whenever a greater score comes.
constexpr int blocksOfQueries = ceilDiv(queries, tileRows);
constexpr int queryBytes =
    tileRows * maxOf(strideOf(width), strideOf(valueWidth)); // the result lies there too
constexpr int keyBytes = columns * strideOf(width);
constexpr int stageBytes = keyBytes + columns * strideOf(valueWidth);
constexpr int ofScratch = queryBytes + stages * stageBytes;
constexpr int outputs = perThread(paddedWidth(valueWidth)), count = perThread(columns);

constexpr f32 logOf2 = 0.69314718055994530942f;

struct Shared {
  alignas(16) u8 at[ofScratch + scratchBytes(columns)];
};

// What is known of a row.
struct RowState {
  f32 most[rowsPerThread];  // the greatest score
  f32 total[rowsPerThread]; // of the powers in this thread's columns
  bool sees[rowsPerThread]; // any key; of this thread's columns
};

DFC_INLINE void hide(f32 (&scores)[rowsPerThread][count], RowState& state, const Visibility& visible,
                     int firstQuery, int firstKey) {
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
    for (int c = 0; c < count; ++c) {
      const bool sees = visible(firstQuery + rowOf(r), firstKey + columnOf(c));
      scores[r][c] = sees ? scores[r][c] : -infinity();
      if constexpr (masked) state.sees[r] = state.sees[r] || sees;
    }
  }
}

// Scores become powers; sums so far shrink to the new maxima. NaN scores do not count for the maximum and
// become NaN powers.
DFC_INLINE void raise(f32 (&scores)[rowsPerThread][count], f32 (&sums)[rowsPerThread][outputs],
                      RowState& state) {
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
    f32 most = state.most[r];
#pragma unroll
    for (int c = 0; c < count; ++c) most = fmaxf(most, scores[r][c]);
#pragma unroll
    for (int lane = 1; lane < lanesPerRow; lane *= 2)
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
    const f32 from = most == -infinity() ? 0.0f : most, offset = from * scaleOfScores;
    const f32 shrink = power2((state.most[r] - from) * scaleOfScores);
    state.most[r] = most;
    f32 total = 0.0f;
#pragma unroll
    for (int c = 0; c < count; ++c) {
      scores[r][c] = power2(fmaf(scores[r][c], scaleOfScores, -offset));
      total += scores[r][c];
    }
    state.total[r] = fmaf(state.total[r], shrink, total);
#pragma unroll
    for (int w = 0; w < outputs; ++w) sums[r][w] *= shrink;
  }
}

// Sums become means. A row that sees no key is 0; one that sees only scores of -infinity is NaN.
DFC_INLINE void finish(f32 (&sums)[rowsPerThread][outputs], RowState& state, f32* logSumExp, int present) {
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
    f32 total = state.total[r];
    int sees = !masked || state.sees[r] ? 1 : 0;
#pragma unroll
    for (int lane = 1; lane < lanesPerRow; lane *= 2) {
      total += __shfl_xor_sync(0xffffffffu, total, lane);
      if constexpr (masked) sees |= __shfl_xor_sync(0xffffffffu, sees, lane);
    }
    const bool empty = total == 0.0f;
    const f32 share = empty ? (sees != 0 ? notANumber() : 0.0f) : 1.0f / total;
#pragma unroll
    for (int w = 0; w < outputs; ++w) sums[r][w] *= share;
    if (threadIdx.x % lanesPerRow == 0 && rowOf(r) < present) {
      logSumExp[rowOf(r) * ofStatistics::row] =
          empty ? -infinity() : fmaf(state.most[r], scaleOfScores * logOf2, logf(total));
    }
  }
}

DFC_INLINE void attend(const Element* q, const Element* k, const Element* v, const u8* mask, Element* o,
                       f32* logSumExp, const Block& block, Shared& shared) {
  const int tile = block.x / (batch * heads), head = block.x % (batch * heads);
  const int firstQuery = (causal ? blocksOfQueries - 1 - tile : tile) * tileRows; // the longest first
  const int ofBatch = head / heads, ofHeads = head % heads;
  q += ofQ::at(ofBatch, ofHeads, firstQuery);
  k += ofK::at(ofBatch, ofHeads / group, 0);
  v += ofV::at(ofBatch, ofHeads / group, 0);
  const int present = queries - firstQuery;
  const Visibility visible = visibilityOf(mask, ofBatch, ofHeads);
  const int seen = causal ? minOf(keys, startOfQueries + firstQuery + tileRows) : keys;
  const int tiles = ceilDiv(seen, columns);

  const SharedAddress base = sharedAddress(shared.at);
  const auto keysOf = [&](int t) { return base + (queryBytes + t % stages * stageBytes); };
  const auto fetch = [&](int t) {
    const int first = t * columns;
    copyTile<width, columns, ofK>(keysOf(t), k + first * ofK::row, keys - first);
    copyTile<valueWidth, columns, ofV>(keysOf(t) + keyBytes, v + first * ofV::row, keys - first);
  };
  const auto round = [&](int t) {
    roundTile<width, columns>(keysOf(t));
    roundTile<valueWidth, columns>(keysOf(t) + keyBytes);
  };
  const auto walk = tileWalk(tiles, fetch, round);
  copyTile<width, tileRows, ofQ>(base, q, present);
  walk.begin();

  f32 sums[rowsPerThread][outputs] = {};
  RowState state;
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
    state.most[r] = -infinity();
    state.total[r] = 0.0f;
    state.sees[r] = false;
  }
  awaitCopies<0>();
  roundTile<width, tileRows>(base);
  walk.await(0);
  const OwnRows<width, kept >= 1> ownQueries(base);
  walk.run([&](int t) {
    const int firstKey = t * columns, firstOfWarp = startOfQueries + firstQuery + warpRow(); // among all
    if (!causal || firstKey < firstOfWarp + rowsPerWarp) {
      f32 scores[rowsPerThread][count] = {};
      multiplyRows(scores, ownQueries, keysOf(t));
      scaled(scores);
      if (masked || firstKey + columns > keys || (causal && firstKey + columns - 1 > firstOfWarp)) {
        hide(scores, state, visible, firstQuery, firstKey);
      }
      raise(scores, sums, state);
      multiplyInto<valueWidth>(sums, scores, keysOf(t) + keyBytes, base + ofScratch);
    }
  });
  finish(sums, state, logSumExp + ofStatistics::at(ofBatch, ofHeads, firstQuery), present);
  width == valueWidth ? __syncwarp() : __syncthreads(); // the queries that lie there have been read
  storeRows<valueWidth>(base, sums);
  __syncwarp();
  writeRows<valueWidth, rowsPerWarp, paddedWidth(valueWidth), ofO>(o + ofO::at(ofBatch, ofHeads, firstQuery),
                                                                   base, warpRow(), present, 0);
}
