// A value for each device, summed for all of them, as ordinary ops: what data-parallel training does with
// gradients. Transfers follow from where the sums are pinned, so they overlap with whatever else there is,
// and an update of a sum is fused with it. The ops are said to be written where the function is called.
//
// Of k values of n bytes, `Exchange` brings every device the k - 1 others, (k - 1) n bytes, at once.
// `Scatter` brings device j only part j of each and, in a second step, the other parts' sums: 2 n (k - 1) / k
// bytes, less from three devices on. `Ring` brings as many, and sums only between neighbours: part j goes
// round from device j + 1 to device j, chunk behind chunk, so that links and devices work at once (Patarasuk
// and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009). All devices get the
// same bits; those of Exchange and Scatter are the sum in the devices' order.
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

namespace DFC_PUBLIC dfc {

/// How a sum over devices is made.
enum class AllReduce : uint8_t {
  Exchange, ///< every device is sent all values and adds them up
  Scatter,  ///< every device adds up its part and sends the sum to the others
  Ring,     ///< parts travel from neighbour to neighbour, chunk behind chunk
};

/// What allReduce and reduceScatter may choose.
struct AllReduceOptions {
  /// How the sum is made.
  AllReduce form = AllReduce::Scatter;
  /// Ring: pieces that a device's part goes round in, one behind the other. At least 1.
  int64_t chunks = 4;
};

/// The sum of `values`, value i on devices[i], once on each device. All of one type; along axis 0 they are
/// cut for Scatter and Ring: a value of fewer rows than devices is exchanged.
std::vector<Tensor> allReduce(const std::vector<Tensor>& values, const std::vector<std::string>& devices,
                              AllReduceOptions options = {},
                              std::source_location where = std::source_location::current());

/// Part j of the sum on devices[j], rows as even as they go, the first parts the longer ones; at least as
/// many rows as devices. What allReduce does first: an optimiser may update parts before they are gathered.
std::vector<Tensor> reduceScatter(const std::vector<Tensor>& values, const std::vector<std::string>& devices,
                                  AllReduceOptions options = {},
                                  std::source_location where = std::source_location::current());

/// Parts that lie on their devices, one behind the other along axis 0, on each device.
std::vector<Tensor> allGather(const std::vector<Tensor>& parts, const std::vector<std::string>& devices,
                              std::source_location where = std::source_location::current());

} // namespace dfc
