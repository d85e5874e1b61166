// Chains of tiny ops: several compute queues of a device against one, a launch for each op; and one queue
// with merged launches, the other way to hide the cost of launches.
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/adds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

/// A row: its key is "chains_on_queues/<device>/<queues>", or "chains_on_queues/<device>/merged".
struct Chains {
  std::string device;
  int queues = 1;
  bool merged = false; ///< launches merged, as sessions do by default
  std::string key() const {
    return fmt::format("chains_on_queues/{}/{}", device, merged ? "merged" : fmt::to_string(queues));
  }
};

Status runChains(Harness& harness, const Chains& chains, int count, Row& row) {
  Variation variation;
  variation.mergeLaunches = chains.merged;
  variation.machine = harness.machine();
  variation.machine->devices[variation.machine->findDevice(chains.device)].computeQueues =
      static_cast<uint32_t>(chains.queues);
  const auto prepared =
      harness.prepare(chainsOfAdds(chains.device, count, harness.sizes().adds / count), variation);
  if (!prepared) {
    return prepared.errors();
  }
  measureSteps(*prepared, harness.shortSteps(), row);
  const auto single = harness.report().seconds(Chains{chains.device}.key());
  if (single && (chains.queues > 1 || chains.merged)) {
    row.checks.push_back(against(row, "one queue", *single, harness.required(1)));
  }
  return success();
}

/// Adds the rows that are wanted, behind the row of one queue, against which they are held. On one queue and
/// on several, each op is a launch of its own; with `merging` there is a row of one queue with merged
/// launches.
void runAllChains(Harness& harness, const std::string& device, const std::vector<int>& queues, bool merging) {
  constexpr int count = 8;
  std::vector<Chains> wanted = {{device}};
  for (const int several : queues) {
    wanted.push_back({device, several});
  }
  if (merging) {
    wanted.push_back({device, 1, true});
  }
  std::erase_if(wanted, [&](const Chains& chains) { return !harness.wants(chains.key()); });
  if (!wanted.empty() && wanted.front().key() != Chains{device}.key()) {
    wanted.insert(wanted.begin(), {device});
  }
  for (const Chains& chains : wanted) {
    harness.attempt(chains.key(),
                    fmt::format("{} chains of {} tiny ops on {}, {} compute queue{}{}", count,
                                harness.sizes().adds / count, device, chains.queues,
                                chains.queues == 1 ? "" : "s", chains.merged ? ", launches merged" : ""),
                    [&](Row& row) { return runChains(harness, chains, count, row); });
  }
}

} // namespace

void chainsOnQueues(Harness& harness) {
  if (!harness.gpus().empty()) {
    runAllChains(harness, harness.gpus()[0], {2, 4, 8}, harness.realGpus());
  }
  const DeviceRow& host = harness.machine().devices[harness.machine().host()];
  runAllChains(harness, host.name, {2, 4}, false);
}

} // namespace dfc::bench
