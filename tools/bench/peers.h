// The peers: scripts that do the same work in PyTorch and JAX, and programs beside dfc that do it by other
// libraries, run one at a time, while nothing of ours runs. What they print, and how they are asked for
// samples, is in peers/peer.py.
#pragma once

#include "tools/bench/process.h"
#include "tools/bench/stage.h"

namespace dfc::bench {

struct PeerOptions {
  std::string scripts;       ///< folder with the scripts
  std::string python;        ///< a program in PATH, or its path
  double limitSeconds = 300; ///< of one script
};

/// One script and the rows that it can measure.
struct PeerScript {
  std::string file;
  bool processPerGpu = false; ///< started by torchrun, one process for each of two GPUs
  std::vector<std::string> keys;
  std::vector<std::string> arguments = {};
  std::string program = {}; ///< a program that does the same, in place of a script
};

/// Runs a script for its keys, and not at all where it has none. Adds a row for each answer; a key without
/// any gets one that says why.
void runPeer(const Stage& stage, const PeerScript& script, const PeerOptions& options);

/// A script whose samples and ours take turns, so that whatever else a host does, and how fast it lets its
/// processors run, falls on all alike.
class PeerInTurn {
 public:
  /// Starts it, and waits until it has warmed up.
  PeerInTurn(const Stage& stage, PeerScript script, const PeerOptions& options);
  /// One sample of each of its rows. Nothing where it has ended.
  void sample();
  /// Waits for its end, and adds its rows as runPeer does.
  void finish();

 private:
  const Stage& stage_;
  PeerScript script_;
  const PeerOptions& options_;
  Result<std::unique_ptr<RunningProcess>> process_;
  bool answers_ = false;
};

/// The row that says that a program was not built.
struct WithoutProgram {
  std::string key, what;
};

/// The same for a program that lies beside dfc where the libraries that it needs were found: `program` is its
/// name alone.
void runProgramBeside(const Stage& stage, PeerScript script, const PeerOptions& options,
                      const WithoutProgram& without);

/// Others' rows of this key that have a time, the fastest first.
std::vector<const Row*> peersAt(const Report& report, const std::string& key);

/// Holds our row against all of them, the fastest with a requirement where there is one.
void holdAgainstPeers(const Report& report, const std::string& key, std::optional<double> mostOfFastest,
                      Row& row);

/// Holds each of our rows against the peers' rows of the same work, the fastest of them with issue 3's
/// requirement where it has one. Of several of our rows that do one work in different ways the fastest has to
/// meet it.
void holdAgainstPeers(const Stage& stage);

} // namespace dfc::bench
