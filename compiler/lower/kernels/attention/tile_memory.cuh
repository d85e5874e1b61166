// Tiles of rows in shared memory. The text in front defines Element, warps, and whether elements are rounded
// to tf32 (`tf32`).
//
// Layout: rows are padded with zeros to whole steps of a product and lie an odd number of 16 bytes apart, so
// that the same 16 bytes of 8 rows lie in banks of their own, and every address is a base plus a constant.
#ifndef DFC_ON_HOST
using SharedAddress = u32;
DFC_INLINE SharedAddress sharedAddress(void* at) { return u32(__cvta_generic_to_shared(at)); }
// Zeros unless `present`. Arrived when awaited.
template <int bytes>
DFC_INLINE void copyAsync(SharedAddress to, const void* from, bool present) {
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(present ? 16u : 0u)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(bytes),
                 "r"(present ? u32(bytes) : 0u)
                 : "memory");
  }
}
DFC_INLINE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int left>
DFC_INLINE void awaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}
DFC_INLINE void loadShared(u16& to, SharedAddress from) {
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(to) : "r"(from) : "memory");
}
DFC_INLINE void loadShared(u32& to, SharedAddress from) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(to) : "r"(from) : "memory");
}
DFC_INLINE void loadShared(uint2& to, SharedAddress from) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(to.x), "=r"(to.y) : "r"(from) : "memory");
}
DFC_INLINE void loadShared(uint4& to, SharedAddress from) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
               : "r"(from)
               : "memory");
}
DFC_INLINE void storeShared(SharedAddress to, u16 a) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(a) : "memory");
}
DFC_INLINE void storeShared(SharedAddress to, u32 a) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(a) : "memory");
}
DFC_INLINE void storeShared(SharedAddress to, uint2 a) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(a.x), "r"(a.y) : "memory");
}
DFC_INLINE void storeShared(SharedAddress to, uint4 a) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w)
               : "memory");
}
DFC_INLINE u32 bitsOf(f32 a) { return __float_as_uint(a); }
DFC_INLINE f32 power2(f32 a) {
  f32 power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(a));
  return power;
}
DFC_INLINE u32 roundedToTf32(u32 bits) {
  u32 nearest;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(nearest) : "f"(__uint_as_float(bits)));
  return nearest;
}
#endif

constexpr int threads = warps * 32;
constexpr int elementBytes = sizeof(Element);

DFC_INLINE constexpr int maxOf(int a, int b) { return a > b ? a : b; }
DFC_INLINE constexpr int minOf(int a, int b) { return a < b ? a : b; }
DFC_INLINE constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }
DFC_INLINE constexpr int paddedWidth(int width) { return ceilDiv(width, widthStep) * widthStep; }
DFC_INLINE constexpr int strideOf(int width) { return paddedWidth(width) * elementBytes + 16; }
// Bytes that one copy moves: rows are aligned to so many.
DFC_INLINE constexpr int pieceOf(int width) {
  const int bytes = width * elementBytes;
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 2;
}

template <int bytes>
DFC_INLINE void copyPiece(SharedAddress to, const Element* from, bool present) {
  if constexpr (bytes >= 4) {
    copyAsync<bytes>(to, from, present);
  } else {
    storeShared(to, present ? *reinterpret_cast<const u16*>(from) : u16(0));
  }
}

// Calls `piece(row, first element)` for this thread's share of a tile's pieces.
template <int width, int rows, class Piece>
DFC_INLINE void forOwnPieces(const Piece& piece) {
  constexpr int perRow = paddedWidth(width) * elementBytes / pieceOf(width);
  constexpr int total = rows * perRow, turns = ceilDiv(total, threads);
#pragma unroll(turns <= 16 ? turns : 4)
  for (int n = 0; n < turns; ++n) {
    const int number = threadIdx.x + n * threads;
    if (total % threads != 0 && number >= total) break;
    piece(number / perRow, number % perRow * (pieceOf(width) / elementBytes));
  }
}

