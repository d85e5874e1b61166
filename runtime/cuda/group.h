// Group: the GPUs that one session opened; their queues are launched together. A step is captured once into a
// CUDA graph that spans the GPUs and includes the copies, and takes one graph launch from then on. The parts
// that differ from step to step are in memory: the step's number (a counter that kernels read); or they are
// set in the graph before its launch: addresses of feeds (feed_rings.h) and of fetched buffers, and the
// values that progress words are compared with.
//
// Without graphs the same calls go to the same streams in each step; that is for debugging.
#pragma once

#include "runtime/cuda/feed_rings.h"
#include "runtime/cuda/stream/launcher.h"
#include "runtime/cuda/stream/peer_words.h"
#include "runtime/cuda/stream/stamps.h"
#include "runtime/cuda/stream/stream_memory.h"
#include "runtime/cuda/stream/watcher.h"

namespace dfc::cuda {

class Group final : public DeviceGroup {
 public:
  /// Switches on peer access. Throws MachineError.
  Group(std::vector<Gpu> gpus, const BackendOptions& options);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() override;

  std::unique_ptr<Arena> allocate(size_t device, int64_t bytes) override;
  std::string description(size_t device) const override;
  void load(const Executable& plan, std::vector<Program> programs, ProgressBoard& board) override;
  /// Leaves the step to the launcher's thread while an earlier one is in flight on several GPUs.
  void launch(const Step& step) override;
  /// A GPU does not report which kernel it runs.
  OpId current(QueueId /*queue*/) const override { return {}; }
  std::vector<Span> takeSpans() override;

 private:
  using CommandIndex = std::pair<size_t, size_t>; ///< program and position of a command
  /// The stream of a queue, and the events that other streams wait for.
  struct QueueStream {
    cudaStream_t handle = nullptr;
    std::vector<cudaEvent_t> ended; ///< by position; null where no other stream waits
    std::vector<uint8_t> published; ///< by position: a wait outside the group
    /// By position: what its end writes for the GPUs that wait for it.
    std::vector<llvm::SmallVector<DevicePublication, 1>> peerWrites;
    cudaEvent_t joined = nullptr;      ///< the end of the stream's part of a step
    bool crossed = false;              ///< while enqueuing: the next launch waits for another GPU's kernel
    std::vector<uint8_t> endedCrossed; ///< by position: its event waits for another GPU's kernel
  };
  /// A graph node that copies from or to a buffer of the step.
  struct Patch {
    cudaGraphNode_t node;
    const Copy* copy;
    int ordinal; ///< of the GPU whose queue copies
  };
  /// A graph node with the values of progress words, which depend on the step.
  struct WordPatch {
    cudaGraphNode_t node;
    int ordinal; ///< of its GPU
    llvm::SmallVector<WordOperation, 2> operations;
  };
  /// A step as a CUDA graph.
  struct Captured {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    std::vector<Patch> patches; ///< copies from feeds or to fetched buffers
    std::vector<WordPatch> wordPatches;
  };
  /// The names of a launch's phases in a profiler.
  struct LaunchMarks {
    Marks::Name launch = nullptr, capture = nullptr, feeds = nullptr, wait = nullptr;
    explicit LaunchMarks(Marks* marks);
  };
  // Before the first step (group_prepare.cpp).
  void checkLaunches(llvm::ArrayRef<Program> programs) const;
  const Gpu* gpuOf(DeviceId device) const; ///< null where another backend plays it, or none does
  void checkPeerAccess() const;
  SideTable<DeviceId, std::byte*> arenasOf(llvm::ArrayRef<Program> programs) const;
  void prepareSteps();
  void pinWords();
  void startThreads();
  std::vector<CommandIndex> orderOf(llvm::ArrayRef<StepId> steps) const;
  void makeStreams();
  void makePeerWrites();
  void findPublications();
  void makeEnds();
  bool inGroup(const WaitFor& wait) const;
  bool byPeerWord(size_t program, const WaitFor& wait) const;
  bool computes(const StreamProgram& program) const; ///< not: its queue copies
  bool waitsByPeerWords(size_t program, size_t position) const;
  size_t queueOf(const WaitFor& wait) const;

  // One step (group.cpp). On the caller's thread or the launcher's, one at a time.
  bool inFlight(uint64_t steps) const;
  void execute(const Step& step);
  void launchStep(const Step& step);
  void skipStep(const Step& step, std::exception_ptr error);
  void launchGraph(const Step& step);
  void waitForStep(uint64_t step) const;
  void patch(const Captured& captured, const Step& step) const;
  void pinFetches(const Step& step);
  void drainStreams();
  cudaError_t setStepCount(uint64_t steps) const;

  // A step's calls, captured or not (group_enqueue.cpp).
  Captured capture(const Step& step);
  void enqueueStep(const Step& step, cudaStream_t origin, Captured* captured);
  void endStep(cudaStream_t stream, bool alone);
  void enqueue(size_t program, size_t position, const Step& step, Captured* captured);
  void enqueueWaits(size_t program, size_t position, const Step& step, Captured* captured);
  void waitInGroup(size_t program, const WaitFor& wait);
  void enqueueWords(size_t program, llvm::ArrayRef<WordOperation> operations, const Step& step,
                    Captured* captured);
  void enqueueAction(size_t program, size_t position, const Step& step, Captured* captured);
  void enqueueLaunches(size_t program, size_t position, const Step& step);
  /// Runs `action`, between stamps in a traced step; `item`: of `Stamps`.
  template <class Action>
  void stamped(const Step& step, size_t program, size_t item, bool afterKernel, const Action& action);
  void enqueueCopy(size_t program, const Copy& copy, const Step& step, Captured* captured);
  std::byte* addressOf(const Location& location, int ordinal, const Step& step) const;
  const Signals& signalsOf(size_t program) const;

  bool look(uint64_t steps);
  cudaError_t failureOfAny() const; ///< of the GPUs; cudaSuccess for none
  void fail(uint64_t step, std::exception_ptr error);
  uint64_t* stepCounter() const { return reinterpret_cast<uint64_t*>(counter_.get()); }

  std::vector<Gpu> gpus_;
  BackendOptions options_;
  KernelLibrary library_;
  Peers peers_;
  PinnedBuffer counter_; ///< the step's number, for kernels
  PinnedBuffer stop_;    ///< not 0 once a GPU failed: others wait for it no longer
  DeviceBuffer ownCounterBuffer_;
  uint64_t* ownCounter_ = nullptr; ///< the same, in the memory of the GPU that publishes the end of a step
  std::vector<Signals> signals_;   ///< by GPU
  StreamMemory streamMemory_;
  bool wordsByStreams_ = true; ///< every GPU waits and writes without kernels
  HostPins pins_;
  LaunchMarks marks_;

  const Executable* plan_ = nullptr;
  ProgressBoard* board_ = nullptr;
  std::vector<StreamProgram> programs_;
  std::vector<QueueStream> streams_;    ///< by program
  std::vector<int> programOf_;          ///< by queue; -1 for queues outside the group
  std::vector<CommandIndex> order_;     ///< every command, as enqueued
  cudaStream_t launchStream_ = nullptr; ///< of the first program's GPU: graphs are launched here
  cudaEvent_t forked_ = nullptr;
  std::vector<DevicePublication> ends_;
  PeerWords peerWords_;
  FeedRings feeds_;
  Captured plain_, traced_;
  std::unique_ptr<Stamps> stamps_; ///< from the first traced step on
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<Launcher> launcher_; ///< with several GPUs only
};

} // namespace dfc::cuda
