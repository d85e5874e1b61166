// Sums over each channel of a tensor [outer, channels, inner], carried in f64. How a sum is cut depends on
// the shape alone, and its pieces are added in order.
#pragma once

#include "ir/graph/rules/batch_norm_rules.h"
#include "runtime/cpu/thread_pool.h"

#include <vector>

namespace dfc {

class ChannelSums {
 public:
  ChannelSums(const TensorType& type, int64_t axis, ThreadPool& pool);

  using Numbers = std::vector<double>; ///< one for each channel
  void means(const std::byte* a, Numbers& mean);
  /// For each channel sum(a) and sum(a * a).
  void squares(const std::byte* a, Numbers& sums, Numbers& ofSquares);
  void variances(const std::byte* a, const Numbers& mean, Numbers& variance);
  /// For each channel sum(g) and sum(g (a - mean)).
  void products(const std::byte* a, const std::byte* g, const Numbers& mean, Numbers& ofG,
                Numbers& ofProducts);

  const Channels& channels() const { return channels_; }

 private:
  template <class T, class Term>
  void run(const std::byte* a, const std::byte* g, const Numbers* mean);
  template <class T, class Term>
  void sumRows(const std::byte* a, const std::byte* g, const Numbers* mean, int64_t task);
  template <class T, class Term>
  void sumColumns(const std::byte* a, const std::byte* g, const Numbers* mean, int64_t chunk);
  template <class Term>
  void dispatch(const std::byte* a, const std::byte* g, const Numbers* mean);
  void collect(const Numbers& pieces, Numbers& sums) const;

  ThreadPool& pool_;
  ElementType type_;
  Channels channels_;
  int64_t chunks_,
      tasks_; ///< of the outer extent; chunks, of each channel where these are tasks of their own
  uint32_t parts_;
  Numbers first_, second_; ///< pieces: [chunk][channel]
};

} // namespace dfc
