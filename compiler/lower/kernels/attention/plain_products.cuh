// Products of tiles of f32 by fused multiply-adds, every one rounded as f32: what tensor_cores.cuh is for the
// other types. Sixteen threads share a row and `rowTiles` rows are a thread's: of scores it has every
// sixteenth column, of a product that is kept four neighbours of every 64.
[[maybe_unused]] constexpr int lanesPerRow = 16;
constexpr int rowsPerWarp = rowTiles * 2, tileRows = warps * rowsPerWarp;
constexpr int rowsPerThread = rowTiles;
DFC_INLINE constexpr int scratchStride(int columns) { return columns * 4 + 16; }
// Where a warp's factor of so many columns lies between the two products.
DFC_INLINE constexpr int scratchBytes(int columns) { return tileRows * scratchStride(columns); }
DFC_INLINE constexpr int perThread(int columns) { return columns / 16; }

DFC_INLINE int warpRow() { return threadIdx.x / 32 * rowsPerWarp; }
DFC_INLINE int rowOf(int r) { return threadIdx.x / 16 * rowTiles + r; }
DFC_INLINE int columnOf(int c) { return threadIdx.x % 16 + c * 16; }

struct Four {
  f32 at[4];
};
DFC_INLINE Four loadFour(SharedAddress from) {
  uint4 bits;
  loadShared(bits, from);
  return {__uint_as_float(bits.x), __uint_as_float(bits.y), __uint_as_float(bits.z), __uint_as_float(bits.w)};
}

// This thread's rows of a factor.
template <int width, bool kept>
struct OwnRows {
  static_assert(!kept, "rows stay in shared memory");
  SharedAddress at;
  DFC_INLINE explicit OwnRows(SharedAddress tile) : at(tile + rowOf(0) * strideOf(width)) {}
};

template <int width, bool kept, int count>
DFC_INLINE void multiplyRows(f32 (&sums)[rowsPerThread][count], const OwnRows<width, kept>& a,
                             SharedAddress b) {
  constexpr int stride = strideOf(width);
  b += columnOf(0) * stride;
#pragma unroll 2
  for (int k = 0; k < ceilDiv(width, 4); ++k) {
    Four left[rowsPerThread], right[count];
#pragma unroll
    for (int r = 0; r < rowsPerThread; ++r) left[r] = loadFour(a.at + (r * stride + k * 16));
#pragma unroll
    for (int c = 0; c < count; ++c) right[c] = loadFour(b + (c * 16 * stride + k * 16));
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
        for (int c = 0; c < count; ++c) sums[r][c] = fmaf(left[r].at[e], right[c].at[e], sums[r][c]);
      }
    }
  }
}

template <int width, int outputs, int count>
DFC_INLINE void multiplyInto(f32 (&sums)[rowsPerThread][outputs], const f32 (&p)[rowsPerThread][count],
                             SharedAddress b, SharedAddress scratch) {
  constexpr int stride = strideOf(width), pitch = scratchStride(count * 16);
  scratch += rowOf(0) * pitch;
  __syncwarp(); // the factor before has been read
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
    for (int c = 0; c < count; ++c) storeShared(scratch + (r * pitch + columnOf(c) * 4), bitsOf(p[r][c]));
  }
  __syncwarp();
  b += threadIdx.x % 16 * 16;
#pragma unroll 1
  for (int k = 0; k < count * 4; ++k) {
    Four left[rowsPerThread];
#pragma unroll
    for (int r = 0; r < rowsPerThread; ++r) left[r] = loadFour(scratch + (r * pitch + k * 16));
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int j = 0; j < outputs / 4; ++j) {
        const Four right = loadFour(b + ((k * 4 + e) * stride + j * 256));
#pragma unroll
        for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
          for (int w = 0; w < 4; ++w) {
            sums[r][j * 4 + w] = fmaf(left[r].at[e], right.at[w], sums[r][j * 4 + w]);
          }
        }
      }
    }
  }
}

template <int width, int outputs>
DFC_INLINE void storeRows(SharedAddress to, const f32 (&from)[rowsPerThread][outputs]) {
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
#pragma unroll
    for (int c = 0; c < outputs; c += 4) {
      storeShared(
          to + (rowOf(r) * strideOf(width) + c * 64 + threadIdx.x % 16 * 16),
          uint4{bitsOf(from[r][c]), bitsOf(from[r][c + 1]), bitsOf(from[r][c + 2]), bitsOf(from[r][c + 3])});
    }
  }
}
