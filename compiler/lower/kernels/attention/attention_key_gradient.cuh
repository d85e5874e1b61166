// dk and dv: a block's rows are keys, its columns the queries of the group's heads, one head after the other.
constexpr int partOfValues = paddedWidth(valueWidth) / parts, valueOutputs = perThread(partOfValues);
constexpr int blocksOfQueries = ceilDiv(queries, columns);

DFC_INLINE void attend(const Element* q, const Element* k, const Element* v, const Element* cotangent,
                       const f32* logSumExp, const f32* delta, const u8* mask, Element* dk, Element* dv,
                       const Block& block, Shared& shared) {
  const int part = block.x % parts, number = block.x / parts;
  const int head =
      number % (batch * keyHeads); // the tiles of the first keys, which most queries see, come first
  const int firstKey = number / (batch * keyHeads) * tileRows;
  const int ofBatch = head / keyHeads, keyHead = head % keyHeads, firstHead = keyHead * group;
  const int present = keys - firstKey;
  const int firstSeeing = firstKey > startOfQueries ? firstKey - startOfQueries : 0; // query that sees a key
  const int firstTile = causal ? minOf(firstSeeing / columns, blocksOfQueries) : 0;
  const int tilesOfHead = blocksOfQueries - firstTile, tiles = group * tilesOfHead;

  const SharedAddress base = sharedAddress(shared.at), ofValues = base + firstBytes;
  const auto queriesOf = [&](int t) { return base + (ofStages + t % stages * stageBytes); };
  const auto fetch = [&](int t) {
    const int firstQuery = (firstTile + t % tilesOfHead) * columns;
    const int queryHead = firstHead + t / tilesOfHead, left = queries - firstQuery;
    const i64 number = ofStatistics::at(ofBatch, queryHead, firstQuery);
    copyTile<width, columns, ofQ>(queriesOf(t), q + ofQ::at(ofBatch, queryHead, firstQuery), left);
    copyTile<valueWidth, columns, ofO>(queriesOf(t) + firstStageBytes,
                                       cotangent + ofO::at(ofBatch, queryHead, firstQuery), left);
    copyStatistics<columns, ofStatistics>(queriesOf(t) + statisticsAt, logSumExp + number, left);
    copyStatistics<columns, ofStatistics>(queriesOf(t) + (statisticsAt + statisticsBytes), delta + number,
                                          left);
  };
  const auto round = [&](int t) {
    roundTile<width, columns>(queriesOf(t));
    roundTile<valueWidth, columns>(queriesOf(t) + firstStageBytes);
  };
  const auto walk = tileWalk(tiles, fetch, round);
  copyTile<width, tileRows, ofK>(base, k + ofK::at(ofBatch, keyHead, firstKey), present);
  copyTile<valueWidth, tileRows, ofV>(ofValues, v + ofV::at(ofBatch, keyHead, firstKey), present);
  walk.begin();

  f32 sums[rowsPerThread][outputs] = {}, valueSums[rowsPerThread][valueOutputs] = {};
  awaitCopies<0>();
  roundTile<width, tileRows>(base);
  roundTile<valueWidth, tileRows>(ofValues);
  walk.await(0); // of nothing, if no query sees these keys
  const OwnRows<width, kept >= 1> ownKeys(base);
  const OwnRows<valueWidth, kept >= 2> ownValues(ofValues);
  walk.run([&](int t) {
    const int queryHead = firstHead + t / tilesOfHead, firstOfTile = (firstTile + t % tilesOfHead) * columns;
    const Visibility visible = visibilityOf(mask, ofBatch, queryHead);
#pragma unroll 1
    for (int n = 0; n < chunks; ++n) {
      const int firstQuery = firstOfTile + n * chunk, firstOfWarp = firstKey + warpRow();
      if (firstQuery >= queries) break;
      if (causal && startOfQueries + firstQuery + chunk <= firstOfWarp) continue;
      const SharedAddress ofTile = queriesOf(t) + n * chunk * strideOf(width);
      const SharedAddress ofCotangents = queriesOf(t) + (firstStageBytes + n * chunk * strideOf(valueWidth));
      const SharedAddress numbers = queriesOf(t) + (statisticsAt + n * chunk * 4);
      f32 powers[rowsPerThread][count] = {};
      multiplyRows(powers, ownKeys, ofTile);
      scaled(powers);
#pragma unroll
      for (int c = 0; c < count; ++c) {
        u32 number;
        loadShared(number, numbers + columnOf(c) * 4);
        const f32 offset = __uint_as_float(number) * log2OfE;
#pragma unroll
        for (int r = 0; r < rowsPerThread; ++r) {
          powers[r][c] = power2(fmaf(powers[r][c], scaleOfScores, -offset));
        }
      }
      if (masked || (causal && startOfQueries + firstQuery < firstOfWarp + rowsPerWarp - 1)) {
        hide(powers, [&](int row, int column) { return visible(firstQuery + column, firstKey + row); });
      }
      multiplyInto<valueWidth>(valueSums, powers, ofCotangents + part * partOfValues * elementBytes,
                               base + ofScratch);
      f32 gradient[rowsPerThread][count];
#pragma unroll
      for (int c = 0; c < count; ++c) {
        u32 number;
        loadShared(number, numbers + (statisticsBytes + columnOf(c) * 4));
#pragma unroll
        for (int r = 0; r < rowsPerThread; ++r) gradient[r][c] = -__uint_as_float(number);
      }
      multiplyRows(gradient, ownValues, ofCotangents);
#pragma unroll
      for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
        for (int c = 0; c < count; ++c) gradient[r][c] *= powers[r][c];
      }
      multiplyInto<width>(sums, gradient, ofTile + part * partOfWidth * elementBytes, base + ofScratch);
    }
  });
  multiplyAll(sums, f32(scale));
  __syncwarp(); // the warp's keys and values have been read
  storeRows<width>(base + part * partOfWidth * elementBytes, sums);
  storeRows<valueWidth>(ofValues + part * partOfValues * elementBytes, valueSums);
  __syncwarp();
  writeRows<width, rowsPerWarp, partOfWidth, ofK>(dk + ofK::at(ofBatch, keyHead, firstKey), base, warpRow(),
                                                  present, part * partOfWidth);
  writeRows<valueWidth, rowsPerWarp, partOfValues, ofV>(dv + ofV::at(ofBatch, keyHead, firstKey), ofValues,
                                                        warpRow(), present, part * partOfValues);
}
