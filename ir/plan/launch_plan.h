// LaunchPlan: what the queues of a plan's GPUs launch: kernels, calls of libraries, and reads of another
// GPU's memory in place of copies. Part of the sealed plan. A launch computes one op, several that were
// merged, or a part of one; its operands are slots of the memory plan or of its queue's workspace.
#pragma once

#include "ir/plan/memory_plan.h"
#include "ir/plan/step_order.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace dfc {

/// The elementwise function that a product's epilogue applies last.
enum class Activation : uint8_t {
  None,
  Relu,
  Gelu, ///< the tanh form
};

/// Whether only some algorithms of a library have the activation as an epilogue, so that a launch with it has
/// a spare.
inline bool dependsOnAlgorithm(Activation activation) { return activation == Activation::Gelu; }

/// result = activation(alpha * a·b + c) by a library of products, where a is [..., m, k], b is [..., k, n],
/// both before their transposes, and the batch axes broadcast as NumPy does. c is the bias [n] or an addend
/// of the result's type; at most one of the two.
struct ProductCall {
  TensorType a, b, result;
  bool transposeA = false, transposeB = false;
  bool tf32 = false; ///< f32 operands may be rounded to tf32
  double alpha = 1;
  bool bias = false, addend = false; ///< whether there is one, which is a pointer of the launch
  Activation activation = Activation::None;
  std::string choice; ///< the algorithm, as a calibration records it; "" leaves it to the library's heuristic
};

/// A place in a device's arena, or in the workspace of the launch's queue.
struct LaunchPointer {
  DeviceId device; ///< whose arena; invalid for the workspace
  int64_t offset = 0;
  bool inWorkspace() const { return !device.valid(); }
  friend bool operator==(const LaunchPointer&, const LaunchPointer&) = default;
};

/// Bytes that a launch reads or writes for one of its ops.
struct LaunchRange {
  LaunchPointer begin;
  int64_t bytes = 0;
  OpId op;
  /// The kernel of a merged launch that accesses them: kernels with an access in common run in this order. An
  /// op may have several, with kernels of other ops between them.
  uint32_t kernel = 0;
};

/// How a launch is computed.
enum class LaunchKind : uint8_t {
  Kernel,      ///< a generated kernel
  Product,     ///< by the library of products
  Convolution, ///< by the library of convolutions; the op's attributes and types say the call
  Custom,      ///< the kernel of a custom op; the op's attributes say source, grid and block
};

/// One launch of a queue.
struct LaunchRow {
  QueueId queue;
  OpId at;               ///< it is enqueued in the place of this op's step, behind its waits
  std::vector<OpId> ops; ///< that it computes, wholly or in part; ascending, never empty
  LaunchKind kind = LaunchKind::Kernel;
  /// Kernel: its text in `LaunchPlan::kernels`, and the shape of the launch.
  uint32_t kernel = 0;
  std::array<uint32_t, 2> grid{1, 1};
  uint32_t threads = 1; ///< of a block
  uint32_t dynamicSharedBytes = 0;
  bool pointersByValue = false;       ///< one parameter, the array of all pointers; else a parameter each
  std::optional<ProductCall> product; ///< Product
  /// Kernel: in the order of its parameters. Product: result, a, b, and the bias or addend if there is one.
  /// Convolution, Custom: operands, results.
  llvm::SmallVector<LaunchPointer, 4> pointers;
  llvm::SmallVector<LaunchRange, 4> reads, writes;
  /// Expected, with nothing beside it on the device: its part of its ops' seconds in the schedule. 0 for
  /// spare launches.
  double seconds = 0;
  /// Of a library's call: generated kernels, and products without their epilogue, that compute the same where
  /// the library of the machine has no such algorithm.
  std::vector<LaunchRow> spare;
};

/// A transfer between two GPUs that is not copied: its one reader reads the other GPU's memory itself.
struct PeerRead {
  StepId transfer, reader;
  uint32_t operand = 0; ///< of the reader's op
  friend bool operator==(const PeerRead&, const PeerRead&) = default;
};

/// All of a plan's, with the waits that keep the schedule's happens-before relation, each reader in the place
/// of its transfers.
struct PeerReads {
  std::vector<PeerRead> reads;
  StepWaits waits; ///< of every step, in place of the schedule's; at most one a queue
  llvm::ArrayRef<StepId> waitsOf(const Schedule& schedule, StepId step) const {
    return waits.empty() ? llvm::ArrayRef<StepId>(schedule.steps[step].waits) : waits[step];
  }
};

/// The launches of all GPUs of a plan.
struct LaunchPlan {
  std::string prelude;                        ///< stands before the text of every kernel
  std::vector<std::string> kernels;           ///< CUDA C++, each text once; the kernel is named `kernelName`
  std::vector<LaunchRow> launches;            ///< queue by queue, in the queue's order
  SideTable<QueueId, int64_t> workspaceBytes; ///< of each queue's launches; 256-byte aligned, no contents
  PeerReads peers;                            ///< empty, the waits too, where every transfer is a copy

  /// A plan without GPUs, or one that was sealed without its launches.
  bool empty() const { return workspaceBytes.empty(); }
  /// The waits of a step with the peer reads.
  llvm::ArrayRef<StepId> waitsOf(const Schedule& schedule, StepId step) const {
    return peers.waitsOf(schedule, step);
  }
};

inline constexpr std::string_view kernelName = "dfc_kernel"; ///< each is a translation unit of its own

} // namespace dfc
