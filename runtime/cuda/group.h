// All queues of the GPUs that one session opened, launched as one: a round is captured once into a CUDA graph
// that spans the GPUs and includes the copies, and takes one launch from then on. What changes from round to
// round is in memory: the round's number (a counter that kernels read), feeds (a ring of pinned buffers); or
// is set in the graph before its launch: addresses of fetched buffers, numbers that words are compared with.
//
// Without graphs the same calls go to the same streams each round; that is for debugging.
#pragma once

#include "runtime/cuda/launches/peer_reads.h"
#include "runtime/cuda/stream/launcher.h"
#include "runtime/cuda/stream/stamps.h"
#include "runtime/cuda/stream/stream_memory.h"
#include "runtime/cuda/stream/watcher.h"

namespace dfc::cuda {

class Group {
 public:
  /// Switches on peer access. Throws MachineError.
  Group(std::vector<Gpu> gpus, const BackendOptions& options);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  const std::vector<Gpu>& gpus() const { return gpus_; }
  const Peers& peers() const { return peers_; }

  /// Kernels are prepared with the last queue of the plan that these GPUs have: what a queue does depends on
  /// what it reads from others. Throws MachineError.
  void add(const Executable& plan, Program program, const Gpu& gpu, ProgressBoard& board);
  /// Once a queue and round; the last queue of a round launches it, or leaves that to the launcher's thread
  /// while an earlier round is under way on several GPUs.
  void launch(const Step& round);
  void drain(); ///< until nothing is under way
  std::vector<Span> takeSpans(QueueId queue);

 private:
  using Turn = std::pair<size_t, size_t>; ///< program and position of a command
  /// A queue as it was loaded.
  struct Loaded {
    Program program;
    const Gpu* gpu;
  };
  /// Where a program's commands go, and how its streams' neighbours wait for them.
  struct Lane {
    cudaStream_t stream = nullptr;
    std::vector<cudaEvent_t> ended;    ///< by position; null where no other stream waits
    std::vector<uint8_t> published;    ///< by position: somebody outside the group waits
    cudaEvent_t joined = nullptr;      ///< the end of the lane's round
    bool crossed = false;              ///< while enqueuing: what comes next waits for another GPU's kernel
    std::vector<uint8_t> endedCrossed; ///< by position: who waits for it waits for another GPU's kernel
  };
  struct Patch {
    cudaGraphNode_t node;
    const Copy* copy;
  };
  /// A node whose numbers are those of its round.
  struct WordPatch {
    cudaGraphNode_t node;
    int ordinal; ///< of its GPU
    llvm::SmallVector<WordOperation, 2> operations;
  };
  /// A round as a CUDA graph.
  struct Captured {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    std::vector<Patch> patches; ///< copies from feeds or to fetched buffers
    std::vector<WordPatch> wordPatches;
  };
  /// What a launch is made of, for a profiler.
  struct LaunchMarks {
    Marks::Name launch = nullptr, capture = nullptr, feeds = nullptr, wait = nullptr;
    explicit LaunchMarks(Marks* marks);
  };
  /// Rounds whose feeds are staged at once; more in flight than this wait for room.
  static constexpr int64_t feedSlots = 4;
  /// A fed value that GPUs copy from: pinned buffers, one a round in turn.
  struct FeedRing {
    uint32_t feed = 0;
    int64_t bytes = 0;
    PinnedBuffer buffer;
  };

  // Before the first round (group_prepare.cpp).
  size_t queuesToLoad() const;
  void preparePrograms();
  PeerReads peerReads() const;
  void prepare();
  std::vector<Turn> orderOf(llvm::ArrayRef<StepId> steps) const;
  void makeLanes();
  void findPublications();
  void makeRings();
  void makeEnds();
  bool inGroup(const WaitFor& wait) const;
  size_t queueOf(const WaitFor& wait) const;

  SharedParts sharedParts();

  // One round (group.cpp). On the caller's thread or the launcher's, one at a time.
  bool underWay(uint64_t rounds) const;
  void carryOut(const Step& round);
  void launchRound(const Step& round);
  void skipRound(const Step& round);
  void stageFeeds(const Step& round);
  void launchGraph(const Step& round);
  void waitForRound(uint64_t round) const;
  void patch(const Captured& captured, const Step& round) const;
  void pinFetches(const Step& round);
  void drainStreams();
  cudaError_t countRounds(uint64_t rounds) const;
  static std::byte* stagingOf(const FeedRing& ring, uint64_t round);
  Step withStagedFeeds(const Step& round, std::vector<const std::byte*>& feeds) const;

  // A round's calls, captured or not (group_enqueue.cpp).
  Captured capture(const Step& round);
  void enqueueRound(const Step& round, cudaStream_t origin, Captured* captured);
  void endRound(cudaStream_t stream, bool alone);
  void enqueue(size_t program, size_t position, const Step& round, Captured* captured);
  void enqueueWaits(size_t program, const StreamCommand& command, const Step& round, Captured* captured);
  void waitInGroup(size_t program, const WaitFor& wait, bool traced);
  void enqueueWords(size_t program, llvm::ArrayRef<WordOperation> operations, const Step& round,
                    Captured* captured);
  void enqueueAction(size_t program, size_t position, const Step& round, Captured* captured);
  void enqueueLaunches(size_t program, size_t position, const Step& round);
  void enqueueCopy(size_t program, const Copy& copy, const Step& round, Captured* captured);
  std::byte* addressOf(const Location& location, const Step& round) const;
  const Signals& signalsOf(size_t program) const;

  bool look(uint64_t rounds);
  void fail(uint64_t round, std::exception_ptr error);
  uint64_t* roundCounter() const { return reinterpret_cast<uint64_t*>(counter_.get()); }

  std::vector<Gpu> gpus_;
  BackendOptions options_;
  KernelLibrary library_;
  Peers peers_;
  PinnedBuffer counter_;         ///< the round's number, for kernels
  DeviceBuffer ownCounter_;      ///< the same, in the memory of the GPU that ends rounds
  std::vector<Signals> signals_; ///< by GPU
  StreamMemory streamMemory_;
  bool wordsByStreams_ = true; ///< every GPU waits and writes without kernels
  HostPins pins_;
  LaunchMarks marks_;

  const Executable* plan_ = nullptr;
  ProgressBoard* board_ = nullptr;
  std::vector<Loaded> loaded_;
  std::vector<StreamProgram> programs_;   ///< of the loaded ones, in the same order
  std::vector<Lane> lanes_;               ///< by program
  std::vector<int> programOf_;            ///< by queue; -1 for those of others
  std::vector<StepId> steps_;             ///< of the plan, in an order that rounds keep
  std::vector<Turn> order_, tracedOrder_; ///< every command, as enqueued
  cudaStream_t launchStream_ = nullptr;   ///< of the first program's GPU: graphs are launched here
  cudaEvent_t forked_ = nullptr;
  std::vector<DevicePublication> ends_;
  std::vector<FeedRing> rings_;
  Captured plain_, traced_;
  size_t gathered_ = 0;            ///< queues launched of the round that is being gathered
  std::unique_ptr<Stamps> stamps_; ///< from the first traced round on
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<Launcher> launcher_; ///< where one GPU does not do it all
};

} // namespace dfc::cuda
