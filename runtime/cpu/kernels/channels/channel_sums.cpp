#include "runtime/cpu/kernels/channels/channel_sums.h"

#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr int64_t pieceElements = 4096; // widened at a time
constexpr int64_t wantedTasks = 64;     // enough tasks for this many threads
constexpr int partials = 8;             // interleaved partial sums, for SIMD

// What is summed: one or two numbers for an element.
struct SumTerm {
  static constexpr bool two = false;
  static double first(double x, double, double) { return x; }
  static double second(double, double, double) { return 0; }
};
struct SquareTerm {
  static constexpr bool two = false;
  static double first(double x, double, double mean) { return (x - mean) * (x - mean); }
  static double second(double, double, double) { return 0; }
};
struct SquaresTerm {
  static constexpr bool two = true;
  static double first(double x, double, double) { return x; }
  static double second(double x, double, double) { return x * x; }
};
struct ProductTerm {
  static constexpr bool two = true;
  static double first(double, double g, double) { return g; }
  static double second(double x, double g, double mean) { return g * (x - mean); }
};

// `count` elements from `at` on, as T: in place, or widened into `buffer`.
template <class T>
const T* valuesAt(ElementType type, const std::byte* from, int64_t at, int64_t count, T* buffer) {
  if (computeTypeOf(type) == type) {
    return reinterpret_cast<const T*>(from) + at;
  }
  const void* inputs[1] = {from + at * byteWidth(type)};
  widenTile(type)(inputs, buffer, static_cast<size_t>(count));
  return buffer;
}

template <class T, class Term>
void addRow(const T* x, const T* g, int64_t count, double mean, double& first, double& second) {
  double firsts[partials] = {}, seconds[partials] = {};
  int64_t i = 0;
  for (; i + partials <= count; i += partials) {
    for (int k = 0; k < partials; ++k) {
      firsts[k] += Term::first(x[i + k], g[i + k], mean);
      if constexpr (Term::two) {
        seconds[k] += Term::second(x[i + k], g[i + k], mean);
      }
    }
  }
  for (; i < count; ++i) {
    firsts[0] += Term::first(x[i], g[i], mean);
    seconds[0] += Term::second(x[i], g[i], mean);
  }
  for (int k = 0; k < partials; ++k) {
    first += firsts[k];
    second += seconds[k];
  }
}

int64_t chunksFor(const Channels& channels) {
  if (channels.inner > 1) { // a channel is a task already
    return std::clamp<int64_t>(wantedTasks / std::max<int64_t>(channels.channels, 1), 1,
                               std::max<int64_t>(channels.outer, 1));
  }
  const int64_t large = channels.outer * channels.channels / (16 * pieceElements);
  return std::clamp<int64_t>(std::min(large, wantedTasks), 1, std::max<int64_t>(channels.outer, 1));
}

} // namespace

ChannelSums::ChannelSums(const TensorType& type, int64_t axis, ThreadPool& pool)
    : pool_(pool), type_(type.element), channels_(type.shape, axis), chunks_(chunksFor(channels_)),
      tasks_(channels_.inner > 1 ? chunks_ * channels_.channels : chunks_),
      parts_(partCount(pool, tasks_, static_cast<double>(type.shape.elements()))),
      first_(static_cast<size_t>(chunks_ * channels_.channels)), second_(first_.size()) {}

void ChannelSums::means(const std::byte* a, Numbers& mean) {
  dispatch<SumTerm>(a, a, nullptr);
  collect(first_, mean);
  for (double& number : mean) {
    number /= static_cast<double>(channels_.elements());
  }
}

void ChannelSums::variances(const std::byte* a, const Numbers& mean, Numbers& variance) {
  dispatch<SquareTerm>(a, a, &mean);
  collect(first_, variance);
  for (double& number : variance) {
    number /= static_cast<double>(channels_.elements());
  }
}

void ChannelSums::squares(const std::byte* a, Numbers& sums, Numbers& ofSquares) {
  dispatch<SquaresTerm>(a, a, nullptr);
  collect(first_, sums);
  collect(second_, ofSquares);
}

