// Unit: the smallest thing that a queue launches, with all bytes that it reads and writes.
#pragma once

#include "runtime/cuda/kernels/generated_kernel.h"
#include "runtime/cuda/launches/computation.h"
#include "runtime/cuda/launches/libraries.h"

#include <optional>
#include <vector>

namespace dfc::cuda {

/// An address; in the queue's workspace as an offset, since that is allocated when its size is known.
struct Place {
  bool inWorkspace = false;
  uint64_t at = 0;

  static Place of(const std::byte* address) { return {false, reinterpret_cast<uint64_t>(address)}; }
  std::byte* resolved(std::byte* workspace) const {
    return inWorkspace ? workspace + at : reinterpret_cast<std::byte*>(at);
  }
};

struct Range {
  Place begin;
  int64_t bytes = 0;
  uint8_t stride = 0; ///< as Argument::stride
};

struct Unit {
  uint32_t computation = 0;      ///< its index
  std::optional<uint32_t> along; ///< the computation whose first launch is made along with it
  Segment segment;
  std::optional<MatmulCall> product;    ///< a product by cuBLASLt, without `out`, which is pointers[0]
  bool convolution = false;             ///< by the library for these; pointers: operands, result, workspace
  GeneratedLaunch launch;               ///< else
  llvm::SmallVector<Place, 4> pointers; ///< of the launch's arguments
  llvm::SmallVector<Range, 4> reads, writes;

  bool byLibrary() const { return product.has_value() || convolution; }
};

/// Whether a byte is in some of both.
bool overlap(llvm::ArrayRef<Range> some, llvm::ArrayRef<Range> others);

/// Whether two units must keep their order: one writes what the other reads or writes.
bool conflict(const Unit& a, const Unit& b);

/// Whether element i of `later` only needs element i of `earlier` to be there, and overwrites nothing that
/// other elements of `earlier` need: then one thread may make both, element by element.
bool elementByElement(const Unit& earlier, const Unit& later);

struct Units {
  std::vector<Unit> units; ///< in the order of the computations
  int64_t workspaceBytes = 0;
};

/// `apart`: neighbouring computations get different parts of the workspace, as far as a few MiB go, so that
/// they need not keep their order for its sake.
Units unitsOf(const Graph& graph, llvm::ArrayRef<Computation> computations, bool apart,
              Libraries libraries = {});

} // namespace dfc::cuda
