// ChannelLaunches: the launches of which kernels of batch norms are made, over a tensor seen as [outer,
// channels, inner]: sums of each channel by blocks over pieces of it, the sums of the pieces, and a pass over
// the tensor in which a thread keeps the numbers of its channels and walks the outer extent.
#pragma once

#include "compiler/lower/kernels/families.h"
#include "ir/graph/rules/batch_norm_rules.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace dfc::cuda {

/// A tensor and the name of its pack in a text.
struct Loaded {
  std::string_view pack, tensor;
};
using LoadList = llvm::SmallVector<Loaded, 3>;

/// What the two sums of a channel add for each element: x and x * x, or g and g * x.
extern const std::string_view varianceTerm, productTerm;

class ChannelLaunches {
 public:
  /// `vector`: the element type of a channel's numbers.
  ChannelLaunches(const TensorType& a, ElementType vector, int64_t axis, const GpuShape& gpu);

  int64_t sumBytes() const { return pieces_ * channels_.channels * 2 * 8; }
  int64_t channelCount() const { return channels_.channels; }

  /// Parameters "a, …, sums"; `center`: of the channel, in f64; `loads`: the packs x and y, and what else the
  /// term reads; `g`: the number that belongs to y.at[k].
  GeneratedLaunch sums(std::string_view term, const std::string& parameters, const std::string& center,
                       const LoadList& loads, const std::string& g) const;
  /// Adds the pieces of each channel to `first` and `second`; `settled` says what becomes of them.
  GeneratedLaunch settle(const std::string& parameters, const std::string& settled) const;

  /// A number of each channel: `name`[c] of a thread is read from the tensor [channels] at `from`.
  struct Number {
    std::string_view type, name;
    std::string from;
  };
  /// What the launch over the tensor computes.
  struct Pass {
    std::string parameters;
    llvm::SmallVector<Number, 5> numbers;
    std::string derived;     ///< further arrays, made of these once a thread
    LoadList loads;          ///< the packs that `value` reads
    std::string value;       ///< of element k, with the numbers at c
    std::string writes = {}; ///< further results, as parameters
    std::string stores = {}; ///< and how they are stored
  };
  GeneratedLaunch pass(const Pass& pass) const;

 private:
  /// The text behind the constants that it mentions.
  std::string code(const std::string& text,
                   std::initializer_list<std::pair<std::string_view, int64_t>> own) const;
  bool rows() const { return channels_.inner > 1; }
  int64_t along() const; ///< blocks side by side

  GpuShape gpu_;
  ElementType element_, vector_;
  Channels channels_;
  IndexText index_;
  int64_t width_ = 1, packs_ = 1, pieces_ = 1, pieceLength_ = 1;
};

} // namespace dfc::cuda