void ChannelSums::products(const std::byte* a, const std::byte* g, const Numbers& mean, Numbers& ofG,
                           Numbers& ofProducts) {
  dispatch<ProductTerm>(a, g, &mean);
  collect(first_, ofG);
  collect(second_, ofProducts);
}

template <class Term>
void ChannelSums::dispatch(const std::byte* a, const std::byte* g, const Numbers* mean) {
  type_ == ElementType::F64 ? run<double, Term>(a, g, mean) : run<float, Term>(a, g, mean);
}

template <class T, class Term>
void ChannelSums::run(const std::byte* a, const std::byte* g, const Numbers* mean) {
  std::fill(first_.begin(), first_.end(), 0.0);
  std::fill(second_.begin(), second_.end(), 0.0);
  pool_.run(parts_, [&](uint32_t part) {
    const TaskRange tasks = tasksOfPart(tasks_, parts_, part);
    for (int64_t task = tasks.begin; task < tasks.end; ++task) {
      channels_.inner > 1 ? sumRows<T, Term>(a, g, mean, task) : sumColumns<T, Term>(a, g, mean, task);
    }
  });
}

// A channel's rows of one chunk.
template <class T, class Term>
void ChannelSums::sumRows(const std::byte* a, const std::byte* g, const Numbers* mean, int64_t task) {
  auto* buffer = reinterpret_cast<T*>(threadScratch(2 * pieceElements * sizeof(T)));
  const int64_t chunk = task / channels_.channels, channel = task % channels_.channels;
  const double center = mean == nullptr ? 0 : (*mean)[static_cast<size_t>(channel)];
  const TaskRange outer =
      tasksOfPart(channels_.outer, static_cast<uint32_t>(chunks_), static_cast<uint32_t>(chunk));
  double first = 0, second = 0;
  for (int64_t row = outer.begin; row < outer.end; ++row) {
    const int64_t base = (row * channels_.channels + channel) * channels_.inner;
    for (int64_t at = 0; at < channels_.inner; at += pieceElements) {
      const int64_t count = std::min(pieceElements, channels_.inner - at);
      const T* x = valuesAt<T>(type_, a, base + at, count, buffer);
      const T* y = g == a ? x : valuesAt<T>(type_, g, base + at, count, buffer + pieceElements);
      addRow<T, Term>(x, y, count, center, first, second);
    }
  }
  first_[static_cast<size_t>(task)] = first;
  second_[static_cast<size_t>(task)] = second;
}

// Channels along the innermost axis: the rows of a chunk, added element by element.
template <class T, class Term>
void ChannelSums::sumColumns(const std::byte* a, const std::byte* g, const Numbers* mean, int64_t chunk) {
  auto* buffer = reinterpret_cast<T*>(threadScratch(2 * pieceElements * sizeof(T)));
  const TaskRange outer =
      tasksOfPart(channels_.outer, static_cast<uint32_t>(chunks_), static_cast<uint32_t>(chunk));
  for (int64_t row = outer.begin; row < outer.end; ++row) {
    for (int64_t at = 0; at < channels_.channels; at += pieceElements) {
      const int64_t count = std::min(pieceElements, channels_.channels - at);
      const int64_t base = row * channels_.channels + at;
      const T* x = valuesAt<T>(type_, a, base, count, buffer);
      const T* y = g == a ? x : valuesAt<T>(type_, g, base, count, buffer + pieceElements);
      double* firsts = first_.data() + chunk * channels_.channels + at;
      double* seconds = second_.data() + chunk * channels_.channels + at;
      const double* centers = mean == nullptr ? nullptr : mean->data() + at;
      for (int64_t i = 0; i < count; ++i) {
        const double center = centers == nullptr ? 0 : centers[i];
        firsts[i] += Term::first(x[i], y[i], center);
        if constexpr (Term::two) {
          seconds[i] += Term::second(x[i], y[i], center);
        }
      }
    }
  }
}

void ChannelSums::collect(const Numbers& pieces, Numbers& sums) const {
  sums.assign(static_cast<size_t>(channels_.channels), 0.0);
  for (size_t i = 0; i < pieces.size(); ++i) {
    sums[i % sums.size()] += pieces[i];
  }
}

} // namespace dfc
