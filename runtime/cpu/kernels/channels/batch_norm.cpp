#include "runtime/cpu/kernels/channels/batch_norm.h"

#include "runtime/cpu/kernels/channels/channel_pass.h"
#include "runtime/cpu/kernels/channels/channel_sums.h"

#include <cmath>

namespace dfc {
namespace {

using Numbers = ChannelSums::Numbers;

size_t channelCount(const TensorType& a, int64_t axis) {
  return static_cast<size_t>(Channels(a.shape, axis).channels);
}

// y = (a - mean - low) factor + bias. The mean is split in two: `mean` is rounded, and `low` is the rounding
// error, which matters where a channel's mean is large beside its standard deviation.
constexpr std::string_view normalising = "sub:@ %0 %1; sub:@ %5 %2; mul:@ %6 %3; add:@ %7 %4";

class Normaliser {
 public:
  Normaliser(const TensorType& a, int64_t axis, double epsilon, ThreadPool& pool)
      : pass_(normalising, 1, 4, a, axis, pool), wide_(a.element == ElementType::F64), epsilon_(epsilon) {}

  void run(const std::byte* a, std::byte* result, const Numbers& mean, const Numbers& variance,
           const Numbers& scale, const Numbers& bias) {
    low_.resize(mean.size());
    factor_.resize(mean.size());
    for (size_t c = 0; c < mean.size(); ++c) {
      low_[c] =
          wide_ || !std::isfinite(mean[c]) ? 0 : mean[c] - static_cast<double>(static_cast<float>(mean[c]));
      factor_[c] = scale[c] / std::sqrt(variance[c] + epsilon_);
    }
    pass_.set(0, mean);
    pass_.set(1, low_);
    pass_.set(2, factor_);
    pass_.set(3, bias);
    pass_.run(a, result);
  }

 private:
  ChannelPass pass_;
  bool wide_;
  double epsilon_;
  Numbers low_, factor_;
};

// Numbers for each channel that a kernel was given.
class GivenVectors {
 public:
  GivenVectors(ElementType type, size_t channels, size_t count)
      : type_(type), vectors_(count, Numbers(channels)) {}
  void read(llvm::ArrayRef<const std::byte*> from) {
    for (size_t i = 0; i < vectors_.size(); ++i) {
      readVector(type_, from[i], vectors_[i]);
    }
  }
  const Numbers& operator[](size_t index) const { return vectors_[index]; }

 private:
  ElementType type_;
  std::vector<Numbers> vectors_;
};

class BatchNormKernel final : public CpuKernel {
 public:
  BatchNormKernel(const ops::BatchNorm& op, const TensorType& a, ThreadPool& pool)
      : given_(a.element, channelCount(a, op.axis), 4), normaliser_(a, op.axis, op.epsilon, pool) {}
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    given_.read(operands.drop_front());
    normaliser_.run(operands[0], results[0], given_[2], given_[3], given_[0], given_[1]);
  }

 private:
  GivenVectors given_;
  Normaliser normaliser_;
};

class BatchNormTrainingKernel final : public CpuKernel {
 public:
  BatchNormTrainingKernel(const ops::BatchNormTraining& op, const TensorType& a, ThreadPool& pool)
      : type_(a.element), given_(a.element, channelCount(a, op.axis), 2), sums_(a, op.axis, pool),
        normaliser_(a, op.axis, op.epsilon, pool) {}
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    given_.read(operands.drop_front());
    sums_.means(operands[0], mean_);
    sums_.variances(operands[0], mean_, variance_);
    normaliser_.run(operands[0], results[0], mean_, variance_, given_[0], given_[1]);
    writeVector(type_, mean_, results[1]);
    writeVector(type_, variance_, results[2]);
  }

 private:
  ElementType type_;
  GivenVectors given_;
  ChannelSums sums_;
  Normaliser normaliser_;
  Numbers mean_, variance_;
};

// g ofG - (a - mean) ofA - rest, with d = (a - mean) r: ofG = scale r, ofA = ofG r sum(g d) / n, and
// rest = ofG sum(g) / n.
constexpr std::string_view differentiating =
    "sub:@ %0 %2; mul:@ %6 %3; mul:@ %1 %4; sub:@ %8 %7; sub:@ %9 %5";

class BatchNormGradientKernel final : public CpuKernel {
 public:
  BatchNormGradientKernel(const ops::BatchNormGradient& op, const TensorType& a, ThreadPool& pool)
      : type_(a.element), epsilon_(op.epsilon), given_(a.element, channelCount(a, op.axis), 3),
        sums_(a, op.axis, pool), pass_(differentiating, 2, 4, a, op.axis, pool) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    given_.read(operands.slice(1, 3));
    const Numbers &scale = given_[0], &mean = given_[1], &variance = given_[2];
    sums_.products(operands[0], operands[4], mean, ofBias_, ofScale_);
    ofA_.resize(mean.size());
    ofG_.resize(mean.size());
    rest_.resize(mean.size());
    const auto n = static_cast<double>(sums_.channels().elements());
    for (size_t c = 0; c < mean.size(); ++c) {
      const double root = 1 / std::sqrt(variance[c] + epsilon_);
      ofScale_[c] *= root;
      ofG_[c] = scale[c] * root;
      ofA_[c] = ofG_[c] * root * ofScale_[c] / n;
      rest_[c] = ofG_[c] * ofBias_[c] / n;
    }
    pass_.set(0, mean);
    pass_.set(1, ofA_);
    pass_.set(2, ofG_);
    pass_.set(3, rest_);
    pass_.run({operands[0], operands[4]}, results[0]);
    writeVector(type_, ofScale_, results[1]);
    writeVector(type_, ofBias_, results[2]);
  }

 private:
  ElementType type_;
  double epsilon_;
  GivenVectors given_;
  ChannelSums sums_;
  ChannelPass pass_;
  Numbers ofA_, ofG_, rest_, ofScale_, ofBias_;
};

} // namespace

std::unique_ptr<CpuKernel> makeBatchNormKernel(const ops::BatchNorm& op, OperandTypes operands,
                                               ThreadPool& pool) {
  return std::make_unique<BatchNormKernel>(op, operands[0], pool);
}

std::unique_ptr<CpuKernel> makeBatchNormTrainingKernel(const ops::BatchNormTraining& op,
                                                       OperandTypes operands, ThreadPool& pool) {
  return std::make_unique<BatchNormTrainingKernel>(op, operands[0], pool);
}

std::unique_ptr<CpuKernel> makeBatchNormGradientKernel(const ops::BatchNormGradient& op,
                                                       OperandTypes operands, ThreadPool& pool) {
  return std::make_unique<BatchNormGradientKernel>(op, operands[0], pool);
}

} // namespace dfc
