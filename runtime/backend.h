// The whole device contract. A backend opens a group: all devices that one session wants of it. The group
// allocates their arenas, is given the programs of all their queues once, and is launched once a step; from
// then on each queue runs its program by itself, in order: wait, run, publish. Nothing here decides anything.
//
// Queues of every backend wait for one another through progress words alone (runtime/progress.h), so one plan
// drives unlike devices with one mechanism. Steps follow one another without a central thread: the first
// command of a queue waits for the ends of the queues of the step before, by the same words.
#pragma once

#include "ir/machine/calibration.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/op_lowering.h"
#include "ir/plan/trace.h"
#include "runtime/backend_options.h"
#include "runtime/errors.h"
#include "runtime/marks.h"
#include "runtime/progress.h"
#include "runtime/steady_seconds.h"

namespace dfc {

class ArenaMap; // state/arena_map.h

/// Device memory of one plan on one device. A cpu arena is host memory; others need not be addressable by the
/// host.
class Arena {
 public:
  virtual ~Arena() = default;
  /// The base address if the host may read and write it directly, else null.
  virtual std::byte* hostAddress() = 0;
  /// How many there are, if the host may read and write them directly; 0 if it does not say.
  virtual int64_t bytes() const { return 0; }
  /// Synchronous, from any thread; the caller orders them against the commands that touch the same bytes.
  virtual void write(int64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void read(int64_t offset, std::span<std::byte> bytes) = 0;
};

/// Where a value lives, resolved for the runtime. Feed and fetch buffers are host memory that each `Step`
/// brings, row-major and aligned to 64 bytes: a fed value is read where it lies, and a fetched one is written
/// to its buffer by the command that makes it, without another copy.
struct Location {
  enum class Base : uint8_t { Arena, Feed, Fetch };
  Base base = Base::Arena;
  uint32_t buffer = 0;    ///< Feed, Fetch: its index in the step
  Arena* arena = nullptr; ///< Arena only
  int64_t offset = 0;
  int64_t bytes = 0;
  friend bool operator==(const Location&, const Location&) = default;
};

/// One piece of work, resolved: what to wait for, what to run, on what.
struct Command {
  enum class Kind : uint8_t {
    Nothing,  ///< a view, an update in place, an input read where it was fed: only its order counts
    Compute,  ///< runs the op's kernel on operands and results in this device's memory
    Copy,     ///< operands[0] to results[0]: within this device's memory, or to or from a buffer of the step
    Transfer, ///< operands[0] to results[0], one of them in another device's arena
  };
  Kind kind = Kind::Nothing;
  bool publishes = false; ///< another queue or the caller waits for its end, or it is the last of its queue
  StepId step;            ///< invalid for the copy of a fetched value, which the schedule does not know
  OpId op;
  llvm::SmallVector<WaitFor, 1> waits;
  llvm::SmallVector<Location, 3> operands;
  llvm::SmallVector<Location, 1> results;
};

/// What a queue does each step. Its progress word is `board[queue.index()]`; its command p publishes
/// `commands.size() * step + p + 1`.
struct Program {
  QueueId queue;
  std::vector<Command> commands; ///< never empty
  size_t device = 0;             ///< index of the queue's device in its group; set by the session
  /// Where the offsets of launches lie, whose pointers are the plan's; the commands' locations have been
  /// found by it. Null: in one arena a device.
  std::shared_ptr<const SideTable<DeviceId, ArenaMap>> arenas = nullptr;
};

/// One execution of the plan: what it brings beside the programs. (A StepId is the place of one op in the
/// schedule.) All of it lives until the step has ended on every queue.
struct Step {
  uint64_t number = 0;                         ///< since the session opened
  llvm::ArrayRef<const std::byte*> feeds = {}; ///< by feed index
  llvm::ArrayRef<std::byte*> fetches = {};     ///< by fetch index
  bool traced = false;
};

/// All devices that one session opens of one backend: they may share what spans devices (peer access, one
/// launch for all). A device is an index here, in the order asked for. A group is loaded once, then launched
/// each step; steps run in the order of their launches.
class DeviceGroup {
 public:
  /// Ends when every launched step has. The group's arenas go before it, once no step uses them.
  virtual ~DeviceGroup() = default;
  /// At least arenaAlignment-aligned. Throws MachineError when there is not enough.
  virtual std::unique_ptr<Arena> allocate(size_t device, int64_t bytes) = 0;
  /// What it is, and warnings about it, for people: "NVIDIA H200 (sm_90)"; "" when its name says it all.
  virtual std::string description(size_t /*device*/) const { return ""; }
  /// Asked before `load`: to look at what each op computes, and to fail the step with a NotFiniteError at the
  /// first result that is not finite. False where the group cannot.
  virtual bool checkFinite() { return false; }
  /// Prepares all that steps need. `programs`: of all queues of these devices that have one, in queue order;
  /// a group without any is neither loaded nor launched. The executable and the board outlive the group.
  /// Throws MachineError; the group can then only be destroyed.
  virtual void load(const Executable& plan, std::vector<Program> programs, ProgressBoard& board) = 0;
  /// Returns at once. Called once a step, on one thread at a time (not always the same one). Whatever
  /// happens, the end of the step is published for every queue in the end; a failure goes to
  /// `ProgressBoard::fail` before that. So a device that waits for words by itself is let go after a failure
  /// too, and need not be told.
  virtual void launch(const Step& step) = 0;
  /// Where a queue is in its program, for messages; an invalid id when it is idle or the group cannot tell.
  /// On any thread.
  virtual OpId current(QueueId queue) const = 0;
  /// Spans of all queues in the traced steps since the last call, on the clock of `steadySeconds()`; only
  /// while no step runs.
  virtual std::vector<Span> takeSpans() = 0;
};

/// A device that a plan asks for.
struct DeviceRequest {
  DeviceRow row;
  uint32_t ordinal = 0; ///< its index among the devices of its kind in the machine
};

/// A copy from one device of this host to another; no device stands for the host.
struct CopyRequest {
  std::optional<DeviceRequest> from, to;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual bool supports(DeviceKind kind) const = 0;
  /// Why no device can be opened on this host ("no driver"), or "" when one can.
  virtual std::string unavailable() const = 0;
  /// Versions of the libraries that it computes with, as it found them: "13.0, cuBLASLt 13.1.0"; "" where it
  /// has none, or cannot open them.
  virtual std::string libraries() const { return ""; }
  /// Whether this backend has a kernel for the op; conformance tests walk the table with it. A backend that
  /// executes the plan's launches has one for every op, as the plan brings it.
  virtual bool hasKernel(const Graph& graph, OpId op) const = 0;
  /// Whether its devices compute custom ops by functions of the host (BackendOptions::customFunctions).
  virtual bool callsFunctions() const { return false; }
  /// Opens all devices that one session wants of this backend. Throws MachineError.
  virtual std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> devices,
                                            const BackendOptions& options) = 0;
  /// Ranges for a profiler that is attached to this process and knows this backend's devices; null where
  /// there is none, which is found out once.
  virtual Marks* marks() { return nullptr; }
  /// Adds this backend's devices of this host to a machine that has a cpu, with links and routes to that cpu
  /// and among themselves. Rates as the driver tells them, or measured, which takes seconds. A backend that
  /// only plays devices adds none. Throws MachineError.
  virtual void describeHost(Machine& /*machine*/, bool /*measure*/) {}
  /// Times ops on one device of this host: each alone and again and again, on operands of its own in the
  /// device's memory that are not all alike; the median of several runs. Gives a row for each op that it can
  /// time, by `signatureOf`, in any order, and may add rows of ops that choices are kept with. The ops have
  /// unlike signatures and are `isTimed`. A choice that is `known` stays: results in one session and the next
  /// have the same bits. `lowering`: of ops to launches, for backends that execute launches. Takes as long as
  /// it takes. Throws MachineError.
  virtual std::vector<CalibratedOp> calibrate(const Graph& /*graph*/, llvm::ArrayRef<OpId> /*ops*/,
                                              const Calibration& /*known*/, const DeviceRequest& /*device*/,
                                              const OpLowering& /*lowering*/) {
    return {};
  }
  /// Seconds of a copy of each size, at least 1 byte, alone and as a plan's transfers are made; empty where
  /// this backend makes no such copy. Throws MachineError.
  virtual std::vector<double> timeCopies(const CopyRequest& /*copy*/, llvm::ArrayRef<int64_t> /*bytes*/) {
    return {};
  }
};

/// The backends of this build, in the order of preference for a device kind: the rows of backends.def.
llvm::ArrayRef<Backend*> allBackends();
Backend* backendNamed(std::string_view name); ///< null when there is none

} // namespace dfc