// Rows of a tensor, `Rows::row` elements apart; those behind `present` become zeros.
template <int width, int rows, class Rows>
DFC_INLINE void copyTile(SharedAddress to, const Element* from, int present) {
  forOwnPieces<width, rows>([&](int row, int element) {
    copyPiece<pieceOf(width)>(to + (row * strideOf(width) + element * elementBytes),
                              from + (row * Rows::row + element),
                              row < present && (width == paddedWidth(width) || element < width));
  });
}

// Rounds what this thread has copied, before others read it.
template <int width, int rows>
DFC_INLINE void roundTile(SharedAddress at) {
  if constexpr (tf32) {
    forOwnPieces<width, rows>([&](int row, int element) {
      const SharedAddress piece = at + (row * strideOf(width) + element * elementBytes);
      if constexpr (pieceOf(width) == 16) {
        uint4 a;
        loadShared(a, piece);
        storeShared(piece,
                    uint4{roundedToTf32(a.x), roundedToTf32(a.y), roundedToTf32(a.z), roundedToTf32(a.w)});
      } else {
#pragma unroll
        for (int word = 0; word < pieceOf(width) / 4; ++word) {
          u32 a;
          loadShared(a, piece + word * 4);
          storeShared(piece + word * 4, roundedToTf32(a));
        }
      }
    });
  }
}

// Numbers of rows; those behind `present` become zeros.
template <int count, class Rows>
DFC_INLINE void copyStatistics(SharedAddress to, const f32* from, int present) {
#pragma unroll
  for (int n = 0; n < ceilDiv(count, threads); ++n) {
    const int i = threadIdx.x + n * threads;
    if (i < count) copyAsync<4>(to + i * 4, from + i * Rows::row, i < present);
  }
}

// A piece of a row from shared memory to the tensor.
template <int bytes>
DFC_INLINE void writePiece(Element* to, SharedAddress from) {
  typename RawOf<bytes>::Type piece;
  loadShared(piece, from);
  *reinterpret_cast<typename RawOf<bytes>::Type*>(to) = piece;
}

// The rows of this warp, from `firstRow` on in shared memory, where it has written columns [firstColumn,
// firstColumn
// + columns) of the tensor's rows; `present` counts from the tile's first row.
template <int width, int rows, int columns, class Rows>
DFC_INLINE void writeRows(Element* to, SharedAddress from, int firstRow, int present, int firstColumn) {
  constexpr int bytes = pieceOf(width), elements = bytes / elementBytes, perRow = columns / elements;
#pragma unroll 4
  for (int number = threadIdx.x % 32; number < rows * perRow; number += 32) {
    const int row = firstRow + number / perRow, column = firstColumn + number % perRow * elements;
    if (row < present && column < width) {
      writePiece<bytes>(to + (row * Rows::row + column),
                        from + (row * strideOf(width) + column * elementBytes));
    }
  }
}

// A walk over tiles that are copied to shared memory while earlier ones are computed. `fetch(t)` starts the
// copies of tile t, `round(t)` rounds it once it has arrived.
template <class Fetch, class Round>
struct TileWalk {
  int tiles;
  Fetch fetch;
  Round round;

  // The copies that the caller started belong to the first wait.
  DFC_INLINE void begin() const {
    if (tiles > 0) fetch(0);
    commitCopies();
  }
  // Tile t is there for all threads, and all are done with the one that the next copies overwrite.
  DFC_INLINE void await(int t) const {
    awaitCopies<0>();
    round(t);
    __syncthreads();
  }
  // Behind await(0).
  template <class Compute>
  DFC_INLINE void run(const Compute& compute) const {
#pragma unroll 1
    for (int t = 0; t < tiles; ++t) {
      if (t > 0) await(t);
      if (stages > 1 && t + 1 < tiles) fetch(t + 1);
      commitCopies();
      compute(t);
      if (stages == 1 && t + 1 < tiles) {
        __syncthreads();
        fetch(t + 1);
        commitCopies();
      }
    }
    awaitCopies<0>();
  }
};
template <class Fetch, class Round>
DFC_INLINE TileWalk<Fetch, Round> tileWalk(int tiles, const Fetch& fetch, const Round& round) {
  return {tiles, fetch, round};
}
