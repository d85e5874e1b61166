// All queues of the GPUs that one session opened, launched together: a round is captured once into a CUDA
// graph a GPU, which includes its copies, and takes one launch a GPU from then on. What changes from round to
// round is in memory: the round's number (a counter that kernels read), feeds (a ring of pinned buffers) and
// fetched buffers, whose addresses are set in the graph before its launch. Within a GPU queues wait for one
// another by edges of the graph; between GPUs and with the host, by progress words that kernels poll and
// publish: a graph that spans GPUs takes many times as long to launch.
//
// Without graphs the same calls go to the same streams each round; that is for debugging.
#pragma once

#include "runtime/cuda/stamps.h"
#include "runtime/cuda/watcher.h"

#include <optional>

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

  void add(const Executable& plan, const Program& program, const Gpu& gpu, ProgressBoard& board);
  /// Once a queue and round; the last queue of a round launches it.
  void launch(const Round& round);
  void drain(); ///< until nothing is under way
  std::vector<Span> takeSpans(QueueId queue);

 private:
  /// Where a program's commands go, and how others wait for them.
  struct Lane {
    cudaStream_t stream = nullptr;
    std::vector<cudaEvent_t> ended; ///< by position; null where no other stream of the GPU waits
    std::vector<llvm::SmallVector<uint64_t*, 1>> told; ///< by position: words of the host and of other GPUs
    cudaEvent_t joined = nullptr;                      ///< the end of the lane's round
  };
  struct Patch {
    cudaGraphNode_t node;
    const Copy* copy;
  };
  /// A round as a CUDA graph.
  struct Captured {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    std::vector<Patch> patches; ///< copies from feeds or to fetched buffers
  };
  /// A GPU with programs: its graphs, and its own view of how far the other GPUs are.
  struct Site {
    DeviceBuffer counter; ///< the round's number, for kernels
    std::optional<Signals> signals;
    DeviceBuffer nearWords;        ///< by queue, written by other GPUs
    PinnedBuffer farWords;         ///< the same where GPUs cannot write to one another
    uint64_t* words = nullptr;     ///< the one of the two that is used
    cudaStream_t stream = nullptr; ///< graphs are launched here; null without programs
    cudaEvent_t forked = nullptr;
    PinnedBuffer ends;
    int endCount = 0;
    Captured plain, traced;
  };
  /// A fed value that GPUs copy from: pinned buffers, one a round in turn.
  struct FeedRing {
    uint32_t feed = 0;
    int64_t bytes = 0;
    PinnedBuffer buffer;
  };

  // Before the first round (group_prepare.cpp).
  void prepare();
  void makeOrder();
  void makeSites();
  void makeLanes();
  void makeEvents();
  void findWhoIsTold();
  void makeRings();
  void makeEnds(size_t site);
  size_t queueOf(const WaitFor& wait) const;
  int programOf(const WaitFor& wait) const; ///< -1 for a queue of another backend
  size_t siteOf(size_t program) const;

  // One round (group.cpp).
  void launchRound(const Round& round);
  void skipRound(const Round& round);
  void stageFeeds(const Round& round);
  void launchGraphs(const Round& round);
  void launchCommands(const Round& round);
  void waitForRound(uint64_t round) const;
  void patch(const Captured& captured, const Round& round) const;
  void pinFetches(const Round& round);
  Round withStagedFeeds(const Round& round, std::vector<const std::byte*>& feeds) const;

  // A round's calls, captured or not (group_enqueue.cpp).
  Captured capture(const Round& round, size_t site);
  void fork(size_t site, cudaStream_t origin);
  void join(size_t site, cudaStream_t origin);
  void enqueue(size_t program, size_t position, const Round& round, Captured* captured);
  void enqueueWaits(size_t program, const StreamCommand& command);
  void enqueueAction(size_t program, const StreamCommand& command, const Round& round, Captured* captured);
  void enqueueCopy(size_t program, const Copy& copy, const Round& round, Captured* captured);
  void tell(size_t program, size_t position);
  std::byte* addressOf(const Location& location, const Round& round) const;
  const Signals& signalsOf(size_t program) const { return *sites_[siteOf(program)].signals; }

  bool look(uint64_t rounds);
  void fail(uint64_t round, std::exception_ptr error);
  void setWords(uint64_t nextRound);

  std::vector<Gpu> gpus_;
  BackendOptions options_;
  Peers peers_;
  KernelLibrary library_;
  PinnedBuffer stop_; ///< not zero once a GPU has failed: then nobody waits
  HostPins pins_;

  const Executable* plan_ = nullptr;
  ProgressBoard* board_ = nullptr;
  std::vector<StreamProgram> programs_;
  std::vector<Lane> lanes_;                      ///< by program
  std::vector<int> programOf_;                   ///< by queue; -1 for those of others
  std::vector<std::pair<size_t, size_t>> order_; ///< program and position of every command, as enqueued
  std::vector<Site> sites_;                      ///< by GPU
  std::vector<FeedRing> rings_;
  size_t gathered_ = 0; ///< queues launched of the round that is being gathered
  uint64_t launchedRounds_ = 0;
  std::unique_ptr<Stamps> stamps_; ///< from the first traced round on
  std::unique_ptr<Watcher> watcher_;
};

} // namespace dfc::cuda
