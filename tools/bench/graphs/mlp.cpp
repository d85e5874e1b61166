#include "tools/bench/graphs/mlp.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>

namespace dfc::bench {
namespace {

constexpr size_t layers = 3;

class MlpWriter {
 public:
  explicit MlpWriter(const MlpSpec& spec)
      : spec_(spec), g_("net"), widths_{spec.inputs, spec.first, spec.second, 1} {}

  Result<Graph> write() {
    const size_t sets = spec_.owner.empty() ? spec_.workers.size() : 1;
    for (size_t set = 0; set < sets; ++set) {
      const auto here = g_.on(spec_.owner.empty() ? spec_.workers[set] : spec_.owner);
      weights_.push_back(weights(sets == 1 ? "" : "@" + spec_.workers[set]));
    }
    for (size_t worker = 0; worker < spec_.workers.size(); ++worker) {
      const auto here = g_.on(spec_.workers[worker]);
      gradients_.push_back(gradientsOf(worker, weights_[std::min(worker, sets - 1)]));
    }
    for (size_t set = 0; set < sets; ++set) {
      const auto here = g_.on(spec_.owner.empty() ? spec_.workers[set] : spec_.owner);
      updateAll(set);
    }
    return std::move(g_).finish();
  }

 private:
  using Weights = std::vector<Tensor>; // w1 b1 w2 b2 w3 b3

  Weights weights(const std::string& suffix) {
    Weights all;
    for (size_t i = 0; i < layers; ++i) {
      const auto number = static_cast<int64_t>(i) + 1;
      const double deviation = 1 / std::sqrt(static_cast<double>(widths_[i]));
      all.push_back(g_.parameter(fmt::format("w{}{}", number, suffix),
                                 {spec_.element, {widths_[i], widths_[i + 1]}},
                                 normal(0, deviation, number)));
      all.push_back(g_.parameter(fmt::format("b{}{}", number, suffix), {spec_.element, {widths_[i + 1]}},
                                 normal(0, deviation, number + 10)));
    }
    return all;
  }

  Tensor dense(size_t layer, Tensor h, const Weights& weights) {
    const auto scope = scoped(fmt::format("fc{} forward", layer + 1));
    const Tensor sum = matmul(h, weights[2 * layer]) + weights[2 * layer + 1];
    return layer + 1 < layers ? relu(sum) : sum;
  }

  std::vector<Tensor> gradientsOf(size_t worker, const Weights& weights) {
    const int64_t part = spec_.batch / static_cast<int64_t>(spec_.workers.size());
    const auto seed = static_cast<int64_t>(100 + worker);
    const TensorType ofX{spec_.element, {part, spec_.inputs}}, ofY{spec_.element, {part, 1}};
    Tensor h = g_.parameter(fmt::format("x{}", worker), ofX, normal(0, 1, seed));
    const Tensor y = g_.parameter(fmt::format("y{}", worker), ofY, normal(0, 1, seed + 50));
    for (size_t layer = 0; layer < layers; ++layer) {
      h = dense(layer, h, weights);
    }
    const auto scope = scoped("loss");
    const Tensor miss = h - y;
    const Tensor mean = reduceMean(miss * miss);
    // The mean over the batch is the mean of the means of its equal parts.
    const size_t parts = spec_.workers.size();
    return gradients(parts == 1 ? mean : mean * (1.0 / static_cast<double>(parts)), weights);
  }

  /// The last layer first: its gradients are ready first.
  void updateAll(size_t set) {
    const Weights& weights = weights_[set];
    for (size_t layer = layers; layer-- > 0;) {
      const auto scope = scoped(fmt::format("fc{} sum and update", layer + 1));
      sgd({weights[2 * layer], weights[2 * layer + 1]}, {sumOf(2 * layer, set), sumOf(2 * layer + 1, set)},
          spec_.rate);
    }
  }

  // A scope is a fusion boundary, so only graphs with an owner apart from the workers have them.
  std::unique_ptr<Builder::Guard> scoped(const std::string& name) {
    return ownerOnlyUpdates() ? std::unique_ptr<Builder::Guard>(new Builder::Guard(g_.scope(name))) : nullptr;
  }

  bool ownerOnlyUpdates() const {
    return !spec_.owner.empty() &&
           std::find(spec_.workers.begin(), spec_.workers.end(), spec_.owner) == spec_.workers.end();
  }

  Tensor sumOf(size_t parameter, size_t set) {
    if (spec_.owner.empty() && spec_.reduction != AllReduce::Exchange) {
      return reducedOf(parameter)[set];
    }
    Tensor sum = gradients_[0][parameter];
    for (size_t worker = 1; worker < gradients_.size(); ++worker) {
      sum = sum + gradients_[worker][parameter];
    }
    return sum;
  }

  /// The reduced gradients of a parameter, one a worker.
  const std::vector<Tensor>& reducedOf(size_t parameter) {
    const auto [row, isNew] = reduced_.try_emplace(parameter);
    if (isNew) {
      std::vector<Tensor> ofWorkers;
      ofWorkers.reserve(gradients_.size());
      for (const std::vector<Tensor>& gradients : gradients_) {
        ofWorkers.push_back(gradients[parameter]);
      }
      row->second = allReduce(ofWorkers, spec_.workers, {spec_.reduction});
    }
    return row->second;
  }

  const MlpSpec& spec_;
  Builder g_;
  std::array<int64_t, layers + 1> widths_;
  std::vector<Weights> weights_;
  std::vector<std::vector<Tensor>> gradients_;
  std::map<size_t, std::vector<Tensor>> reduced_; ///< by parameter
};

} // namespace

Result<Graph> trainingStep(const MlpSpec& spec) { return MlpWriter(spec).write(); }

double productFlops(const MlpSpec& spec) {
  const auto weights = [](int64_t a, int64_t b) { return static_cast<double>(a) * static_cast<double>(b); };
  const double first = weights(spec.inputs, spec.first);
  const double later = weights(spec.first, spec.second) + weights(spec.second, 1);
  return 2 * static_cast<double>(spec.batch) * (2 * first + 3 * later);
}

} // namespace dfc::bench
