// Products of tiles on the tensor cores, a warp for its own rows: of 16-bit elements in steps of 16 (PTX's
// mma.m16n8k16), of f32 rounded to tf32 in steps of 8 (mma.m16n8k8). A step is 32 bytes of a row either way.
//
// A thread's numbers of a tile: row `rowOf(r)`, column `columnOf(c)`; four threads share a row.
#ifndef DFC_ON_HOST
// Four 8 x 8 matrices of 16-bit numbers (8 x 4 of 32 bits); a thread's address is a row's.
DFC_INLINE void loadMatrices(u32 (&to)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
DFC_INLINE void loadTransposedMatrices(u32 (&to)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
// 16 x 8 sums += 16 rows of a times 8 columns of b, by a warp.
DFC_INLINE void multiplyBrains(f32& c0, f32& c1, f32& c2, f32& c3, const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DFC_INLINE void multiplyHalves(f32& c0, f32& c1, f32& c2, f32& c3, const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DFC_INLINE void multiplyRounded(f32& c0, f32& c1, f32& c2, f32& c3, const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DFC_INLINE u32 pairOfBrains(f32 low, f32 high) {
  u32 both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
DFC_INLINE u32 pairOfHalves(f32 low, f32 high) {
  u32 both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
#endif

template <class T>
struct MatrixUnit;
template <>
struct MatrixUnit<bf16> {
  static DFC_INLINE void multiply(f32& c0, f32& c1, f32& c2, f32& c3, const u32 (&a)[4], u32 b0, u32 b1) {
    multiplyBrains(c0, c1, c2, c3, a, b0, b1);
  }
  static DFC_INLINE u32 pair(f32 low, f32 high) { return pairOfBrains(low, high); }
};
template <>
struct MatrixUnit<f16> {
  static DFC_INLINE void multiply(f32& c0, f32& c1, f32& c2, f32& c3, const u32 (&a)[4], u32 b0, u32 b1) {
    multiplyHalves(c0, c1, c2, c3, a, b0, b1);
  }
  static DFC_INLINE u32 pair(f32 low, f32 high) { return pairOfHalves(low, high); }
};
template <>
struct MatrixUnit<f32> {
  static DFC_INLINE void multiply(f32& c0, f32& c1, f32& c2, f32& c3, const u32 (&a)[4], u32 b0, u32 b1) {
    multiplyRounded(c0, c1, c2, c3, a, b0, b1);
  }
};

[[maybe_unused]] constexpr int lanesPerRow = 4;
constexpr int rowsPerWarp = rowTiles * 16, tileRows = warps * rowsPerWarp;
constexpr int rowsPerThread = rowTiles * 2;
DFC_INLINE constexpr int scratchBytes(int) { return 0; }
// Numbers of a thread in a row of so many columns.
DFC_INLINE constexpr int perThread(int columns) { return columns / 4; }

DFC_INLINE int warpRow() { return threadIdx.x / 32 * rowsPerWarp; }
DFC_INLINE int rowOf(int r) { return warpRow() + r / 2 * 16 + r % 2 * 8 + threadIdx.x % 32 / 4; }
DFC_INLINE int columnOf(int c) { return c / 2 * 8 + threadIdx.x % 4 * 2 + c % 2; }

// This warp's rows of a factor: in shared memory, or kept in registers.
template <int width, bool kept>
struct OwnRows {
  static constexpr int steps = paddedWidth(width) * elementBytes / 32;
  SharedAddress at;
  u32 all[kept ? steps : 1][rowTiles][4];

  // The rows must be there when they are kept.
  DFC_INLINE explicit OwnRows(SharedAddress tile) {
    const int lane = threadIdx.x % 32;
    at = tile + ((warpRow() + lane % 16) * strideOf(width) + lane / 16 * 16);
    if constexpr (kept) {
#pragma unroll
      for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int i = 0; i < rowTiles; ++i) load(all[step][i], step, i);
      }
    }
  }
  DFC_INLINE void load(u32 (&to)[4], int step, int i) const {
    loadMatrices(to, at + (i * 16 * strideOf(width) + step * 32));
  }
  DFC_INLINE void read(u32 (&to)[rowTiles][4], int step) const {
#pragma unroll
    for (int i = 0; i < rowTiles; ++i) {
      if constexpr (kept) {
#pragma unroll
        for (int q = 0; q < 4; ++q) to[i][q] = all[step][i][q];
      } else {
        load(to[i], step, i);
      }
    }
  }
};

// sums += a b^T: this warp's rows of a, all rows of b, both of `width`.
template <int width, bool kept, int count>
DFC_INLINE void multiplyRows(f32 (&sums)[rowsPerThread][count], const OwnRows<width, kept>& a,
                             SharedAddress b) {
  constexpr int stride = strideOf(width), steps = paddedWidth(width) * elementBytes / 32;
  const int lane = threadIdx.x % 32;
  b += (lane / 16 * 8 + lane % 8) * stride + lane / 8 % 2 * 16;
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    u32 left[rowTiles][4];
    a.read(left, step);
#pragma unroll
    for (int j = 0; j < count / 4; ++j) {
      u32 right[4];
      loadMatrices(right, b + (j * 16 * stride + step * 32));
#pragma unroll
      for (int i = 0; i < rowTiles; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int c = j * 4 + half * 2;
          MatrixUnit<Element>::multiply(sums[i * 2][c], sums[i * 2][c + 1], sums[i * 2 + 1][c],
                                        sums[i * 2 + 1][c + 1], left[i], right[half * 2],
                                        right[half * 2 + 1]);
        }
      }
    }
  }
}

// sums += p b, of b's columns from address b on: p is rounded to Element and stays in registers, since what a
// thread holds of a product is what it must hold of a factor. In tf32 the inner dimension is taken in another
// order for that: columns 2t and 2t + 1 where the tensor cores have t and t + 4.
template <int width, int outputs, int count, class Unit = MatrixUnit<Element>>
DFC_INLINE void multiplyInto(f32 (&sums)[rowsPerThread][outputs], const f32 (&p)[rowsPerThread][count],
                             SharedAddress b, SharedAddress /*scratch*/) {
  constexpr int stride = strideOf(width);
  const int lane = threadIdx.x % 32;
  if constexpr (elementBytes == 2) {
    b += lane % 16 * stride + lane / 16 * 16;
#pragma unroll
    for (int k = 0; k < count / 4; ++k) {
      u32 left[rowTiles][4];
#pragma unroll
      for (int i = 0; i < rowTiles; ++i) {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const int c = k * 4 + q / 2 * 2;
          left[i][q] = Unit::pair(p[i * 2 + q % 2][c], p[i * 2 + q % 2][c + 1]);
        }
      }
#pragma unroll
      for (int j = 0; j < outputs / 4; ++j) {
        u32 right[4];
        loadTransposedMatrices(right, b + (k * 16 * stride + j * 32));
#pragma unroll
        for (int i = 0; i < rowTiles; ++i) {
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const int c = j * 4 + half * 2;
            Unit::multiply(sums[i * 2][c], sums[i * 2][c + 1], sums[i * 2 + 1][c], sums[i * 2 + 1][c + 1],
                           left[i], right[half * 2], right[half * 2 + 1]);
          }
        }
      }
    }
  } else {
    b += lane % 4 * 2 * stride + lane / 4 * 4;
#pragma unroll
    for (int k = 0; k < count / 2; ++k) {
      u32 left[rowTiles][4];
#pragma unroll
      for (int i = 0; i < rowTiles; ++i) {
#pragma unroll
        for (int q = 0; q < 4; ++q) left[i][q] = roundedToTf32(bitsOf(p[i * 2 + q % 2][k * 2 + q / 2]));
      }
#pragma unroll
      for (int j = 0; j < outputs / 2; ++j) {
        u32 right[2];
        loadShared(right[0], b + (k * 8 * stride + j * 32));
        loadShared(right[1], b + (k * 8 * stride + j * 32 + stride));
#pragma unroll
        for (int i = 0; i < rowTiles; ++i) {
          const int c = j * 2;
          Unit::multiply(sums[i * 2][c], sums[i * 2][c + 1], sums[i * 2 + 1][c], sums[i * 2 + 1][c + 1],
                         left[i], right[0], right[1]);
        }
      }
    }
  }
}

// This thread's numbers of a product as elements of a tile in shared memory, from address `to` on.
template <int width, int outputs, class Unit = MatrixUnit<Element>>
DFC_INLINE void storeRows(SharedAddress to, const f32 (&from)[rowsPerThread][outputs]) {
#pragma unroll
  for (int r = 0; r < rowsPerThread; ++r) {
    const SharedAddress row = to + (rowOf(r) * strideOf(width) + columnOf(0) * elementBytes);
#pragma unroll
    for (int c = 0; c < outputs; c += 2) {
      const SharedAddress at = row + c / 2 * 8 * elementBytes;
      if constexpr (elementBytes == 2) {
        storeShared(at, Unit::pair(from[r][c], from[r][c + 1]));
      } else {
        storeShared(at, uint2{bitsOf(from[r][c]), bitsOf(from[r][c + 1])});
      }
    }
  }
}
