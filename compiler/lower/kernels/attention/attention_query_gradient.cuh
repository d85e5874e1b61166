// dq: a block's rows are queries, its columns keys.
constexpr int blocksOfQueries = ceilDiv(queries, tileRows);

DFC_INLINE void attend(const Element* q, const Element* k, const Element* v, const Element* cotangent,
                       const f32* logSumExp, const f32* delta, const u8* mask, Element* dq,
                       const Block& block, Shared& shared) {
  const int part = block.x % parts, number = block.x / parts;
  const int tile = number / (batch * heads), head = number % (batch * heads);
  const int firstQuery = (causal ? blocksOfQueries - 1 - tile : tile) * tileRows; // the longest first
  const int ofBatch = head / heads, ofHeads = head % heads;
  k += ofK::at(ofBatch, ofHeads / group, 0);
  v += ofV::at(ofBatch, ofHeads / group, 0);
  const int present = queries - firstQuery;
  const Visibility visible = visibilityOf(mask, ofBatch, ofHeads);
  const int seen = causal ? minOf(keys, startOfQueries + firstQuery + tileRows) : keys;
  const int tiles = ceilDiv(seen, columns);

  const SharedAddress base = sharedAddress(shared.at), ofCotangents = base + firstBytes;
  const auto keysOf = [&](int t) { return base + (ofStages + t % stages * stageBytes); };
  const auto fetch = [&](int t) {
    const int first = t * columns;
    copyTile<width, columns, ofK>(keysOf(t), k + first * ofK::row, keys - first);
    copyTile<valueWidth, columns, ofV>(keysOf(t) + firstStageBytes, v + first * ofV::row, keys - first);
  };
  const auto round = [&](int t) {
    roundTile<width, columns>(keysOf(t));
    roundTile<valueWidth, columns>(keysOf(t) + firstStageBytes);
  };
  const auto walk = tileWalk(tiles, fetch, round);
  copyTile<width, tileRows, ofQ>(base, q + ofQ::at(ofBatch, ofHeads, firstQuery), present);
  copyTile<valueWidth, tileRows, ofO>(ofCotangents, cotangent + ofO::at(ofBatch, ofHeads, firstQuery),
                                      present);
  walk.begin();

  f32 sums[rowsPerThread][outputs] = {};
  f32 offset[rowsPerThread], start[rowsPerThread];
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
    const bool exists = rowOf(r) < present;
    const i64 number = ofStatistics::at(ofBatch, ofHeads, firstQuery + rowOf(r));
    offset[r] = exists ? logSumExp[number] * log2OfE : 0.0f;
    start[r] = exists ? -delta[number] : 0.0f;
  }
  awaitCopies<0>();
  roundTile<width, tileRows>(base);
  roundTile<valueWidth, tileRows>(ofCotangents);
  walk.await(0);
  const OwnRows<width, kept >= 1> ownQueries(base);
  const OwnRows<valueWidth, kept >= 2> ownCotangents(ofCotangents);
  walk.run([&](int t) {
#pragma unroll 1
    for (int n = 0; n < chunks; ++n) {
      const int firstKey = t * columns + n * chunk, firstOfWarp = startOfQueries + firstQuery + warpRow();
      if (firstKey >= keys || (causal && firstKey >= firstOfWarp + rowsPerWarp)) break;
      const SharedAddress ofKeys = keysOf(t) + n * chunk * strideOf(width);
      const SharedAddress ofValues = keysOf(t) + (firstStageBytes + n * chunk * strideOf(valueWidth));
      f32 powers[rowsPerThread][count] = {};
      multiplyRows(powers, ownQueries, ofKeys);
      scaled(powers);
      f32 gradient[rowsPerThread][count];
#pragma unroll
      for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
        for (int c = 0; c < count; ++c) {
          powers[r][c] = power2(fmaf(powers[r][c], scaleOfScores, -offset[r]));
          gradient[r][c] = start[r];
        }
      }
      if (masked || firstKey + chunk > keys || (causal && firstKey + chunk - 1 > firstOfWarp)) {
        hide(powers, [&](int row, int column) { return visible(firstQuery + row, firstKey + column); });
      }
      multiplyRows(gradient, ownCotangents, ofValues);
#pragma unroll
      for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
        for (int c = 0; c < count; ++c) gradient[r][c] *= powers[r][c];
      }
      multiplyInto<width>(sums, gradient, ofKeys + part * partOfWidth * elementBytes, base + ofScratch);
    }
  });
  multiplyAll(sums, f32(scale));
  __syncwarp(); // the warp's queries have been read
  storeRows<width>(base + part * partOfWidth * elementBytes, sums);
  __syncwarp();
  writeRows<width, rowsPerWarp, partOfWidth, ofQ>(dq + ofQ::at(ofBatch, ofHeads, firstQuery), base, warpRow(),
                                                  present, part * partOfWidth);
}
